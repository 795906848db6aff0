"""The folder a run keeps beside its model while it is under way, so that the same command can take it up again."""

import os
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from reinflect.errors import OutputError
from reinflect.files import atomic_path, cannot_write, sweep, write_text, writing
from reinflect.locks import TakenError, take, take_in

CHECKPOINT, RESULT, LOG, BUSY, HALVES, LOCK = ".checkpoint", ".result", ".jsonl", ".busy", ".halves", "lock"
KINDS = (CHECKPOINT, RESULT, LOG, BUSY, HALVES)
"""What there can be of a pack."""
SECONDS_TO_END = 60.0
"""What a process is given to end whose run was killed; it takes it a moment to notice."""


def half_names(pack: str) -> tuple[str, str]:
    """What a pack is called that is trained as two."""
    return f"{pack}a", f"{pack}b"


class State:
    """`MODEL.state/`: a checkpoint and a log for every pack, and the lock that keeps other runs out."""

    def __init__(self, model: Path) -> None:
        self.model = model
        self.folder = model.with_name(f"{model.name}.state")
        self.whole_log = model.with_name(f"{model.name}.log.jsonl")

    def checkpoint(self, pack: str) -> Path:
        return self.folder / f"{pack}{CHECKPOINT}"

    def result(self, pack: str) -> Path:
        """Of a pack that is trained, for those who need no more of it than what its models say."""
        return self.folder / f"{pack}{RESULT}"

    def log(self, pack: str) -> Path:
        return self.folder / f"{pack}{LOG}"

    @contextmanager
    def held(self) -> Iterator[None]:
        """Make the folder, and keep it to this process."""
        with _locked(self.folder, self.model):
            self._sweep()
            try:
                yield
            finally:
                if not any(any(self.folder.glob(f"*{kind}")) for kind in (CHECKPOINT, RESULT)):
                    self.remove()  # there is nothing to take up

    @contextmanager
    def taken(self, pack: str, patience: float = SECONDS_TO_END) -> Iterator[None]:
        """Keep a pack's files to this process, once no process of a killed run writes to them any more."""
        end = time.monotonic() + patience
        while True:
            try:
                with writing(self.folder):
                    lock = take(self.folder / f"{pack}{BUSY}")
            except TakenError as taken:
                if time.monotonic() > end:
                    raise OutputError(
                        self.model,
                        f"{taken}, of an earlier run, is still training {pack}",
                        "end it, then try again",
                    ) from None
            else:
                break
            time.sleep(0.02)
        try:
            yield
        finally:
            os.close(lock)

    def halve(self, pack: str, fingerprint: str) -> None:
        """Note that a pack is trained as two from now on, and forget how far it was."""
        for path in (self.checkpoint(pack), self.log(pack)):
            path.unlink(missing_ok=True)
        write_text(self._halves(pack), fingerprint)

    def halves_of(self, pack: str) -> str | None:
        """The fingerprint of the pack of that name that was made into two, if one was."""
        try:
            return self._halves(pack).read_text(encoding="utf-8")
        except FileNotFoundError:
            return None

    def _halves(self, pack: str) -> Path:
        return self.folder / f"{pack}{HALVES}"

    def _sweep(self) -> None:
        """Remove what a run, or a process of this one, was writing when it was killed."""
        sweep(self.folder)
        for written in (self.model, self.whole_log):
            sweep(written.parent, written.name)

    def join_logs(self, packs: Sequence[str]) -> None:
        """Put the packs' logs together, in their order whatever the order of their lines in time."""
        with atomic_path(self.whole_log) as part, part.open("wb") as whole:
            for pack in packs:
                for log in self._logs(pack):
                    whole.write(log.read_bytes())

    def _logs(self, pack: str) -> list[Path]:
        """A pack's own, or those of its halves."""
        if self.log(pack).exists():
            return [self.log(pack)]
        return [] if self.halves_of(pack) is None else [log for half in half_names(pack) for log in self._logs(half)]

    def forget(self, pack: str) -> None:
        """Remove what there is of a pack that needs nothing any more, and of its halves."""
        if self.halves_of(pack) is not None:
            for half in half_names(pack):
                self.forget(half)
        for kind in KINDS:
            (self.folder / f"{pack}{kind}").unlink(missing_ok=True)

    def remove(self) -> None:
        """Remove what runs made here; whatever else someone put into the folder stays, and the folder with it."""
        self._sweep()
        for kind in KINDS:
            for path in self.folder.glob(f"*{kind}"):
                path.unlink(missing_ok=True)
        with suppress(OSError):
            (self.folder / LOCK).unlink(missing_ok=True)
            self.folder.rmdir()


@contextmanager
def _locked(folder: Path, model: Path) -> Iterator[None]:
    try:
        lock = take_in(folder, LOCK)
    except TakenError as taken:
        raise OutputError(
            model, f"another run ({taken}) is at work on this", "wait for it, or choose another --out"
        ) from None
    except FileExistsError:
        raise OutputError(
            folder, "this is needed for the state of the run, and is no folder", "remove it, or choose another --out"
        ) from None
    except OSError as error:
        raise cannot_write(folder, error) from None
    try:
        yield
    finally:
        os.close(lock)
