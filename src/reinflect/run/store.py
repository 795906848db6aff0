"""The store: one folder for finished packs, their logs and numbers, and checkpoints of unfinished packs."""

import hashlib
import os
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path

from reinflect.data.sheet_file import Note
from reinflect.decode.search import Predictions
from reinflect.ensemble.strategies import Member, Trained
from reinflect.errors import OutputError, writing
from reinflect.files import TakenError, atomic_path, held, make_folder, read_bytes, sweep, take, write_bytes
from reinflect.learn.lesson import ModelSpec
from reinflect.learn.loop import Checkpoint, fingerprint_of
from reinflect.run.packs import ENDING, Pack, PackResult, by_key, read_results, write_result
from reinflect.tensors import decode, encode

CHECKPOINT, LOG, BUSY, HALVES, NUMBERS, RUN = ".checkpoint", ".jsonl", ".busy", ".halves", ".safetensors", ".run"
DECIMALS = 4
"""Of log-probabilities in files that are kept."""
SECONDS_TO_END = 60.0
"""How long to wait for a worker process whose command was killed."""


@dataclass(frozen=True)
class Store:
    """Finished packs, and the checkpoints of unfinished ones."""

    state: Path
    """The folder of checkpoints."""
    out: Path
    """What the user named."""
    packs: Path
    logs: Path
    kept_numbers: Path | None
    """The folder of the parameters of finished models; None if they are not kept."""
    results: list[PackResult] = field(default_factory=list, repr=False, compare=False)
    """All finished packs of the folder, once it was read, and those that were stopped by this command."""

    @classmethod
    def beside(cls, out: Path) -> "Store":
        """`OUT.state`, which is removed once OUT is written; through a link to OUT it is the same."""
        folder = out.resolve().with_name(f"{out.resolve().name}.state")
        return cls(folder, out, folder, folder, folder)

    @classmethod
    def inside(cls, out: Path, *, numbers: bool = False) -> "Store":
        """Folders in OUT that stay there; `OUT/training.state` has the unfinished packs."""
        return cls(out / "training.state", out, out / "packs", out / "logs", out / "parameters" if numbers else None)

    @property
    def finished(self) -> list[PackResult]:
        """The finished packs, sorted by the names of their files."""
        return sorted((result for result in self.results if result.finished), key=lambda result: result.stem)

    @property
    def beside_out(self) -> bool:
        return self.state == self.packs

    @contextmanager
    def held(self) -> Iterator["Store"]:
        """Make the folder, lock it for this process, and remove what killed processes were writing."""
        with held(self.state if self.beside_out else self.out, self.out, lasting=not self.beside_out):
            try:
                for folder in (self.state, self.packs, self.logs, self.kept_numbers or self.state):
                    if folder.exists() and not folder.is_dir():
                        raise OutputError(folder, "this is a file, not a folder", "remove it, or choose another --out")
                if self.beside_out:
                    for path in (self.out.resolve(), self.whole_log.resolve()):
                        sweep(path.parent, path.name)
                else:
                    for folder in (path for path in self.out.rglob("*") if path.is_dir()):
                        sweep(folder)
                for path in self.packs.glob(f"*{ENDING}"):  # a kill may have left the checkpoint of a finished pack
                    self._remove(path.name.removesuffix(ENDING), CHECKPOINT, LOG)
                yield self
            finally:
                with suppress(OSError):
                    if not any(any(self.state.glob(f"*{ending}")) for ending in (CHECKPOINT, ENDING)):
                        self.remove()  # there is nothing to resume from
                        self.state.rmdir()

    def read(self, note: Note = lambda _: None) -> None:
        """Read all finished packs of the folder."""
        self.results[:] = read_results(self.packs, note)

    def get(self, specs: Iterable[ModelSpec]) -> dict[str, Trained]:
        """The trained models of these specs, by digest, with what their digests leave open.

        Where training was stopped, these are the best so far.
        """
        models = by_key(self.results)
        keys = {spec.digest: spec.kind.label for spec in specs}
        return {key: replace(models[key], variant=label) for key, label in keys.items() if key in models}

    def member(self, spec: ModelSpec, trained: Trained) -> Member:
        """A trained model with its parameters."""
        stopped = [result.numbers for result in self.results if trained.key in result.numbers]
        numbers = stopped[0][trained.key] if stopped else decode(read_bytes(self.numbers_file(trained)))[0]
        return Member(settings=spec.settings, inventory=spec.lesson.inventory, parameters=numbers, **trained.facts)

    def numbers_file(self, model: Trained) -> Path:
        assert self.kept_numbers is not None
        label = "-".join(filter(None, (model.language, model.setting, model.name)))
        return self.kept_numbers / f"{label}.{model.key}{NUMBERS}"

    def put(self, pack: Pack, result: PackResult) -> None:
        """Write the files of a finished pack and remove its checkpoint; keep a stopped one in memory."""
        if result.finished:
            models = result.models if self.beside_out else list(map(_rounded, result.models))
            kept = replace(result, models=models, seconds=round(result.seconds, 3), numbers={}, log=b"")
            for folder in {self.packs, self.logs, self.kept_numbers or self.packs}:
                make_folder(folder)
            if self.kept_numbers is not None:
                for model in models:
                    write_bytes(self.numbers_file(model), encode(result.numbers[model.key]))
            write_bytes(self._finished_log(pack.stem), result.log)
            write_result(self.packs / f"{pack.stem}{ENDING}", kept)
            self._remove(pack.stem, CHECKPOINT, LOG, BUSY)
            result = kept
        self.results.append(result)

    def log(self, pack: Pack) -> Path:
        """The log of an unfinished pack."""
        return self._file(pack, LOG)

    def _file(self, pack: Pack, ending: str) -> Path:
        return self.state / f"{pack.stem}{ending}"

    def _finished_log(self, stem: str) -> Path:
        """Where both logs are in one folder they need two names: a killed command resumes the unfinished one."""
        return self.logs / f"{stem}{'.log' if self.beside_out else ''}{LOG}"

    @property
    def whole_log(self) -> Path:
        return self.out.with_name(f"{self.out.name}.log{LOG}")

    def join_logs(self, specs: Sequence[ModelSpec], packs: Sequence[Pack]) -> None:
        """Join the logs of finished and of these unfinished packs, in the order of the specs."""
        logs = {pack.specs[0].digest: self.log(pack) for pack in packs}
        logs |= {result.models[0].key: self._finished_log(result.stem) for result in self.finished}
        with atomic_path(self.whole_log) as part, part.open("wb") as whole:
            for log in (logs[spec.digest] for spec in specs if spec.digest in logs):
                whole.write(log.read_bytes() if log.exists() else b"")

    def checkpoint(self, pack: Pack, seconds_between: float) -> Checkpoint:
        make_folder(self.state)
        return Checkpoint(self._file(pack, CHECKPOINT), pack.fingerprint, seconds_between)

    def halve(self, pack: Pack) -> list[Pack]:
        """Record that a pack is trained as two from now on, and remove its checkpoint."""
        self._remove(pack.stem, CHECKPOINT, LOG)
        with writing(make_folder(self.state)):
            self._file(pack, HALVES).touch()
        return pack.halves()

    def pieces(self, pack: Pack) -> list[Pack]:
        """What this command, or an earlier one that it resumes, divided a pack into."""
        if not self._file(pack, HALVES).exists():
            return [pack]
        return [piece for half in pack.halves() for piece in self.pieces(half)]

    def begin(self, specs: Sequence[ModelSpec], *, alone: bool) -> bool:
        """Record that these models are trained here; with `alone`, not if the folder has only trainings of others.

        A folder without any record is that of a command that was killed while it removed the folder.
        """
        digest = hashlib.sha256("".join(spec.digest for spec in specs).encode()).hexdigest()[:16]
        record = self.state / f"{digest}{RUN}"
        if alone and not record.exists() and any(self.state.glob(f"*{RUN}")):
            return False
        with writing(self.state):
            record.touch()
        return True

    @contextmanager
    def taken(self, pack: Pack, patience: float = SECONDS_TO_END) -> Iterator[None]:
        """Lock a pack's files for this process, once no worker of a killed command writes to them any more."""
        end, lock = time.monotonic() + patience, None
        while lock is None:
            try:
                with writing(make_folder(self.state)):
                    lock = take(self._file(pack, BUSY))
            except TakenError as taken:
                if time.monotonic() > end:
                    finding = f"{taken}, of an earlier command, is still training {pack.name}"
                    raise OutputError(self.out, finding, "end it, then try again") from None
                time.sleep(0.02)
        try:
            yield
        finally:
            os.close(lock)

    def note_earlier(self, specs: Sequence[ModelSpec], packs: Sequence[Pack], note: Note) -> None:
        """Note what an earlier command left in the folder, if these packs remain to be trained."""
        prints = {path: fingerprint_of(path) for path in sorted(self.state.glob(f"*{CHECKPOINT}"))}
        for path in (path for path, fingerprint in prints.items() if fingerprint is None):
            note(f"note: ignored {path} (damaged, or of another version); its models are trained from the beginning")
        if not self.beside_out:  # a benchmark's packs stay there
            return
        begun = sum(prints.get(self._file(pack, CHECKPOINT)) == pack.fingerprint for pack in packs)
        keys = {spec.digest for spec in specs}
        finished = sum(not keys.isdisjoint(model.key for model in result.models) for result in self.results)
        if begun or finished:
            note(
                f"note: resuming an earlier training ({finished} of {finished + len(packs)} packs of models are "
                f"trained, {begun} begun); to start anew, remove {self.state} first"
            )
        if finished < len(self.results) or begun < sum(map(bool, prints.values())):
            note(f"note: {self.state} also has work with other data or settings, which this command does not use")

    def remove(self) -> None:
        """Remove all our files in the folder; other files stay, and the folder with them."""
        sweep(self.state)
        # What needs the others is removed first.
        for ending in (ENDING, CHECKPOINT, LOG, BUSY, HALVES, NUMBERS, RUN):
            for path in self.state.glob(f"*{ending}"):
                path.unlink(missing_ok=True)

    def _remove(self, stem: str, *endings: str) -> None:
        for ending in endings:
            (self.state / f"{stem}{ending}").unlink(missing_ok=True)


def _rounded(model: Trained) -> Trained:
    """A model with the decimals of files that are kept."""
    dev, asked = (
        Predictions(forms, [round(score, DECIMALS) for score in scores]) for forms, scores in (model.dev, model.asked)
    )
    return replace(model, dev=dev, asked=asked, dev_accuracy=round(model.dev_accuracy, DECIMALS))
