"""Work that goes on while its results are used."""

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")


def ahead(
    work: Callable[[Item], Result], items: Iterable[Item], *, at_once: int
) -> Iterator[Result]:
    """Yield the result for every item in order, while the work on the next ones goes on."""
    pool = ThreadPoolExecutor(at_once)
    begun: deque[Future[Result]] = deque()
    try:
        for item in items:
            begun.append(pool.submit(work, item))
            if len(begun) > at_once:
                yield begun.popleft().result()
        while begun:
            yield begun.popleft().result()
    finally:
        pool.shutdown(cancel_futures=True)
