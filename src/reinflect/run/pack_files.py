"""The file that a trained pack leaves, from which tables are made.

It is JSON, compressed as xz, whose checksum detects damage. Models are named by the digests of their specs, so that
files from several machines can be put into one folder, whatever packs they were trained in.
"""

import lzma
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path

import msgspec

from reinflect import __version__
from reinflect.data.sheet_file import Note
from reinflect.decode.search import Predictions
from reinflect.ensemble.member import Numbers, Trained
from reinflect.errors import raise_if_too_many_files
from reinflect.files import write_bytes
from reinflect.run.packs import stem_of

FORMAT = 3
READABLE = {2, FORMAT}
"""Files of format 2 also have the settings of each model."""
ENDING = ".pack.xz"
IN_THE_FILE = "format", "version", "pack", "device", "seconds", "models"
PRESET = 1
"""Of xz: a low one, because models wait to be trained while packs are written."""
DECIMALS = 4
"""Of log-probabilities in files that are kept."""
LARGEST = 1 << 30
"""Bytes of the largest pack; one of 1,000 models with 2,000 predictions each has a twentieth of it."""
UNPACKING_BYTES = 1 << 28
"""Memory that xz may use to unpack a file, whatever the file claims."""
UNREADABLE = OSError, EOFError, lzma.LZMAError, ValueError, RecursionError, LookupError, TypeError, AttributeError
"""The errors that a damaged file raises."""


@dataclass(frozen=True)
class PackResult:
    """The models of a pack, and what it took to train them."""

    pack: str
    models: list[Trained]
    finished: bool = True
    device: str = "cpu"
    """`cpu`, or the name of a GPU."""
    seconds: float = 0.0
    """Includes decoding, and earlier commands that were interrupted."""
    version: str = __version__
    format: int = field(default=FORMAT, compare=False)
    numbers: dict[str, Numbers] = field(default_factory=dict, repr=False, compare=False)
    """The parameters of each model, by its key; not in the file."""
    log: bytes = field(default=b"", repr=False, compare=False)
    """Not in the file."""

    @property
    def stem(self) -> str:
        return stem_of(self.pack, [model.key for model in self.models])


def write_result(path: Path, result: PackResult) -> None:
    plain = {name: getattr(result, name) for name in IN_THE_FILE}
    write_bytes(path, lzma.compress(msgspec.json.encode(plain), preset=PRESET))


def rounded(model: Trained) -> Trained:
    """A model with the decimals of files that are kept."""
    dev, asked = (
        Predictions(forms, [round(score, DECIMALS) for score in scores]) for forms, scores in (model.dev, model.asked)
    )
    return replace(model, dev=dev, asked=asked, dev_accuracy=round(model.dev_accuracy, DECIMALS))


def read_result(path: Path) -> PackResult | None:
    """The content of a file; None if it is damaged or of another format."""
    try:
        result = msgspec.json.decode(unpacked(path.read_bytes()), type=PackResult)
    except UNREADABLE as error:
        raise_if_too_many_files(error)
        return None
    splits = [split for model in result.models for split in (model.dev, model.asked)]
    whole = result.models and all(len(forms) == len(scores) for forms, scores in splits)
    return result if whole and result.format in READABLE else None


def unpacked(raw: bytes) -> bytes:
    """The content, if it is whole and no larger than a pack can be: a small file can unpack to a very large one."""
    xz = lzma.LZMADecompressor(lzma.FORMAT_XZ, memlimit=UNPACKING_BYTES)
    content = xz.decompress(raw, max_length=LARGEST)
    if not xz.eof or xz.unused_data:
        raise ValueError("cut short, too large, or with something after its end")
    return content


def read_results(folder: Path, note: Note = lambda _: None) -> list[PackResult]:
    """All packs of a folder, sorted by name; files that cannot be used are skipped, with a note."""
    results = []
    for path in sorted(folder.glob(f"*{ENDING}")):
        if result := read_result(path):
            results.append(result)
        else:
            note(f"note: ignored {path} (damaged, or of another version); its models count as not trained")
    return results


def by_key(results: Iterable[PackResult]) -> dict[str, Trained]:
    """Every model once; where two packs have it, from the first."""
    models: dict[str, Trained] = {}
    for result in results:
        for model in result.models:
            models.setdefault(model.key, model)
    return models
