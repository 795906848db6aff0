"""Every system gives each right action the probability that the paper's equations give it, and so its gradient.

The slow systems know nothing of batches, padding or fleets, so equality with them is also independence of these.
"""

from dataclasses import replace
from itertools import product

import pytest
import torch
import torch.nn.functional as F
from hypothesis import given, settings
from hypothesis import strategies as st

from reinflect.align.pairs import Alignment
from reinflect.layers.operations import SMALL_TABLE, _Rows, output_losses, rows
from reinflect.settings import Settings
from reinflect.systems.system import System
from tests.systems.any_alignment import alignments
from tests.systems.small_fleets import (
    HACM,
    HAEM,
    SOFT,
    STATIC,
    Language,
    SmallFleet,
    language,
    naive,
    tricky,
    with_settings,
)

VARIANTS = [
    (HACM, with_settings(HACM)),
    (HACM, with_settings(HACM, copy_mixture=False)),
    (HACM, with_settings(HACM, features="embedded", cell="coupled")),
    (HACM, with_settings(HACM, features="counts", hidden=4, embedding=6)),
    (HAEM, with_settings(HAEM)),
    (HAEM, with_settings(HAEM, history=False, deletions=False)),
    (HAEM, with_settings(HAEM, history=False, features="counts")),
    (HAEM, with_settings(HAEM, deletions=False, tied=True)),
    (HAEM, with_settings(HAEM, tied=True, features="embedded", history_hidden=5)),
    (HAEM, with_settings(HAEM, cell="coupled", tied=True, history_hidden=7)),
    (SOFT, with_settings(SOFT)),
    (SOFT, with_settings(SOFT, features="counts", cell="coupled", attention=7)),
    (SOFT, with_settings(SOFT, features="embedded", attention=1, hidden=4, embedding=6)),
    (SOFT, with_settings(SOFT, encoder_layers=2)),
]
NAMES = [f"{system.name}-{number}" for number, (system, _) in enumerate(VARIANTS)]


static = pytest.mark.parametrize("system", STATIC, ids=lambda system: system.name)


def check(fleet: SmallFleet, close: float, *, gradients: bool = True, several: bool = False) -> None:
    """Losses and gradients are those of the slow system; with `several`, further actions are right at random."""
    batch, items = fleet.to_learn()
    if several:
        outputs = fleet.parameters.sizes[fleet.system.outputs]
        right = F.one_hot(batch.right, outputs).bool()
        right |= torch.rand(right.shape, generator=torch.Generator().manual_seed(3)) > 0.6
        batch = replace(batch, right=right)
    views = fleet.parameters.views
    for view in views.values():
        view.requires_grad_()
    losses = fleet.losses(batch)
    slopes = torch.autograd.grad((losses * batch.weights).sum(), list(views.values()), allow_unused=True)
    assert torch.isfinite(losses).all()
    for number, row in enumerate(items):
        weights = {name: tensor.double().requires_grad_() for name, tensor in fleet.models[number].items()}
        means = []
        for place, item in enumerate(row):
            if item < 0:
                assert not batch.weights[number, :, place].any()
                continue
            mask = batch.right[number, :, place] if several else None
            slow = torch.stack(fleet.slow_losses(number, item, weights, mask))
            fast = losses[number, : len(slow), place].double()
            torch.testing.assert_close(fast, slow, rtol=close, atol=close)
            assert not batch.weights[number, len(slow) :, place].any()
            means.append(slow.mean())
        if not gradients:
            continue
        torch.autograd.backward(torch.stack(means).mean())
        for (name, weight), padded in zip(weights.items(), slopes, strict=True):
            slow_slope = torch.zeros_like(weight) if weight.grad is None else weight.grad
            slope = torch.zeros_like(views[name][number]) if padded is None else padded[number]
            unpadded = slope[tuple(slice(size) for size in weight.shape)]
            message = f"the gradient of {name} is not that of the slow system"
            torch.testing.assert_close(unpadded.double(), slow_slope, rtol=close * 10, atol=close, msg=message)
            # Nothing may reach the padding: it would be trained, and change the model.
            assert slope.count_nonzero() == unpadded.count_nonzero(), name


@pytest.mark.parametrize("property", ["single precision", "double precision", "several right actions"])
@pytest.mark.parametrize("variant", VARIANTS, ids=NAMES)
def test_losses_and_gradients(variant: tuple[System, Settings], property: str) -> None:
    system, chosen = variant
    single = property == "single precision"
    fleet = SmallFleet(system, chosen, tricky(system), seed=7, dtype=torch.float32 if single else torch.float64)
    check(fleet, 1e-5 if single else 1e-9, several=property == "several right actions")


@st.composite
def any_fleets(draw: st.DrawFn) -> SmallFleet:
    system = draw(st.sampled_from(STATIC))
    chosen = with_settings(
        system,
        embedding=draw(st.integers(1, 4)),
        hidden=draw(st.integers(1, 6)),
        history_hidden=draw(st.integers(1, 5)),
        cell=draw(st.sampled_from(["lstm", "coupled"])),
        features=draw(st.sampled_from(["set", "counts", "embedded"])),
        tied=draw(st.booleans()),
        copy_mixture=draw(st.booleans()),
        history=draw(st.booleans()),
        deletions=draw(st.booleans()),
    )
    bundles = st.lists(st.sampled_from(["V", "N", "PST", "NEW"]), max_size=3).map(";".join)
    words = alignments().filter(lambda alignment: any(x for x, _ in alignment))
    languages = []
    for _ in range(draw(st.integers(1, 2))):
        aligned: list[tuple[Alignment, str]] = draw(st.lists(st.tuples(words, bundles), min_size=1, max_size=2))
        letters = "".join(x for alignment, _ in aligned for x, _ in alignment)
        unknown = "".join(draw(st.sets(st.sampled_from(letters))))
        languages.append(language(system, aligned, draw(st.sampled_from(["V", "V;N;PST"])), unknown=unknown))
    dtype = draw(st.sampled_from([torch.float32, torch.float64]))
    return SmallFleet(system, chosen, languages, draw(st.integers(0, 1000)), dtype)


@settings(max_examples=60)
@given(any_fleets())
def test_losses_of_anything(fleet: SmallFleet) -> None:
    check(fleet, 2e-5 if fleet.dtype == torch.float32 else 1e-9, gradients=False)


@static
def test_data_without_features(system: System) -> None:
    bare = language(system, [(naive("ab", "abc"), "")], "V")
    bare = Language(bare.items, bare.alignments, type(bare.inventory)(bare.inventory.characters, ()))
    for kind in ("set", "embedded"):
        check(SmallFleet(system, with_settings(system, features=kind), [bare], seed=2), 1e-9)


@pytest.mark.parametrize("kind", ["plain", "variational"])
@static
def test_dropout_knows_nothing_of_neighbours(system: System, kind: str) -> None:
    """A model's losses under dropout are the same whatever its fleet and however long the neighbours are."""
    everything = ("encoder", "written", "deleted", "history", "state")
    chosen = with_settings(system, dropout=0.5, dropout_kind=kind, dropout_on=everything)
    first, *others = tricky(system)
    # The first three items keep their places; longer ones come or go behind them.
    short = Language(first.items[:3], first.alignments[:3], first.inventory)
    alone = SmallFleet(system, chosen, [short], seed=3)
    long = language(system, [(naive("a" * 40, "b" * 50), "V")] * 4, "V")
    crowd = SmallFleet(system, chosen, [short, long, *others], seed=3)
    crowd.models[0] = alone.models[0]
    crowd.refresh()
    key = torch.tensor([77])
    dropped = alone.losses(alone.to_learn()[0], key)
    assert (dropped - alone.losses(alone.to_learn()[0])).abs().max() > 1e-3
    assert (dropped - alone.losses(alone.to_learn()[0], key + 100)).abs().max() > 1e-3
    crowded = crowd.losses(crowd.to_learn()[0], torch.tensor([77, 5, 6, 7]))
    for place in range(3):
        steps = len(alone.slow_losses(0, place))
        torch.testing.assert_close(crowded[0, :steps, place], dropped[0, :steps, place], rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize(
    ("name", "system"),
    [(name, HACM) for name in ("encoder", "state")]
    + [(name, HAEM) for name in ("encoder", "written", "deleted", "history", "state")]
    + [(name, SOFT) for name in ("encoder", "written", "state")],
)
def test_each_dropout_has_an_effect_of_its_own(name: str, system: System) -> None:
    plain = SmallFleet(system, with_settings(system), tricky(system)[:1], seed=3)
    dropping = SmallFleet(system, with_settings(system, dropout=0.5, dropout_on=(name,)), tricky(system)[:1], seed=3)
    batch, _ = plain.to_learn()
    key = torch.tensor([5])
    assert not torch.equal(dropping.losses(batch, key), plain.losses(batch, key))
    assert torch.equal(dropping.losses(batch), plain.losses(batch))


def test_weights_are_the_mean_or_the_sum_over_actions() -> None:
    fleet = SmallFleet(HAEM, with_settings(HAEM), tricky(HAEM), seed=1)
    for mean in (True, False):
        batch, items = fleet.to_learn(mean=mean)
        for number, row in enumerate(items):
            real = [item for item in row if item >= 0]
            for place, item in enumerate(real):
                steps = len(fleet.slow_losses(number, item))
                each = 1 / len(real) / (steps if mean else 1)
                expected = [each] * steps + [0.0] * (batch.weights.shape[1] - steps)
                assert batch.weights[number, :, place].tolist() == pytest.approx(expected)


def test_smoothing_adds_the_mean_loss_of_all_allowed_outputs() -> None:
    chance = torch.Generator().manual_seed(2)
    logits = 3 * torch.randn(2, 4, 3, 6, generator=chance, dtype=torch.float64)
    allowed = torch.tensor([[False, True, True, True, True, True], [False, False, True, True, False, False]])
    right = torch.randint(2, 4, (2, 4, 3), generator=chance)
    losses = output_losses(logits, right, allowed, 0.3)
    for model, step, item in product(range(2), range(4), range(3)):
        outputs = allowed[model].nonzero().squeeze(1).tolist()
        every = -logits[model, step, item, outputs].log_softmax(dim=0)
        expected = 0.7 * every[outputs.index(int(right[model, step, item]))] + 0.3 * every.mean()
        torch.testing.assert_close(losses[model, step, item], expected)
    plain = output_losses(logits, right, allowed, 0.0)
    torch.testing.assert_close(plain, output_losses(logits, right, allowed, 1e-12))


@pytest.mark.parametrize("height", [1, 7, SMALL_TABLE, SMALL_TABLE + 1])
def test_rows_and_their_gradients_are_those_of_each_model_s_own_table(height: int) -> None:
    torch.manual_seed(height)
    table = torch.randn(3, height, 5, dtype=torch.float64, requires_grad=True)
    numbers = torch.randint(height, (3, 4, 6))
    gradient = torch.randn(3, 4, 6, 5, dtype=torch.float64)
    expected = torch.stack([F.embedding(own, one) for own, one in zip(numbers, table, strict=True)])
    (by_table,) = torch.autograd.grad((expected * gradient).sum(), table)
    for taken in (_Rows.apply(table, numbers), rows(table, numbers)):  # type: ignore[no-untyped-call]
        torch.testing.assert_close(taken, expected)
        (own,) = torch.autograd.grad((taken * gradient).sum(), table)
        torch.testing.assert_close(own, by_table)
