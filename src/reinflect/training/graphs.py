"""Updates as captured CUDA graphs.

An update is hundreds of small kernels, which the host takes longer to launch than the device to run. Captured once, all
of them are one launch. What is captured has fixed shapes, so updates of nearly the same length share a graph.
"""

import gc
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor

from reinflect.systems.layers.examples import TARGETS

ROUND_TO = 4
"""Lengths of updates that share a graph differ by less than this."""

Update = Callable[[Tensor, Tensor, Mapping[str, int]], Tensor]
"""An update, given its items (M, B), its keys (M) and how long its arrays are; the losses (M)."""


class Lengths:
    """Rounds the lengths of updates up, so that there are few different ones.

    Updates with nearly the same number of actions are given arrays of the same lengths: the longest met so far.
    """

    def __init__(self, most: Mapping[str, int]) -> None:
        """`most`: how long each of the arrays can be."""
        self._most = most
        self._met: dict[int, dict[str, int]] = {}

    def rounded(self, updates: Sequence[Mapping[str, int]]) -> list[dict[str, int]]:
        for longest in updates:
            known = self._met.setdefault(self._up(TARGETS, longest), {})
            for name in longest:
                known[name] = max(known.get(name, 0), self._up(name, longest))
        return [dict(self._met[self._up(TARGETS, longest)]) for longest in updates]

    def _up(self, name: str, longest: Mapping[str, int]) -> int:
        return min(-(-longest[name] // ROUND_TO) * ROUND_TO, self._most[name])


class Graphs:
    """Does updates, from the second of each shape on by a captured graph."""

    def __init__(self) -> None:
        self._graphs: dict[int, tuple[Mapping[str, int], _Graph | None]] = {}
        self._pool = torch.cuda.graph_pool_handle()

    def update(self, update: Update, items: Tensor, keys: Tensor, longest: Mapping[str, int]) -> Tensor:
        """Do this update, which must be the same function every time.

        It is not kept: it belongs to whoever has the graphs, and the two would hold each other, and the device's
        memory, until somebody collects garbage.
        """
        lengths, graph = self._graphs.get(longest[TARGETS], ({}, None))
        if lengths != longest:
            # As usual: what is used for the first time is compiled or made ready, and is not fit to be captured.
            self._graphs[longest[TARGETS]] = (dict(longest), None)
            return update(items, keys, longest)
        if graph is None:
            graph = _Graph(update, items, keys, longest, self._pool)
            self._graphs[longest[TARGETS]] = (lengths, graph)
        return graph.replay(items, keys)


class _Graph:
    def __init__(self, update: Update, items: Tensor, keys: Tensor, longest: Mapping[str, int], pool: Any) -> None:
        self._items, self._keys = items.clone(), keys.clone()
        self._graph = torch.cuda.CUDAGraph()
        with _no_garbage_collected(), torch.cuda.graph(self._graph, pool=pool):
            self._losses = update(self._items, self._keys, longest)

    def replay(self, items: Tensor, keys: Tensor) -> Tensor:
        self._items.copy_(items)
        self._keys.copy_(keys)
        self._graph.replay()
        return self._losses.clone()  # the next replay writes over it


@contextmanager
def _no_garbage_collected() -> Iterator[None]:
    """Garbage may hold other graphs and memory of the device, which cannot be given back while one is captured."""
    enabled = gc.isenabled()
    gc.collect()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()
