"""Work that goes on while its results are used."""

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import chain
from typing import TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")


def ahead(
    work: Callable[[Item], Result], items: Iterable[Item | None], *, at_once: int
) -> Iterator[Result]:
    """Yield the result for every item in order, while the work on the next ones goes on.

    Where there is None among the items, all results so far come before the next is asked for.
    """
    pool = ThreadPoolExecutor(at_once)
    begun: deque[Future[Result]] = deque()
    try:
        for item in chain(items, [None]):
            if item is not None:
                begun.append(pool.submit(work, item))
            while len(begun) > (0 if item is None else at_once):
                yield begun.popleft().result()
    finally:
        # Not waiting: it may be the pool's own thread that clears away an abandoned generator.
        pool.shutdown(wait=False, cancel_futures=True)
