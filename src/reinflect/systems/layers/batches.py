"""What a model reads at one update or when it decodes, as tensors."""

from dataclasses import dataclass, field

import torch
from torch import Tensor


@dataclass(frozen=True)
class Lemmas:
    """Lemmas and features of B items for each of M models; all that decoding needs."""

    symbols: Tensor
    """The lemma as the encoder reads it forwards. *Shape:* (M, N, B)"""
    reversed: Tensor
    """The same from its last symbol back, so that padding comes last there too. *Shape:* (M, N, B)"""
    lengths: Tensor
    """*Shape:* (M, B)"""
    features: Tensor
    """Features as numbers, scaled; negative where a feature is not one of the model's. *Shape:* (M, B, P)"""
    literals: Tensor | None = field(default=None, kw_only=True)
    """The lemma once more, for decoders to copy from: characters that the model does not know, which are all one
    symbol to it, have numbers of their own here. *Shape:* (M, N, B)"""

    def mirrored(self) -> Tensor:
        """The step at which the backward encoder reads each position. *Shape:* (M, N, B)"""
        positions = torch.arange(self.symbols.shape[1], device=self.symbols.device).view(1, -1, 1)
        return (self.lengths.unsqueeze(1) - 1 - positions).clamp_(min=0)


@dataclass(frozen=True)
class HacmBatch(Lemmas):
    """HACM's tapes. *Shapes:* (M, T, B), weights (M, T, B)"""

    attended: Tensor
    previous: Tensor
    targets: Tensor
    weights: Tensor
    """What each action counts in its model's loss; 0 for padding."""


@dataclass(frozen=True)
class SoftBatch(Lemmas):
    """Forms for the soft-attention system; its lemmas have their features behind them. *Shapes:* (M, T, B)"""

    previous: Tensor
    targets: Tensor
    weights: Tensor


@dataclass(frozen=True)
class HaemBatch(Lemmas):
    """HAEM's tapes. *Shapes:* (M, T, B) but for written (M, Y, B), deleted and keep (M, K, B)"""

    attended: Tensor
    """0 past the end of the lemma, else one more than the position."""
    targets: Tensor
    lemma_left: Tensor
    written: Tensor
    written_state: Tensor
    deleted: Tensor
    keep: Tensor
    deleted_state: Tensor
    weights: Tensor
