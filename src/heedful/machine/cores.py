"""The cores of this machine, shared out among pieces of work that go on side by side.

A small model's work is thousands of small operations. Cutting each of them over the cores leaves
the cores waiting for one another; giving each core a piece of work leaves them alone.
"""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache
from typing import TypeVar

import torch

Item = TypeVar("Item")
Result = TypeVar("Result")


def num_cores(device: torch.device) -> int:
    """Count the cores that work on this device can be shared out over; a GPU is one."""
    return torch.get_num_threads() if device.type == "cpu" else 1


def side_by_side(
    work: Callable[[Item], Result], items: Sequence[Item], *, at_once: int
) -> list[Result]:
    """Do the work on every item, `at_once` at a time on an equal share of the cores each."""
    if at_once == 1 or len(items) < 2:
        return [work(item) for item in items]
    with _intra_op_threads(max(torch.get_num_threads() // at_once, 1)) as threads_each:
        return list(_pool(at_once, threads_each).map(work, items))


@cache
def _pool(num_workers: int, threads_each: int) -> ThreadPoolExecutor:
    return ThreadPoolExecutor(
        num_workers, initializer=torch.set_num_threads, initargs=(threads_each,)
    )


@contextmanager
def _intra_op_threads(num: int) -> Iterator[int]:
    before = torch.get_num_threads()
    torch.set_num_threads(num)
    try:
        yield num
    finally:
        torch.set_num_threads(before)
