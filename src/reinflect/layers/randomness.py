"""Random numbers that depend on their purpose, never on what was drawn before.

A model's shuffles, initial weights and dropout masks come from its seed and the place of use, so that it trains the
same alone, in any fleet, on any device, and after it resumes.
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
    """A 31-bit key for each model. *Shape:* (M)"""
    return torch.tensor([key(seed, *parts) & 0x7FFFFFFF for seed in seeds], dtype=torch.int64)


def uniform(seeds: Tensor, shape: tuple[int, ...], room: tuple[int, ...] | None = None) -> Tensor:
    """Numbers in [0, 1) that depend on each model's key and the place in `shape`. *Shape:* (M) → (M, *shape)

    `room` is the largest size of each dimension; a place keeps its number when `shape` grows. The mixing is 32-bit
    arithmetic (two rounds of multiply and shift), which is enough for dropout.
    """
    places = torch.zeros(1, dtype=torch.int64, device=seeds.device)
    for size, space in zip(shape, room or shape, strict=True):
        places = (places.unsqueeze(1) * space + torch.arange(size, device=seeds.device)).flatten()
    mixed = (seeds.view(-1, 1) * 0x9E3779B1 + places * 0x85EBCA77) & _MASK
    for multiplier in (0x7FEB352D, 0x846CA68B):
        mixed = ((mixed ^ (mixed >> 16)) * multiplier) & _MASK
    mixed = (mixed ^ (mixed >> 15)) & 0xFFFFFF
    return (mixed.to(torch.float32) / 0x1000000).view(-1, *shape)
