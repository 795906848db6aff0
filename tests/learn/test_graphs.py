"""Updates by captured graphs; capturing itself is played by a stand-in, as it takes a GPU."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from reinflect.learn.graphs import ROUND_TO, Graphs, Lengths
from reinflect.systems.system import ACTIONS

MOST = {ACTIONS: 50, "symbols": 23}

updates = st.lists(
    st.fixed_dictionaries({ACTIONS: st.integers(1, MOST[ACTIONS]), "symbols": st.integers(1, MOST["symbols"])}),
    min_size=1,
    max_size=30,
)


@given(st.lists(updates, min_size=1, max_size=4))
def test_rounded_lengths_hold_every_update_and_never_more_than_there_is(epochs: list[list[dict[str, int]]]) -> None:
    lengths = Lengths(MOST)
    for epoch in epochs:
        rounded = lengths.rounded(epoch)
        for asked, given_ in zip(epoch, rounded, strict=True):
            assert all(asked[name] <= given_[name] <= MOST[name] for name in MOST)
            assert given_[ACTIONS] - asked[ACTIONS] < ROUND_TO
        # Where the number of actions is the same, everything is: one graph serves them all.
        assert len({tuple(one.items()) for one in rounded}) == len({one[ACTIONS] for one in rounded})


def test_lengths_met_once_are_kept() -> None:
    lengths = Lengths(MOST)
    lengths.rounded([{ACTIONS: 9, "symbols": 20}])
    assert lengths.rounded([{ACTIONS: 12, "symbols": 3}]) == [{ACTIONS: 12, "symbols": 20}]


def summed(items: Tensor, epochs: Tensor, keys: Tensor) -> Tensor:
    return items.sum(dim=1) * 100 + epochs * 10 + keys


class Recorder:
    """An update that adds up its items, and remembers how often it was really called."""

    def __init__(self) -> None:
        self.calls = 0

    def __call__(self, items: Tensor, epochs: Tensor, keys: Tensor, longest: Mapping[str, int]) -> Tensor:
        assert longest
        self.calls += 1
        result = summed(items, epochs, keys)
        if Capture.active is not None:
            Capture.active.again, Capture.active.result = lambda: summed(items, epochs, keys), result
        return result


class Capture:
    """In place of a CUDA graph: a replay does again what was captured, with what its tensors hold by then."""

    active: "Capture | None" = None
    made = 0

    def __init__(self) -> None:
        Capture.made += 1
        self.again: Any = None
        self.result: Tensor | None = None

    def replay(self) -> None:
        assert self.result is not None
        self.result.copy_(self.again())


@pytest.fixture
def captures(monkeypatch: pytest.MonkeyPatch) -> None:
    Capture.made = 0

    @contextmanager
    def capturing(graph: Capture, **_: object) -> Iterator[None]:
        Capture.active = graph
        yield
        Capture.active = None

    monkeypatch.setattr(torch.cuda, "CUDAGraph", Capture)
    monkeypatch.setattr(torch.cuda, "graph", capturing)
    monkeypatch.setattr(torch.cuda, "graph_pool_handle", lambda: (0, 0))


@pytest.mark.usefixtures("captures")
def test_updates_by_graphs_are_the_same_updates() -> None:
    update = Recorder()
    graphs = Graphs()
    generator = torch.Generator().manual_seed(1)
    results, expected = [], []
    for number in range(12):
        items = torch.randint(0, 9, (3, 2), generator=generator)
        epochs, keys = torch.randint(0, 9, (2, 3), generator=generator)
        longest = {ACTIONS: 8 + 4 * (number % 2), "symbols": 6 if number < 8 else 7}
        results.append(graphs.update(update, items, epochs, keys, longest))
        expected.append(summed(items, epochs, keys))
    assert torch.equal(torch.stack(results), torch.stack(expected))
    # For each of two lengths: as usual and captured, and once more each when the lemmas were longer.
    assert (update.calls, Capture.made) == (8, 4)
