"""What becomes of a pack: one small file, which is all that tables and predictions are made of.

The file is JSON, compressed as xz, whose checksum tells a whole file from a damaged one. A model is known by its
`key`, made of everything that decides it, so that files from several machines can be put into one folder whatever
packs they trained, and none is taken for what it is not.
"""

import hashlib
import json
import lzma
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import msgspec

from reinflect import __version__
from reinflect.execution.corpora import Corpus
from reinflect.execution.run import Results
from reinflect.files import atomic_path
from reinflect.settings import Settings
from reinflect.training.lesson import Pack

FORMAT = 1
ENDING = ".pack.xz"
PRESET = 1
"""Of xz: packs are written while models wait to be trained."""
THREADS = 4
"""That read packs."""
DECIMALS = 4
"""Of log-probabilities."""
LARGEST = 1 << 30
"""Bytes of a pack; one of 1,000 models that say 2,000 forms each has a twentieth of it."""
UNPACKING_BYTES = 1 << 28
"""Memory that xz may need to unpack it, whatever the file says that it does."""


class Said(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a model says of some items, before the filter for repeats."""

    forms: list[str | None]
    """None where it did not come to an end."""
    log_probabilities: list[float]


class ModelResult(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A trained model, without its parameters."""

    key: str
    language: str
    setting: str
    system: str
    alignment: str
    seed: int
    """The one it was to have; it ended with another if it had to be started again."""
    restarts: int
    usable: bool
    dev_accuracy: float
    """As counted in training, unfiltered."""
    settings: Settings
    dev: Said
    test: Said


class PackResult(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """All models of a pack, and what it took to train them."""

    format: int
    version: str
    pack: str
    system: str
    device: str
    """In words, such as `cpu` or the name of a GPU."""
    seconds: float
    """Decoding and all, and with all runs that were interrupted."""
    models: list[ModelResult]
    mark: str = ""
    """That of the pack, which tells whose state is of no use any more."""


def model_key(corpus: Corpus, system: str, alignment: str, seed: int, settings: Settings) -> str:
    """A name that two models share only if they were to learn the same in the same way."""
    own = msgspec.to_builtins(settings)
    usual = msgspec.to_builtins(Settings())
    # A setting that is new in some later version, and at its default, makes no other model of it.
    changed = {name: value for name, value in own.items() if value != usual[name]}
    parts = [corpus.language, corpus.setting, system, alignment, seed, changed, corpus.digest]
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()[:20]


def pack_result(pack: Pack, results: Results, *, device: str) -> PackResult:
    """The results of a pack as they are kept."""
    corpora = {model.lesson.label: Corpus.of(model.lesson) for model in pack.models}
    models = []
    for learnt in results.models:
        model = pack.models[learnt.number]
        corpus = corpora[model.lesson.label]
        models.append(
            ModelResult(
                key=model_key(corpus, pack.system, model.lesson.alignment, model.seed, model.settings),
                language=corpus.language,
                setting=corpus.setting,
                system=pack.system,
                alignment=model.lesson.alignment,
                seed=model.seed,
                restarts=learnt.restarts,
                usable=learnt.usable,
                dev_accuracy=round(learnt.dev_accuracy, DECIMALS),
                settings=model.settings,
                dev=_said(learnt.forms, learnt.log_probabilities),
                test=_said(learnt.asked_forms, learnt.asked_log_probabilities),
            )
        )
    seconds = round(results.seconds, 3)
    return PackResult(FORMAT, __version__, pack.name, pack.system, device, seconds, models, pack.mark)


def _said(forms: Sequence[str | None], log_probabilities: Sequence[float]) -> Said:
    return Said(list(forms), [round(score, DECIMALS) for score in log_probabilities])


def mark_of(keys: Iterable[str]) -> str:
    """A short name for these models together."""
    return hashlib.sha256("".join(sorted(keys)).encode()).hexdigest()[:12]


def file_name(result: PackResult) -> str:
    """Packs of one name on several machines need not hold the same models."""
    return f"{result.pack}.{mark_of(model.key for model in result.models)}{ENDING}"


def log_name(result: PackResult) -> str:
    """What the log of how its models learnt is called."""
    return f"{file_name(result).removesuffix(ENDING)}.jsonl"


def write_result(folder: Path, result: PackResult) -> Path:
    path = folder / file_name(result)
    with atomic_path(path) as part:
        part.write_bytes(lzma.compress(msgspec.json.encode(result), preset=PRESET))
    return path


def read_result(path: Path) -> PackResult | None:
    """What a file holds; None if it is damaged, or of another kind or time."""
    try:
        result = msgspec.json.decode(_unpacked(path.read_bytes()), type=PackResult)
    except (OSError, EOFError, lzma.LZMAError, ValueError, RecursionError):
        return None
    return result if result.format == FORMAT and all(map(_whole, result.models)) else None


def _unpacked(raw: bytes) -> bytes:
    """What was compressed, if it is whole and no more than a pack can be: a few bytes can claim to be very many."""
    xz = lzma.LZMADecompressor(lzma.FORMAT_XZ, memlimit=UNPACKING_BYTES)
    content = xz.decompress(raw, max_length=LARGEST)
    if not xz.eof or xz.unused_data:
        raise ValueError("this is cut short, too large, or has something behind it")
    return content


def _whole(model: ModelResult) -> bool:
    return all(len(said.forms) == len(said.log_probabilities) for said in (model.dev, model.test))


def read_results(folder: Path, complain: Callable[[str], None] = lambda _: None) -> list[PackResult]:
    """All packs of a folder, in the order of their names; files that cannot be used are passed over, and said."""
    found, paths = [], sorted(folder.glob(f"*{ENDING}"))
    with ThreadPoolExecutor(THREADS) as threads:  # they gain much: other threads go on while xz is at work
        results = list(threads.map(read_result, paths))
    for path, result in zip(paths, results, strict=True):
        if result is None:
            complain(f"note: {path} is damaged or of another version, and passed over; its models count as not trained")
        else:
            found.append(result)
    return found


def by_key(results: Iterable[PackResult]) -> dict[str, ModelResult]:
    """Every model once: where two packs have it, that of the first."""
    models: dict[str, ModelResult] = {}
    for result in results:
        for model in result.models:
            models.setdefault(model.key, model)
    return models
