"""Losses where several actions are right: -log of the sum of their probabilities."""

from dataclasses import replace
from itertools import product

import pytest
import torch
from torch import Tensor

from reinflect.layers.batches import Trajectory
from reinflect.layers.operations import holds, negative_log_softmax, output_losses
from reinflect.settings import Settings
from reinflect.systems.system import System
from tests.systems.small_fleets import HACM, HAEM, SOFT, SmallFleet, actions
from tests.systems.test_losses import tricky, with_settings

VARIANTS = [
    (HACM, with_settings(HACM)),
    (HACM, with_settings(HACM, copy_mixture=False, cell="coupled")),
    (HAEM, with_settings(HAEM)),
    (HAEM, with_settings(HAEM, history=False, deletions=False, features="embedded")),
    (SOFT, with_settings(SOFT)),
]
every = pytest.mark.parametrize(
    ("system", "chosen"), VARIANTS, ids=[f"{system.name}-{number}" for number, (system, _) in enumerate(VARIANTS)]
)


def test_the_softmax_of_a_mask() -> None:
    chance = torch.Generator().manual_seed(1)
    logits = 3 * torch.randn(2, 4, 3, 6, generator=chance, dtype=torch.float64)
    numbers = torch.randint(0, 6, (2, 4, 3), generator=chance)
    one = torch.nn.functional.one_hot(numbers, 6).bool()
    torch.testing.assert_close(negative_log_softmax(logits, one), negative_log_softmax(logits, numbers))
    several = one | (torch.rand(one.shape, generator=chance) > 0.5)
    expected = -(logits.softmax(dim=-1) * several).sum(dim=-1).log()
    torch.testing.assert_close(negative_log_softmax(logits, several), expected)
    everything = torch.ones_like(one)
    assert negative_log_softmax(logits, everything).abs().max() < 1e-12


def test_smoothing_adds_the_mean_loss_of_all_allowed_outputs() -> None:
    chance = torch.Generator().manual_seed(2)
    logits = 3 * torch.randn(2, 4, 3, 6, generator=chance, dtype=torch.float64)
    allowed = torch.tensor([[False, True, True, True, True, True], [False, False, True, True, False, False]])
    right = torch.randint(2, 4, (2, 4, 3), generator=chance)
    found = output_losses(logits, right, allowed, 0.3)
    for model, step, item in product(range(2), range(4), range(3)):
        outputs = allowed[model].nonzero().squeeze(1).tolist()
        lost = -logits[model, step, item, outputs].log_softmax(dim=0)
        expected = 0.7 * lost[outputs.index(int(right[model, step, item]))] + 0.3 * lost.mean()
        torch.testing.assert_close(found[model, step, item], expected)
    plain = output_losses(logits, right, allowed, 0.0)
    torch.testing.assert_close(plain, output_losses(logits, right, allowed, 1e-12))


def test_whether_an_output_is_right() -> None:
    right = torch.tensor([[[1, 2]]])
    outputs = torch.tensor([[[1, 0]]])
    assert holds(right, outputs).tolist() == [[[True, False]]]
    mask = torch.tensor([[[[False, True, True], [True, False, True]]]])
    assert holds(mask, outputs).tolist() == [[[True, True]]]
    assert holds(mask, torch.tensor([[[0, 1]]])).tolist() == [[[False, False]]]


def as_mask(fleet: SmallFleet, batch: Trajectory) -> Tensor:
    outputs = fleet.parameters.sizes[fleet.system.outputs]
    return torch.nn.functional.one_hot(batch.right, outputs).bool()


def slopes(fleet: SmallFleet, batch: Trajectory) -> tuple[Tensor, list[Tensor]]:
    """Losses, and the gradient of their weighted sum by every parameter."""
    views = fleet.parameters.views
    for view in views.values():
        view.requires_grad_()
    losses = fleet.losses(batch)
    found = torch.autograd.grad((losses * batch.weights).sum(), list(views.values()), allow_unused=True)
    return losses.detach(), [
        torch.zeros_like(view) if own is None else own for own, view in zip(found, views.values(), strict=True)
    ]


@every
def test_a_mask_of_one_action_is_that_action(system: System, chosen: Settings) -> None:
    fleet = SmallFleet(system, chosen, tricky(system), seed=7)
    batch, _ = fleet.to_learn()
    by_number, number_slopes = slopes(fleet, batch)
    by_mask, mask_slopes = slopes(fleet, replace(batch, right=as_mask(fleet, batch)))
    torch.testing.assert_close(by_mask, by_number, rtol=1e-10, atol=1e-10)
    for one, other in zip(mask_slopes, number_slopes, strict=True):
        torch.testing.assert_close(one, other, rtol=1e-9, atol=1e-10)


@every
def test_several_right_actions_count_together(system: System, chosen: Settings) -> None:
    """The losses and gradients of the slow systems, summed over the right actions of each step."""
    fleet = SmallFleet(system, chosen, tricky(system), seed=7)
    batch, items = fleet.to_learn()
    mask = as_mask(fleet, batch)
    mask |= torch.rand(mask.shape, generator=torch.Generator().manual_seed(3)) > 0.6
    fast, found = slopes(fleet, replace(batch, right=mask))
    assert torch.isfinite(fast).all()
    assert (fast * batch.weights).sum() < 0.9 * (fleet.losses(batch) * batch.weights).sum()
    for number, row in enumerate(items):
        own, choices = fleet.languages[number], system.choices(fleet.languages[number].inventory)
        weights = {name: tensor.double().requires_grad_() for name, tensor in fleet.models[number].items()}
        means = []
        for place, item in enumerate(row):
            if item < 0:
                continue
            machine = fleet.machine(number, own.items[item].lemma, own.items[item].features, weights)
            slow = []
            for step, action in enumerate(actions(system, own.alignments[item])):
                right = [
                    probability
                    for name, probability in machine.probabilities().items()
                    if mask[number, step, place, choices.number(name)]
                ]
                slow.append(-torch.log(torch.stack(right).sum()))
                machine.do(action)
            torch.testing.assert_close(fast[number, : len(slow), place], torch.stack(slow), rtol=1e-9, atol=1e-9)
            means.append(torch.stack(slow).mean())
        torch.autograd.backward(torch.stack(means).mean())
        for (name, weight), slope in zip(weights.items(), found, strict=True):
            expected = torch.zeros_like(weight) if weight.grad is None else weight.grad
            padded = slope[number]
            view = padded[tuple(slice(size) for size in weight.shape)]
            torch.testing.assert_close(view, expected, rtol=1e-8, atol=1e-9)
            assert padded.count_nonzero() == view.count_nonzero(), name
