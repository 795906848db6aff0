"""Random numbers that depend only on what they are for, never on what was drawn before.

A model's shuffles, first weights and dropout masks come from its own seed and the place they are used at, so that it
trains the same alone, in any fleet, on any device, and after a restart.
"""

import hashlib

import torch
from torch import Tensor

_MASK = 0xFFFFFFFF


def key(*parts: int | str) -> int:
    """A 64-bit number for a purpose, such as key(seed, "shuffle", epoch)."""
    digest = hashlib.blake2b("\x1f".join(map(str, parts)).encode(), digest_size=8).digest()
    return int.from_bytes(digest, "little")


def keys(seeds: list[int], *parts: int | str) -> Tensor:
    """One 31-bit key a model. *Shape:* (M)"""
    return torch.tensor([key(seed, *parts) & 0x7FFFFFFF for seed in seeds], dtype=torch.int64)


def uniform(seeds: Tensor, shape: tuple[int, ...], room: tuple[int, ...] | None = None) -> Tensor:
    """Numbers in [0, 1) that depend on each model's key and the place in `shape`, on any device the same.

    `room` is how large each dimension can ever get; places are counted by it, so that a place keeps its number when
    `shape` grows. Mixes in 32-bit arithmetic (two rounds of multiply and shift), which is ample for dropout.

    *Shape:* (M) → (M, *shape)
    """
    places = torch.zeros(1, dtype=torch.int64, device=seeds.device)
    for size, space in zip(shape, room or shape, strict=True):
        places = (places.unsqueeze(1) * space + torch.arange(size, device=seeds.device)).flatten()
    mixed = (seeds.view(-1, 1) * 0x9E3779B1 + places * 0x85EBCA77) & _MASK
    for multiplier in (0x7FEB352D, 0x846CA68B):
        mixed = ((mixed ^ (mixed >> 16)) * multiplier) & _MASK
    mixed = (mixed ^ (mixed >> 15)) & 0xFFFFFF
    return (mixed.to(torch.float32) / 0x1000000).view(-1, *shape)
