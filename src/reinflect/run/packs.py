"""A pack: models that train together, and the file a trained pack leaves, from which tables are made.

The file is JSON, compressed as xz, whose checksum detects damage. Models are named by the digests of their specs, so
that files from several machines can be put into one folder, whatever packs they were trained in.
"""

import hashlib
import lzma
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

import msgspec

from reinflect import __version__
from reinflect.decode.forms import Predictions
from reinflect.ensemble.member import TrainedModel
from reinflect.files import raise_if_too_many_files, write_bytes
from reinflect.learn.lesson import ModelSpec
from reinflect.systems import SYSTEMS

FORMAT = 2
ENDING = ".pack.xz"
PRESET = 1
"""Of xz: a low one, because models wait to be trained while packs are written."""
READING_THREADS = 4
DECIMALS = 4
"""Of log-probabilities in files that are kept."""
LARGEST = 1 << 30
"""Bytes of the largest pack; one of 1,000 models with 2,000 predictions each has a twentieth of it."""
UNPACKING_BYTES = 1 << 28
"""Memory that xz may use to unpack a file, whatever the file claims."""
NOT_IN_FILES = ("inventory", "parameters")
UNREADABLE = OSError, EOFError, lzma.LZMAError, ValueError, RecursionError, LookupError, TypeError, AttributeError
"""The errors that a damaged file raises."""


@dataclass(frozen=True, eq=False)
class Pack:
    """Models that train together. Plain data, which any process can be sent."""

    name: str
    """Such as `haem-smart-1`."""
    specs: tuple[ModelSpec, ...]
    bytes: int = 0
    """The estimated GPU memory it takes; 0 on a CPU."""

    @property
    def system(self) -> str:
        return self.specs[0].system

    @property
    def stem(self) -> str:
        return _stem(self.name, [spec.digest for spec in self.specs])

    @property
    def fingerprint(self) -> str:
        """Identifies checkpoints: these models in this order, trained by this version."""
        parts = [__version__, *(spec.digest for spec in self.specs)]
        return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:16]

    @property
    def epochs(self) -> int:
        """The largest number of epochs of any model."""
        return max(spec.settings.epochs + sum(phase.epochs for phase in spec.lesson.phases) for spec in self.specs)

    def halves(self) -> "tuple[Pack, Pack]":
        """Two packs in place of one that is too large."""
        middle, (one, two) = -(-len(self.specs) // 2), half_names(self.name)
        return replace(self, name=one, specs=self.specs[:middle]), replace(self, name=two, specs=self.specs[middle:])


def _stem(name: str, keys: Iterable[str]) -> str:
    """The name of a pack's files. It includes a digest, because packs of one name may hold different models."""
    return f"{name}.{hashlib.sha256(''.join(sorted(keys)).encode()).hexdigest()[:12]}"


def half_names(name: str) -> tuple[str, str]:
    return f"{name}a", f"{name}b"


@dataclass(frozen=True)
class PackResult:
    """The models of a pack, and what it took to train them."""

    pack: str
    models: list[TrainedModel]
    finished: bool = True
    device: str = "cpu"
    """`cpu`, or the name of a GPU."""
    seconds: float = 0.0
    """Includes decoding, and earlier commands that were interrupted."""
    version: str = __version__
    retried: tuple[str, ...] = ()
    """Failures, and what was done about them."""

    @property
    def stem(self) -> str:
        return _stem(self.pack, [model.key for model in self.models])


def write_result(path: Path, result: PackResult, decimals: int | None = DECIMALS) -> None:
    plain = {
        "format": FORMAT,
        "version": result.version,
        "pack": result.pack,
        "device": result.device,
        "seconds": round(result.seconds, 3),
        "models": [_plain(model, decimals) for model in result.models],
    }
    write_bytes(path, lzma.compress(msgspec.json.encode(plain), preset=PRESET))


def _plain(model: TrainedModel, decimals: int | None) -> dict[str, Any]:
    named = {field.name: getattr(model, field.name) for field in fields(model) if field.name not in NOT_IN_FILES}
    if decimals is not None:
        for split in ("dev", "asked"):
            forms, scores = named[split]
            named[split] = Predictions(forms, [round(score, decimals) for score in scores])
        named["dev_accuracy"] = round(model.dev_accuracy, decimals)
    return named


def read_result(path: Path) -> PackResult | None:
    """The content of a file; None if it is damaged, of another format, or of a system that is not installed."""
    try:
        plain = msgspec.json.decode(unpacked(path.read_bytes()))
        if type(plain["format"]) is not int or plain.pop("format") != FORMAT:
            return None
        models = [_model(own) for own in plain.pop("models")]
        return replace(msgspec.convert(plain | {"models": []}, PackResult), models=models) if models else None
    except UNREADABLE as error:
        raise_if_too_many_files(error)
        return None


def unpacked(raw: bytes) -> bytes:
    """The content, if it is whole and no larger than a pack can be: a small file can unpack to a very large one."""
    xz = lzma.LZMADecompressor(lzma.FORMAT_XZ, memlimit=UNPACKING_BYTES)
    content = xz.decompress(raw, max_length=LARGEST)
    if not xz.eof or xz.unused_data:
        raise ValueError("cut short, too large, or with something after its end")
    return content


def _model(plain: dict[str, Any]) -> TrainedModel:
    settings = msgspec.convert(plain.pop("settings"), SYSTEMS[plain["system"]].settings)
    empty: dict[str, Any] = {"settings": {}, "inventory": {"characters": [], "atoms": []}}
    model = replace(msgspec.convert(plain | empty, TrainedModel), settings=settings)
    if any(len(own.forms) != len(own.log_probabilities) for own in (model.dev, model.asked)):
        raise ValueError("forms without probabilities")
    return model


def read_results(folder: Path, note: Callable[[str], None] = lambda _: None) -> list[PackResult]:
    """All packs of a folder, sorted by name; files that cannot be used are skipped, with a note."""
    found, paths = [], sorted(folder.glob(f"*{ENDING}"))
    with ThreadPoolExecutor(READING_THREADS) as threads:  # xz releases the lock
        results = list(threads.map(read_result, paths))
    for path, result in zip(paths, results, strict=True):
        if result is None:
            note(f"note: ignored {path} (damaged, or of another version or system); its models count as not trained")
        else:
            found.append(result)
    return found


def by_key(results: Iterable[PackResult]) -> dict[str, TrainedModel]:
    """Every model once; where two packs have it, from the first."""
    models: dict[str, TrainedModel] = {}
    for result in results:
        for model in result.models:
            models.setdefault(model.key, model)
    return models


def matched(specs: Iterable[ModelSpec], models: Mapping[str, TrainedModel]) -> dict[str, TrainedModel]:
    """The models of these specs, with what packs do not store, and with what their digests leave open."""
    return {
        spec.digest: replace(
            models[spec.digest], inventory=spec.lesson.inventory, settings=spec.settings, variant=spec.kind.label
        )
        for spec in specs
        if spec.digest in models
    }
