"""Updates as captured CUDA graphs.

An update is hundreds of small kernels, which take longer to launch than to run; a captured graph is one launch. Its
shapes are fixed, so updates of nearly the same length share a graph.
"""

import gc
from collections.abc import Callable, Mapping, Sequence

import torch
from torch import Tensor

from reinflect.systems.system import ACTIONS

ROUND_TO = 4
"""Lengths of updates that share a graph differ by less than this."""

Update = Callable[[Tensor, Tensor, Tensor, Mapping[str, int]], Tensor]
"""From items (M, B), epochs (M), keys (M) and the lengths of the arrays to losses (M)."""


class Lengths:
    """Rounds the lengths of updates up: those with nearly as many actions have arrays of the same lengths."""

    def __init__(self, limits: Mapping[str, int]) -> None:
        """`limits`: the longest that each array can be."""
        self._limits = limits
        self._lengths: dict[int, dict[str, int]] = {}

    def rounded(self, updates: Sequence[Mapping[str, int]]) -> list[dict[str, int]]:
        for longest in updates:
            lengths = self._lengths.setdefault(self._up(ACTIONS, longest), {})
            for name in longest:
                lengths[name] = max(lengths.get(name, 0), self._up(name, longest))
        return [dict(self._lengths[self._up(ACTIONS, longest)]) for longest in updates]

    def _up(self, name: str, longest: Mapping[str, int]) -> int:
        return min(-(-longest[name] // ROUND_TO) * ROUND_TO, self._limits.get(name, longest[name] + ROUND_TO))


class Graphs:
    """Does updates; from the second of each shape on, by a captured graph."""

    def __init__(self) -> None:
        self._graphs: dict[int, tuple[Mapping[str, int], Callable[..., Tensor] | None]] = {}
        self._pool = torch.cuda.graph_pool_handle()

    def update(self, update: Update, items: Tensor, epochs: Tensor, keys: Tensor, longest: Mapping[str, int]) -> Tensor:
        """Do this update, which must be the same function every time.

        It is not stored: a reference cycle with its fleet would keep the device's memory until garbage collection.
        """
        inputs = items, epochs, keys
        lengths, replay = self._graphs.get(longest[ACTIONS], ({}, None))
        if lengths != longest:
            # The first use compiles kernels, which cannot be captured.
            self._graphs[longest[ACTIONS]] = (dict(longest), None)
            return update(*inputs, longest)
        if replay is None:
            replay = self._captured(update, inputs, longest)
            self._graphs[longest[ACTIONS]] = (lengths, replay)
        return replay(*inputs)

    def _captured(
        self, update: Update, inputs: tuple[Tensor, Tensor, Tensor], longest: Mapping[str, int]
    ) -> Callable[..., Tensor]:
        items, epochs, keys = buffers = [tensor.clone() for tensor in inputs]
        graph = torch.cuda.CUDAGraph()
        gc.collect()
        gc.disable()  # it would free other graphs and device memory, which is not possible during a capture
        try:
            with torch.cuda.graph(graph, pool=self._pool):
                losses = update(items, epochs, keys, longest)
        finally:
            gc.enable()

        def replay(*inputs: Tensor) -> Tensor:
            for buffer, tensor in zip(buffers, inputs, strict=True):
                buffer.copy_(tensor)
            graph.replay()
            return losses.clone()  # the next replay overwrites it

        return replay
