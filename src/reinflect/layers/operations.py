"""Operations of the systems, each for all models at once."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from typing import Literal

import torch
import torch.nn.functional as F
from torch import Tensor

from reinflect.settings import key


def on_numba(tensor: Tensor) -> bool:
    """Whether compiled loops work on this tensor."""
    return tensor.device.type == "cpu" and tensor.dtype == torch.float32


def on_triton(tensor: Tensor) -> bool:
    """Whether our GPU kernels work on this tensor."""
    return tensor.device.type == "cuda" and tensor.dtype != torch.float64 and _has_triton()


@cache
def _has_triton() -> bool:
    return find_spec("triton") is not None


def in_kernels() -> str:
    """Triton's name for the current precision."""
    return "tf32" if torch.backends.cuda.matmul.allow_tf32 else "tf32x3"


def for_kernels(weights: Tensor) -> Tensor:
    """Weights for the recurrences' kernels; half precision has the bits that tf32 uses, and is read twice as fast."""
    return weights.half() if torch.backends.cuda.matmul.allow_tf32 else weights


@contextmanager
def products(precision: Literal["single", "tf32"]) -> Iterator[None]:
    """Products on a GPU have this precision inside the block. A CPU's are always exact."""
    before = torch.backends.cuda.matmul.allow_tf32
    torch.backends.cuda.matmul.allow_tf32 = precision == "tf32"
    try:
        yield
    finally:
        torch.backends.cuda.matmul.allow_tf32 = before


@contextmanager
def one_thread(device: torch.device | str = "cpu") -> Iterator[None]:
    """Use one thread if the device is a CPU, for reproducible results; two gain an eighth, or lose much when busy."""
    before = torch.get_num_threads()
    torch.set_num_threads(1 if torch.device(device).type == "cpu" else before)
    try:
        yield
    finally:
        torch.set_num_threads(before)


MOST_STEPS = 4096
"""For dropout: longer sequences would share some of their masks."""
SMALL_TABLE = 128
"""Rows of a table whose gradients are summed by a product."""
LOW_BITS = 0xFFFFFFFF


def linear(inputs: Tensor, weights: Tensor, bias: Tensor | None = None) -> Tensor:
    """*Shape:* inputs (M, …, D), weights (M, D, O), bias (M, O) → (M, …, O)"""
    flat = inputs.flatten(1, -2)  # holds for D = 0 too: data without any features
    product = torch.bmm(flat, weights) if bias is None else torch.baddbmm(bias.unsqueeze(1), flat, weights)
    return product.view(*inputs.shape[:-1], weights.shape[-1])


def rows(table: Tensor, numbers: Tensor) -> Tensor:
    """Each model's rows of its own table. *Shape:* table (M, V, D), numbers (M, …) → (M, …, D)"""
    if table.device.type == "cuda" and table.requires_grad:
        taken: Tensor = _Rows.apply(table, numbers)  # type: ignore[no-untyped-call]
        return taken
    return F.embedding(_in_all(numbers, table.shape[1]), table.flatten(0, 1))


def _in_all(numbers: Tensor, height: int) -> Tensor:
    """The numbers of these rows if the tables of all models lie one below the other."""
    if len(numbers) == 1:
        return numbers
    first = torch.arange(0, len(numbers) * height, height, device=numbers.device)
    return numbers + first.view(-1, *[1] * (numbers.dim() - 1))


class _Rows(torch.autograd.Function):
    """Rows of tables on a GPU, without torch's sorting of gradients: a small table's sums are a product with zeros and
    ones, a large one's are added in place.
    """

    @staticmethod
    def forward(ctx, table: Tensor, numbers: Tensor) -> Tensor:  # type: ignore[no-untyped-def]
        ctx.save_for_backward(numbers)
        ctx.height = table.shape[1]
        return table.flatten(0, 1)[_in_all(numbers, ctx.height)]

    @staticmethod
    def backward(ctx, *gradients: Tensor) -> tuple[Tensor, None]:  # type: ignore[no-untyped-def]
        (numbers,), (gradient,), height = ctx.saved_tensors, gradients, ctx.height
        models, width = len(gradient), gradient.shape[-1]
        if height <= SMALL_TABLE:
            holds_row = torch.arange(height, device=numbers.device).view(1, -1, 1) == numbers.flatten(1).unsqueeze(1)
            return torch.bmm(holds_row.to(gradient.dtype), gradient.reshape(models, -1, width)), None
        total = gradient.new_zeros(models * height, width)
        total.index_add_(0, _in_all(numbers, height).flatten(), gradient.reshape(-1, width))
        return total.view(models, height, width), None


def pick(states: Tensor, steps: Tensor) -> Tensor:
    """Each item's states at these steps. *Shape:* states (M, L, B, D), steps (M, T, B) → (M, T, B, D)"""
    models, length, items, width = states.shape
    return rows(states.reshape(models, length * items, width), steps * items + torch.arange(items, device=steps.device))


def at(states: Tensor, positions: Tensor) -> Tensor:
    """Each item's state at one position. *Shape:* states (M, B, N, D), positions (M, B) → (M, B, D)"""
    _, items, length, _ = states.shape
    return rows(states.flatten(1, 2), positions + torch.arange(0, items * length, length, device=positions.device))


def with_empty(empty: Tensor, states: Tensor) -> Tensor:
    """States with the initial state in front. *Shape:* empty (M, D), states (M, L, B, D)"""
    models, _, items, width = states.shape
    return torch.cat([empty.view(models, 1, 1, width).expand(-1, 1, items, -1), states], dim=1)


def keys(seeds: Sequence[int], *parts: int | str) -> Tensor:
    """A 31-bit key for each model. *Shape:* (M)"""
    return torch.tensor([key(seed, *parts) & 0x7FFFFFFF for seed in seeds], dtype=torch.int64)


def uniform(keys: Tensor, shape: tuple[int, ...], room: tuple[int, ...] | None = None) -> Tensor:
    """Numbers in [0, 1) that depend on each model's key and the position in `shape`. *Shape:* (M) → (M, *shape)

    `room` is the largest size of each dimension; a position keeps its number when `shape` grows. The mixing is 32-bit
    arithmetic (two rounds of multiply and shift), which is enough for dropout.
    """
    positions = torch.zeros(1, dtype=torch.int64, device=keys.device)
    for size, space in zip(shape, room or shape, strict=True):
        positions = (positions.unsqueeze(1) * space + torch.arange(size, device=keys.device)).flatten()
    mixed = (keys.view(-1, 1) * 0x9E3779B1 + positions * 0x85EBCA77) & LOW_BITS
    for multiplier in (0x7FEB352D, 0x846CA68B):
        mixed = ((mixed ^ (mixed >> 16)) * multiplier) & LOW_BITS
    mixed = (mixed ^ (mixed >> 15)) & 0xFFFFFF
    return (mixed.to(torch.float32) / 0x1000000).view(-1, *shape)


@dataclass(frozen=True)
class Dropout:
    """The dropout of one update: each model's key of random numbers, its rate, and 1 / (1 - rate). *Shapes:* (M)"""

    keys: Tensor
    rates: Tensor
    inverse_keep: Tensor

    @classmethod
    def of(cls, keys: Tensor, rates: Sequence[float], dtype: torch.dtype) -> "Dropout":
        numbers = torch.tensor(rates, dtype=torch.float64)
        inverse_keep = (1.0 / (1.0 - numbers)).to(keys.device, dtype)
        return cls(keys, numbers.to(keys.device, torch.float32), inverse_keep)


def dropped(states: Tensor, dropout: Dropout, purpose: int, *, variational: bool) -> Tensor:
    """States after dropout, which depends on each model's key and the purpose alone. *Shape:* states (M, L, B, D)"""
    _, length, items, width = states.shape
    length, keys = 1 if variational else length, dropout.keys + purpose
    if on_numba(states):
        from reinflect.layers import numba_loops

        numbers = keys, dropout.rates, dropout.inverse_keep, MOST_STEPS
        return states * numba_loops.masks(*numbers, length, items, width)
    # Room for any number of steps, so that an item's mask does not depend on the padding of its batch.
    drawn = uniform(keys, (items, length, width), room=(items, MOST_STEPS, width))
    kept = drawn.ge(dropout.rates.view(-1, 1, 1, 1)).transpose(1, 2)
    return states * kept.to(states.dtype).mul_(dropout.inverse_keep.view(-1, 1, 1, 1))


def negative_log_softmax(logits: Tensor, right: Tensor) -> Tensor:
    """-log of the summed probability of the right outputs. *Shape:* (M, T, B, A), (M, T, B) or a mask → (M, T, B)"""
    if right.dim() == logits.dim():
        masked = logits.masked_fill(~right, float("-inf"))
        return torch.logsumexp(logits, dim=-1) - torch.logsumexp(masked, dim=-1)
    losses = F.cross_entropy(logits.flatten(0, 2), right.flatten(), reduction="none")
    return losses.view(right.shape)


def output_losses(logits: Tensor, right: Tensor, allowed: Tensor, smoothing: float) -> Tensor:
    """As `negative_log_softmax`, among the allowed outputs (M, A); `smoothing`: the weight of all these, evenly."""
    outputs = allowed.view(len(allowed), 1, 1, -1)
    possible = logits + penalty(outputs, logits.dtype)
    losses = negative_log_softmax(possible, right)
    if not smoothing:
        return losses
    mean = (logits * outputs).sum(dim=-1) / outputs.sum(dim=-1)
    return (1 - smoothing) * losses + smoothing * (torch.logsumexp(possible, dim=-1) - mean)


def holds(right: Tensor, outputs: Tensor) -> Tensor:
    """Whether these outputs are right. *Shape:* right (M, T, B) or (M, T, B, A), outputs (M, T, B) → (M, T, B)"""
    if right.dim() > outputs.dim():
        return right.gather(-1, outputs.unsqueeze(-1)).squeeze(-1)
    return outputs == right


def certain(scores: Tensor, output: int, where: Tensor) -> Tensor:
    """Log-probabilities with one output made certain. *Shape:* scores (M, B, A), where (M, B, 1) → (M, B, A)"""
    alone = torch.full_like(scores[:1, :1], float("-inf"))
    alone[..., output] = 0.0
    return torch.where(where, alone, scores)


def penalty(allowed: Tensor, dtype: torch.dtype) -> Tensor:
    """0 where an output is allowed, elsewhere a number that no logit can outweigh."""
    return torch.zeros(allowed.shape, dtype=dtype, device=allowed.device).masked_fill_(~allowed, -1e9)
