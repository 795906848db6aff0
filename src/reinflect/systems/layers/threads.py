"""How many threads torch uses on a CPU."""

from collections.abc import Iterator
from contextlib import contextmanager

import torch


@contextmanager
def one_thread(device: torch.device | str = "cpu") -> Iterator[None]:
    """One, while the block lasts; work on another device is left alone.

    The operations are small, so threads mostly wait for each other: two gain an eighth on an idle machine and make the
    work fifty times longer on a busy one. One also makes every run the same.
    """
    before = torch.get_num_threads()
    if torch.device(device).type == "cpu":
        torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)
