"""What is left to train, as packs; and what is done with a pack, in whatever process."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import torch
from safetensors.numpy import save

from reinflect.ensembles.vote import kind_of
from reinflect.execution.corpora import Corpus
from reinflect.execution.grid import Entry, Grid
from reinflect.execution.packing import pack_models
from reinflect.execution.results import ModelResult, log_name, mark_of, model_key, pack_result, write_result
from reinflect.execution.retries import pieces
from reinflect.execution.run import Results, Standing, run_pack
from reinflect.execution.state import State
from reinflect.files import atomic_path
from reinflect.settings import Settings
from reinflect.training.checkpoint import SECONDS_BETWEEN
from reinflect.training.lesson import Lesson, Model, Pack

ITEMS_AN_UPDATE = 300
"""A GPU takes as long for the calls of an update as for so many items, by the packs of the paper's grid."""


@dataclass(frozen=True, eq=False)
class Wanted:
    """A model of the grid."""

    corpus: Corpus
    entry: Entry
    seed: int
    settings: Settings
    key: str


def wanted_models(
    corpora: Iterable[Corpus], grid: Grid, settings: Mapping[str, Mapping[str, Settings]]
) -> list[Wanted]:
    """All models of a grid. `settings` are by setting and system."""
    return [
        Wanted(corpus, entry, seed, own, model_key(corpus, entry.system, entry.alignment, seed, own))
        for corpus in corpora
        for entry in grid
        for own in [settings[corpus.setting][entry.system]]
        for seed in range(1, entry.seeds.get(corpus.setting, 0) + 1)
    ]


def groups_with_work(wanted: Sequence[Wanted], done: Mapping[str, object]) -> list[Wanted]:
    """Without those settings and systems of which every model is trained.

    The others' models are packed all of them, so that what is in a pack does not depend on what an earlier run did.
    """
    left = {(one.corpus.setting, one.entry.system) for one in wanted if one.key not in done}
    return [one for one in wanted if (one.corpus.setting, one.entry.system) in left]


def packs_of(
    wanted: Sequence[Wanted],
    done: Mapping[str, object],
    lessons: Mapping[tuple[str, str], Lesson],
    *,
    device: str,
    budget: int | None = None,
    state: State | None = None,
) -> list[Pack]:
    """On a CPU a pack for each kind of model of a language; on a GPU as many as fit, of one setting and system.

    What is in a pack depends on the grid, the data and the device, and on a GPU on the bytes of its memory that a pack
    may take; never on who trains it, or how many do. What an earlier run had to make two of, by its `state`, is two.
    """
    groups: dict[tuple[str, str], list[Wanted]] = {}
    for one in wanted:
        place = (
            f"{one.corpus.label}-{one.entry.kind}" if device == "cpu" else f"{one.entry.system}-{one.corpus.setting}"
        )
        groups.setdefault((one.entry.system, place), []).append(one)
    made = []
    for (system, name), group in groups.items():
        models = {
            Model(lessons[one.corpus.label, one.entry.alignment], one.seed, one.settings): one.key for one in group
        }
        packs = (
            [Pack(name, system, tuple(models))]
            if device == "cpu"
            else pack_models(system, list(models), name=name, budget=budget)
        )
        for pack in packs:
            marked = replace(pack, mark=mark_of(models[model] for model in pack.models))
            for piece in pieces(marked, state):
                left = tuple(model for model in piece.models if models[model] not in done)
                if left:
                    made.append((weight(piece, device), replace(piece, models=left)))
    if device != "cpu":  # where packs are many and small; a GPU's processes end together if the longest come first
        made.sort(key=lambda one: one[0], reverse=True)
    return [pack for _, pack in made]


def weight(pack: Pack, device: str) -> float:
    """About how long a pack takes, beside others of its device: the items it goes through, and what each update costs.

    A CPU takes next to nothing for an update but the time for its items.
    """
    items = sum(len(model.lesson.split.train) * model.settings.epochs for model in pack.models)
    if device == "cpu":
        return float(items)
    return float(items + ITEMS_AN_UPDATE * max(_updates(model) for model in pack.models))


def _updates(model: Model) -> int:
    return -(-len(model.lesson.split.train) // model.settings.batch) * model.settings.epochs


def parameters_file(folder: Path, model: ModelResult) -> Path:
    kind = kind_of(model.system, model.alignment)
    return folder / f"{model.language}-{model.setting}-{kind}-{model.seed}.{model.key}.safetensors"


def train_pack(
    pack: Pack,
    report: Callable[[Standing], None] = lambda _: None,
    stop: Callable[[], bool] = lambda: False,
    *,
    device: str,
    state: State,
    folder: Path,
    logs: Path,
    parameters: Path | None = None,
    seconds_between: float = SECONDS_BETWEEN,
) -> Results:
    """Train a pack, and when it has come to its end, write what became of it into `folder`, and its log into `logs`.

    The models themselves go to the folder `parameters`, if there is one, and no further.
    """

    def finish(results: Results) -> None:
        if not results.ended:
            return
        named = torch.cuda.get_device_name() if device == "cuda" else device
        result = pack_result(pack, results, device=named)
        if parameters:
            for learnt, model in zip(results.models, result.models, strict=True):
                with atomic_path(parameters_file(parameters, model)) as part:
                    part.write_bytes(save(dict(learnt.parameters)))
        # The result comes last: with it the pack is done, and what is not in its place by then never will be.
        with atomic_path(logs / log_name(result)) as part:
            part.write_bytes(state.log(pack.stem).read_bytes())
        write_result(folder, result)
        for path in (state.checkpoint(pack.stem), state.log(pack.stem)):
            path.unlink(missing_ok=True)

    results = run_pack(
        pack,
        report,
        stop,
        state=state,
        device=device,
        seconds_between=seconds_between,
        keep_finished=False,
        finish=finish,
    )
    return replace(results, models=[replace(learnt, parameters={}) for learnt in results.models])
