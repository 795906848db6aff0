"""The few operations both systems are made of, each for all models at once."""

import torch
import torch.nn.functional as F
from torch import Tensor

from reinflect.models.randomness import uniform


def linear(inputs: Tensor, weights: Tensor, bias: Tensor | None = None) -> Tensor:
    """*Shape:* inputs (M, …, D), weights (M, D, O), bias (M, O) → (M, …, O)"""
    flat = inputs.reshape(inputs.shape[0], -1, inputs.shape[-1])
    product = torch.bmm(flat, weights) if bias is None else torch.baddbmm(bias.unsqueeze(1), flat, weights)
    return product.view(*inputs.shape[:-1], weights.shape[-1])


def rows(table: Tensor, numbers: Tensor) -> Tensor:
    """Each model's rows of its own table. *Shape:* table (M, V, D), numbers (M, …) → (M, …, D)"""
    models, height, width = table.shape
    first = torch.arange(models, device=table.device) * height
    return F.embedding(numbers + first.view(-1, *[1] * (numbers.dim() - 1)), table.reshape(models * height, width))


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


def dropped(states: Tensor, keys: Tensor, rate: float, *, variational: bool) -> Tensor:
    """Dropout that depends on each model's key alone. *Shape:* states (M, L, B, D), keys (M)"""
    _, length, items, width = states.shape
    # The mask is laid out item by item, so that an item's numbers do not depend on how far its batch is padded.
    shape = (items, 1, width) if variational else (items, length, width)
    kept = uniform(keys, shape).ge(rate).transpose(1, 2)
    return states * kept.to(states.dtype).mul_(1.0 / (1.0 - rate))


def negative_log_softmax(logits: Tensor, targets: Tensor) -> Tensor:
    """*Shape:* logits (M, T, B, A), targets (M, T, B) → (M, T, B)"""
    losses = F.cross_entropy(logits.flatten(0, 2), targets.flatten(), reduction="none")
    return losses.view(targets.shape)


def penalty(allowed: Tensor, dtype: torch.dtype) -> Tensor:
    """0 where something is allowed, a number no logit can outweigh where not."""
    return torch.zeros(allowed.shape, dtype=dtype, device=allowed.device).masked_fill_(~allowed, -1e9)
