"""Packs: which models train together, and the file that a trained pack leaves, from which tables are made.

On a GPU these are models with sequences of similar length, as many as a part of its memory holds. On a CPU a pack has a
few seeds of one kind. The file is JSON, compressed as xz, whose checksum detects damage. Models are named by the
digests of their specs, so that files from several machines can be in one folder, whatever packs they were trained in.
"""

import hashlib
import lzma
import math
from collections.abc import Callable, Container, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, partial
from pathlib import Path
from typing import NamedTuple

import msgspec
import numpy as np
import torch

from reinflect import __version__
from reinflect.data.items import grouped
from reinflect.data.sheet_file import Note
from reinflect.ensemble.strategies import Numbers, Trained
from reinflect.errors import raise_if_too_many_files
from reinflect.files import write_bytes
from reinflect.learn.lesson import Lesson, ModelSpec
from reinflect.learn.scoring import places_at_once
from reinflect.settings import alike
from reinflect.systems import SYSTEMS
from reinflect.systems.symbols import expected_shapes, row_length

SHARE_OF_MEMORY = 0.8
"""Of a GPU's whole memory, not of what is free now, so that packs are the same when training resumes. The rest is for
the driver, other programs, and gaps between tensors."""
PARTS_OF_A_GPU = 3
"""A pack may take one part of the memory: enough to keep the GPU busy, with room for other packs. The number does not
depend on how many packs train at once."""
BYTES = 4
COPIES_OF_PARAMETERS = 5
"""Values, gradients, two numbers of the optimiser, best values."""
COPIES_OF_STATES = 2
"""The output of a map at an action, and its gradient."""
COPIES_OF_PAIRS = 4
ARRAYS_AN_ITEM = 10
"""HAEM has the most: ten tapes, none longer than an item's actions."""
SEEDS_A_PACK, MODELS_A_PACK = 3, 12
"""Models in a fleet on the CPU: of one lesson alone, spread over cores; of an experiment. With German low, batch 2, one
thread, an update of 1, 2, 3 or 5 models took 3.6, 2.7, 2.4, 2.3 ms a model (HACM) and 4.7, 3.7, 3.3, 3.0 ms (HAEM)."""
ITEMS_AN_UPDATE = 300
"""The calls of an update take a GPU as long as this number of items, measured on the packs of the paper's grid."""


@dataclass(frozen=True, eq=False)
class Pack:
    """Models that train together. Plain data, which any process can be sent."""

    name: str
    """Such as `haem-smart-1`."""
    specs: tuple[ModelSpec, ...]
    bytes: int = 0
    """The estimated memory it takes on a GPU."""
    device: str = "cpu"

    @property
    def stem(self) -> str:
        return stem_of(self.name, [spec.digest for spec in self.specs])

    @property
    def fingerprint(self) -> str:
        """Identifies checkpoints: these models in this order, trained by this version."""
        parts = [__version__, *(spec.digest for spec in self.specs)]
        return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:16]

    @property
    def weight(self) -> int:
        """The relative duration: the items, and on a GPU the cost of each update.

        It is not cached: the pack may be on its way to another process, which a thread of the pool pickles.
        """
        items = sum(
            len(spec.lesson.train) * spec.settings.epochs
            + sum(len(phase.items) * phase.epochs for phase in spec.lesson.phases)
            for spec in self.specs
        )
        updates = max(_updates(spec) * spec.settings.epochs for spec in self.specs)
        return items if self.device == "cpu" else items + ITEMS_AN_UPDATE * updates

    def halves(self) -> "list[Pack]":
        """Two packs in place of one that is too large."""
        parts = zip("ab", _split(self.specs, 2), strict=True)
        return [replace(self, name=self.name + end, specs=specs, bytes=self.bytes // 2) for end, specs in parts]

    def on_cpu(self) -> "Pack":
        return replace(self, bytes=0, device="cpu")


def stem_of(name: str, keys: Iterable[str]) -> str:
    """The name of a pack's files. It includes a digest, because packs of one name may hold different models."""
    return f"{name}.{hashlib.sha256(''.join(sorted(keys)).encode()).hexdigest()[:12]}"


def open_groups(specs: Sequence[ModelSpec], done: Container[str], device: str) -> list[ModelSpec]:
    """The groups of specs of which some model is not trained.

    They stay whole, so that the contents of a pack do not depend on what an earlier command trained.
    """
    unfinished = {_group(spec, device) for spec in specs if spec.digest not in done}
    return [spec for spec in specs if _group(spec, device) in unfinished]


def _group(spec: ModelSpec, device: str) -> str:
    """The name of the packs that a spec may be in."""
    parts = (spec.lesson.label, str(spec.kind)) if device == "cpu" else (spec.system, spec.lesson.setting)
    return "-".join(filter(None, parts))


def pack_specs(specs: Sequence[ModelSpec], device: str = "cpu", budget: int | None = None) -> list[Pack]:
    """The packs of these specs; `budget` is the memory of a GPU that a pack may take.

    They do not depend on the number of workers: a model's last bits may differ with the other models of its pack.
    """
    packs = []
    for name, group in grouped(specs, lambda spec: _group(spec, device)).items():
        if device == "cpu":
            most = MODELS_A_PACK if group[0].lesson.label else SEEDS_A_PACK
            kinds = grouped(group, lambda spec: alike(spec.settings)).values()
            parts = [(part, 0) for kind in kinds for part in _split(kind, -(-len(kind) // most))]
        else:
            parts = _parts_within(group, budget)
        for number, (part, size) in enumerate(parts, start=1):
            alone = device == "cpu" and len(parts) == 1
            packs.append(Pack(name if alone else f"{name}-{number}", part, size, device))
    # On a GPU the longest come first, so that its processes end together.
    return packs if device == "cpu" else sorted(packs, key=lambda pack: -pack.weight)


def _split(specs: Sequence[ModelSpec], parts: int) -> list[tuple[ModelSpec, ...]]:
    """Parts of nearly the same size, the larger ones first."""
    return [tuple(specs[number] for number in part) for part in np.array_split(np.arange(len(specs)), parts)]


def _parts_within(specs: Sequence[ModelSpec], budget: int | None) -> list[tuple[tuple[ModelSpec, ...], int]]:
    """Specs of one system in parts, with the memory each takes: of like settings, as many parts as it takes until each
    fits, or has one model.

    Models with about as many updates come together, and of these the ones with shorter sequences first, because all
    sequences of an update are padded to its longest.
    """
    measure = cache(partial(_measure, specs[0].system))
    ranked = sorted(specs, key=lambda spec: (round(2 * math.log2(_updates(spec))), measure(spec.lesson).mean))
    parts = []
    for kind in grouped(ranked, lambda spec: alike(spec.settings)).values():
        for number in range(1, len(kind) + 1):
            division = [(part, sum(needs(part, measure))) for part in _split(kind, number)]
            if budget is None or all(size <= budget for _, size in division):
                break
        parts += division
    return parts


def _updates(spec: ModelSpec) -> int:
    """Those of an epoch."""
    return -(-len(spec.lesson.train) // spec.settings.batch)


class _Measure(NamedTuple):
    """What packing needs to know about a lesson, as a system learns from it."""

    mean: float
    """Of the numbers of actions of its items."""
    actions: int
    """The most actions of any item, in any phase."""
    source: int
    """The most symbols the encoder reads, or a few more: a lemma with its ends, and features if it reads them."""


def _measure(name: str, lesson: Lesson) -> _Measure:
    system = SYSTEMS[name]
    lengths = [system.bound(*pair) for pair in zip(lesson.train, lesson.alignments, strict=True)]
    further = (pair for phase in lesson.phases for pair in zip(phase.items, phase.alignments, strict=True))
    actions = max(*lengths, *(system.bound(*pair) for pair in further), 0)
    items = (*lesson.train, *lesson.dev, *lesson.asked)
    source = max(len(item.lemma) + 2 + system.reads_features * len(item.features.atoms) for item in items)
    return _Measure(sum(lengths) / len(lengths), actions, source)


class Needs(NamedTuple):
    """The estimated bytes of GPU memory that a pack takes."""

    parameters: int
    update: int
    """What one update keeps for its gradients."""
    decoding: int
    """A block of dev items. In addition to an update, whose memory cannot always be reused."""
    items: int
    """All items as arrays."""


def needs(specs: Sequence[ModelSpec], measure: Callable[[Lesson], _Measure] | None = None) -> Needs:
    system, settings = SYSTEMS[specs[0].system], specs[0].settings
    lessons = {spec.lesson for spec in specs}
    measures = list(map(measure or partial(_measure, system.name), lessons))
    actions, source = max(lesson.actions for lesson in measures), max(lesson.source for lesson in measures)
    each = [system.sizes(lesson.inventory, settings) for lesson in lessons]
    shapes, sizes = system.shapes(settings), {size: max(row[size] for row in each) for size in each[0]}
    resolved = expected_shapes(shapes, sizes)
    maps = {name: shape for name, shape in resolved.items() if len(shape) == 2 and shapes[name].start != "embedding"}
    # The output of each map at every action of the longest batch; of a recurrent map, about as many gates and states.
    update = COPIES_OF_STATES * settings.batch * max(actions, source) * sum(shape[-1] for shape in maps.values())
    update += COPIES_OF_PAIRS * settings.batch * actions * source * system.pair_numbers(settings)
    update += sum(math.prod(shape) for shape in maps.values())  # weights in other precision, or times a norm's gain
    inflected = max(len(lesson.dev) + len(lesson.asked) for lesson in lessons)
    phases = max(sum(len(phase.items) for phase in lesson.phases) for lesson in lessons)
    items = inflected + phases + max(len(lesson.train) for lesson in lessons)
    item = ARRAYS_AN_ITEM * max(actions, source) + max(len(lesson.inventory.atoms) for lesson in lessons)
    places = max(places_at_once(settings.hidden), len(specs) * source)
    return Needs(
        parameters=BYTES * len(specs) * COPIES_OF_PARAMETERS * row_length(shapes, sizes),
        update=BYTES * len(specs) * update,
        decoding=BYTES * min(len(specs) * inflected * source, places) * system.source_numbers(settings),
        items=BYTES * len({(spec.lesson, spec.settings) for spec in specs}) * items * item,
    )


def memory_of_the_gpu() -> int | None:
    """Bytes that packs may take; None without a GPU."""
    if not torch.cuda.is_available():
        return None
    _, whole = torch.cuda.mem_get_info()
    return int(whole * SHARE_OF_MEMORY)


FORMAT = 3
READABLE = {2, FORMAT}
"""Files of format 2 also have the settings of each model."""
ENDING = ".pack.xz"
IN_THE_FILE = "format", "version", "pack", "device", "seconds", "models"
PRESET = 1
"""Of xz: a low one, because models wait to be trained while packs are written."""
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
