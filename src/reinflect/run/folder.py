"""The work folder: files of an unfinished training, from which the same command resumes it."""

import hashlib
import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path

from reinflect.ensemble.member import TrainedModel
from reinflect.errors import OutputError
from reinflect.files import atomic_path, cannot_write, make_folder, read_bytes, sweep, write_bytes, writing
from reinflect.learn.checkpoint import SECONDS_BETWEEN, Checkpoint, fingerprint_of
from reinflect.learn.lesson import ModelSpec
from reinflect.locks import TakenError, take, take_in
from reinflect.run.packs import DECIMALS, ENDING, Pack, PackResult, write_result
from reinflect.tensors import Array, decode, encode

CHECKPOINT, LOG, BUSY, HALVES, LOCK, PARAMETERS = ".checkpoint", ".jsonl", ".busy", ".halves", "lock", ".safetensors"
RUN = ".run"
SECONDS_TO_END = 60.0
"""How long to wait for a worker whose command was killed."""
KINDS = ("parameters", "logs", "packs")
"""The folders of a finished pack's files, in the order of writing: the last one makes it finished."""


def take_folder(folder: Path, name: str, shown: Path, *, parents: bool = False) -> int:
    """`locks.take_in`, with errors about what the user named."""
    try:
        return take_in(folder, name, parents=parents)
    except TakenError as taken:
        found = f"another command ({taken}) is working on this"
        raise OutputError(shown, found, "wait for it, or choose another --out") from None
    except (FileExistsError, NotADirectoryError):
        found = "needed as a folder, but not a folder"
        raise OutputError(folder, found, "remove it, or choose another --out") from None
    except OSError as error:
        raise cannot_write(folder, error) from None


@dataclass(frozen=True)
class WorkFolder:
    """Checkpoints of unfinished packs; packs, logs and parameters of finished ones."""

    state: Path
    shown: Path
    """What the user named, for messages."""
    packs: Path
    logs: Path
    parameters: Path | None
    """None if parameters are not kept."""
    decimals: int | None = None
    """Of log-probabilities in packs; None if they are not rounded."""

    @classmethod
    def beside(cls, out: Path) -> "WorkFolder":
        """`OUT.state`, which is removed once OUT is written; through a link to OUT it is the same."""
        real = out.resolve()
        folder = real.with_name(f"{real.name}.state")
        return cls(folder, out, folder, folder, folder)

    @classmethod
    def inside(cls, out: Path, *, save_models: bool = False) -> "WorkFolder":
        """Folders in OUT that stay there; `OUT/training.state` has the unfinished packs."""
        parameters = out / "parameters" if save_models else None
        return cls(out / "training.state", out, out / "packs", out / "logs", parameters, DECIMALS)

    def checkpoint(self, pack: Pack, seconds_between: float = SECONDS_BETWEEN) -> Checkpoint:
        return Checkpoint(self._file(pack, CHECKPOINT), pack.fingerprint, seconds_between)

    def log(self, pack: Pack) -> Path:
        """The log of an unfinished pack."""
        return self._file(pack, LOG)

    def _file(self, pack: Pack, ending: str) -> Path:
        return self.state / f"{pack.stem}{ending}"

    @property
    def whole_log(self) -> Path:
        return self.shown.with_name(f"{self.shown.name}.log{LOG}")

    @contextmanager
    def held(self) -> Iterator[None]:
        """Make the folder, lock it for this process, and remove what a killed process was writing."""
        lock = take_folder(self.state, LOCK, self.shown, parents=self.state.parent == self.shown)
        try:
            for folder in {self.state, self.packs, self.logs, self.parameters or self.state}:
                sweep(make_folder(folder))
            for path in (self.shown.resolve(), self.whole_log.resolve()):
                sweep(path.parent, path.name)
            for path in self.packs.glob(f"*{ENDING}"):  # a kill may have left the checkpoint of a finished pack
                for ending in (CHECKPOINT, LOG):
                    (self.state / f"{path.name.removesuffix(ENDING)}{ending}").unlink(missing_ok=True)
            yield
        finally:
            with suppress(OSError):
                if not any(any(self.state.glob(f"*{ending}")) for ending in (CHECKPOINT, ENDING)):
                    self.remove()  # there is nothing to resume from
                    (self.state / LOCK).unlink(missing_ok=True)
                    self.state.rmdir()
            os.close(lock)

    def begin(self, specs: Sequence[ModelSpec], *, alone: bool) -> bool:
        """Record that these models are trained here; with `alone`, not if the folder has only trainings of others.

        A folder without any record is that of a command that was killed while it removed the folder.
        """
        own = self.state / f"{hashlib.sha256(''.join(spec.digest for spec in specs).encode()).hexdigest()[:16]}{RUN}"
        if alone and not own.exists() and any(self.state.glob(f"*{RUN}")):
            return False
        with writing(self.state):
            own.touch()
        return True

    @contextmanager
    def taken(self, pack: Pack, patience: float = SECONDS_TO_END) -> Iterator[None]:
        """Lock a pack's files for this process, once no worker of a killed command writes to them any more."""
        end = time.monotonic() + patience
        while True:
            try:
                with writing(self.state):
                    lock = take(self._file(pack, BUSY))
                break
            except TakenError as taken:
                if time.monotonic() > end:
                    found = f"{taken}, of an earlier command, is still training {pack.name}"
                    raise OutputError(self.shown, found, "end it, then try again") from None
            time.sleep(0.02)
        try:
            yield
        finally:
            os.close(lock)

    def halve(self, pack: Pack) -> None:
        """Record that a pack is trained as two from now on, and remove its checkpoint."""
        self._remove(pack, CHECKPOINT, LOG)
        with writing(self.state):
            self._file(pack, HALVES).touch()

    def pieces(self, pack: Pack) -> list[Pack]:
        """What this command, or an earlier one that it resumes, divided a pack into."""
        if not self._file(pack, HALVES).exists():
            return [pack]
        return [piece for half in pack.halves() for piece in self.pieces(half)]

    def keep(self, pack: Pack, result: PackResult) -> PackResult:
        """Write the files of a finished pack, and remove its checkpoint; returns the result without parameters."""
        if self.parameters is not None:
            for model in result.models:
                write_bytes(self.parameters_file(model), encode(model.parameters))
        with atomic_path(self._finished_log(pack.stem)) as part:
            part.write_bytes(self.log(pack).read_bytes())
        write_result(self.packs / f"{pack.stem}{ENDING}", result, self.decimals)
        self._remove(pack, CHECKPOINT, LOG)
        return replace(result, models=[replace(model, parameters={}) for model in result.models])

    def write_files(self, pack: Pack, files: Mapping[str, Mapping[str, bytes]]) -> None:
        """Write the files of a pack that a worker of a cluster trained."""
        for kind in KINDS:
            for name, content in files[kind].items():
                plain = Path(name)
                path = self._finished_log(plain.stem) if kind == "logs" else getattr(self, kind) / plain.name
                write_bytes(path, content)
        self._remove(pack, CHECKPOINT, LOG)

    def parameters_file(self, model: TrainedModel) -> Path:
        assert self.parameters is not None
        label = "-".join(filter(None, (model.language, model.setting, model.name)))
        return self.parameters / f"{label}.{model.key}{PARAMETERS}"

    def with_parameters(self, model: TrainedModel) -> TrainedModel:
        """A model with its parameters, if need be read from its file."""
        return model if model.parameters else replace(model, parameters=self._parameters(model))

    def _parameters(self, model: TrainedModel) -> dict[str, Array]:
        return decode(read_bytes(self.parameters_file(model)))[0]

    def _finished_log(self, stem: str) -> Path:
        """Where both logs are in one folder they need two names: a killed command resumes the unfinished one."""
        return self.logs / f"{stem}{'.log' if self.logs == self.state else ''}{LOG}"

    def join_logs(self, keys: Sequence[str], results: Sequence[PackResult], packs: Sequence[Pack]) -> None:
        """Join the logs of finished and unfinished packs, in the order of these keys of models."""
        logs = {piece.specs[0].digest: self.log(piece) for pack in packs for piece in self.pieces(pack)}
        logs |= {result.models[0].key: self._finished_log(result.stem) for result in results}
        with atomic_path(self.whole_log) as part, part.open("wb") as whole:
            for log in (logs[key] for key in keys if key in logs):
                whole.write(log.read_bytes() if log.exists() else b"")

    def found(self, packs: Sequence[Pack], note: Callable[[str], None]) -> tuple[int, int]:
        """The number of these packs that an earlier command began, and of checkpoints of other packs."""
        found = {path: fingerprint_of(path) for path in sorted(self.state.glob(f"*{CHECKPOINT}"))}
        for path in (path for path, fingerprint in found.items() if fingerprint is None):
            note(f"note: ignored {path} (damaged, or of another version); its models are trained from the beginning")
        begun = sum(found.get(self._file(pack, CHECKPOINT)) == pack.fingerprint for pack in packs)
        return begun, sum(fingerprint is not None for fingerprint in found.values()) - begun

    def forget(self, pack: Pack) -> None:
        """Remove the unfinished files of a pack, and of its halves."""
        if self._file(pack, HALVES).exists():
            for half in pack.halves():
                self.forget(half)
        self._remove(pack, HALVES, CHECKPOINT, LOG, BUSY)

    def _remove(self, pack: Pack, *endings: str) -> None:
        for ending in endings:
            self._file(pack, ending).unlink(missing_ok=True)

    def remove(self) -> None:
        """Remove all our files in the folder; other files stay, and the folder with them."""
        sweep(self.state)
        # What needs the others is removed first.
        for ending in (ENDING, CHECKPOINT, LOG, BUSY, HALVES, PARAMETERS, RUN):
            for path in self.state.glob(f"*{ending}"):
                path.unlink(missing_ok=True)
