"""The few operations the systems are made of, each for all models at once."""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor

from reinflect.systems.layers.randomness import uniform

MOST_STEPS = 4096
"""No sequence has more; only dropout counts on it, and longer ones would merely share some of their masks."""


def linear(inputs: Tensor, weights: Tensor, bias: Tensor | None = None) -> Tensor:
    """*Shape:* inputs (M, …, D), weights (M, D, O), bias (M, O) → (M, …, O)"""
    flat = inputs.flatten(1, -2)  # holds for D = 0 too: data without any features
    product = torch.bmm(flat, weights) if bias is None else torch.baddbmm(bias.unsqueeze(1), flat, weights)
    return product.view(*inputs.shape[:-1], weights.shape[-1])


def rows(table: Tensor, numbers: Tensor) -> Tensor:
    """Each model's rows of its own table. *Shape:* table (M, V, D), numbers (M, …) → (M, …, D)"""
    models, height, width = table.shape
    first = torch.arange(models, device=table.device) * height
    places = numbers + first.view(-1, *[1] * (numbers.dim() - 1))
    flat = table.reshape(models * height, width)
    if table.device.type == "cuda" and flat.requires_grad:
        taken: Tensor = _Taken.apply(flat, places)  # type: ignore[no-untyped-call]
        return taken
    return F.embedding(places, flat)


class _Taken(torch.autograd.Function):
    """Rows of a table on a GPU, where adding the gradients up in place is faster than torch's sorting them first."""

    @staticmethod
    def forward(ctx, flat: Tensor, places: Tensor) -> Tensor:  # type: ignore[no-untyped-def]
        ctx.save_for_backward(places)
        ctx.height = len(flat)
        return flat[places]

    @staticmethod
    def backward(ctx, *gradients: Tensor) -> tuple[Tensor, None]:  # type: ignore[no-untyped-def]
        (places,) = ctx.saved_tensors
        width = gradients[0].shape[-1]
        total = gradients[0].new_zeros(ctx.height, width)
        return total.index_add_(0, places.flatten(), gradients[0].reshape(-1, width)), None


def action_counts(weights: Tensor) -> Tensor:
    """How many actions the longest item of each model has. *Shape:* weights (M, T, B) → (M)"""
    return (weights > 0).sum(dim=1).amax(dim=1)


def pick(states: Tensor, steps: Tensor) -> Tensor:
    """Each item's states at the steps asked for. *Shape:* states (M, L, B, D), steps (M, T, B) → (M, T, B, D)"""
    models, length, items, width = states.shape
    return rows(states.reshape(models, length * items, width), steps * items + torch.arange(items, device=steps.device))


def at(states: Tensor, positions: Tensor) -> Tensor:
    """Each item's state at one position. *Shape:* states (M, B, N, D), positions (M, B) → (M, B, D)"""
    _, items, length, _ = states.shape
    return rows(states.flatten(1, 2), positions + torch.arange(items, device=positions.device) * length)


def with_empty(empty: Tensor, states: Tensor) -> Tensor:
    """States with the one before anything was read in front. *Shape:* empty (M, D), states (M, L, B, D)"""
    models, _, items, width = states.shape
    return torch.cat([empty.view(models, 1, 1, width).expand(-1, 1, items, -1), states], dim=1)


@dataclass(frozen=True)
class Dropout:
    """What is left out of the models' states at one update. *Shapes:* (M)"""

    keys: Tensor
    """What each model's masks are made of."""
    rates: Tensor
    louder: Tensor
    """1 / (1 - rate): what is kept counts for what is not."""

    @classmethod
    def of(cls, keys: Tensor, rates: Sequence[float], dtype: torch.dtype) -> "Dropout":
        numbers = torch.tensor(rates, dtype=torch.float64)
        louder = (1.0 / (1.0 - numbers)).to(keys.device, dtype)
        return cls(keys, numbers.to(keys.device, torch.float32), louder)


def dropped(states: Tensor, dropout: Dropout, place: int, *, variational: bool) -> Tensor:
    """Dropout that depends on each model's key alone, and on the place in the model. *Shape:* states (M, L, B, D)"""
    _, length, items, width = states.shape
    # Room for any number of steps, so that an item's numbers do not depend on how far its batch is padded.
    shape = (items, 1 if variational else length, width)
    drawn = uniform(dropout.keys + place, shape, room=(items, MOST_STEPS, width))
    kept = drawn.ge(dropout.rates.view(-1, 1, 1, 1)).transpose(1, 2)
    return states * kept.to(states.dtype).mul_(dropout.louder.view(-1, 1, 1, 1))


def negative_log_softmax(logits: Tensor, targets: Tensor) -> Tensor:
    """*Shape:* logits (M, T, B, A), targets (M, T, B) → (M, T, B)"""
    losses = F.cross_entropy(logits.flatten(0, 2), targets.flatten(), reduction="none")
    return losses.view(targets.shape)


def penalty(allowed: Tensor, dtype: torch.dtype) -> Tensor:
    """0 where something is allowed, a number no logit can outweigh where not."""
    return torch.zeros(allowed.shape, dtype=dtype, device=allowed.device).masked_fill_(~allowed, -1e9)
