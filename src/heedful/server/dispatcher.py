"""One queue for all requests: what waits is translated together, and clients take turns.

Everything but the translating itself happens in the event loop, so nothing is locked.
"""

import asyncio
import math
import time
from collections import OrderedDict, deque
from collections.abc import Callable, Hashable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from itertools import count
from typing import Any, Protocol, runtime_checkable

from heedful.server.metrics import Metrics

_SLICE = 0.25  # seconds that a batch should take: as long may a word wait behind a book
_LEAST, _MOST = 500, 16_000  # characters of a batch
_FIRST_SPEED = 4_000.0  # characters a second of one worker, before any was measured
_LONGEST_WAIT = 120


@runtime_checkable
class Manner(Protocol):
    """How a text is translated. Those that are equal go together."""

    @property
    def is_repeatable(self) -> bool:
        """Whether the same text is translated the same again."""

    def translate(self, texts: Sequence[str]) -> Sequence[Any]:
        """Translate some texts at once."""

    def __hash__(self) -> int: ...


class BusyError(Exception):
    """Too much is waiting; so many seconds later there may be room."""

    def __init__(self, seconds: int) -> None:
        super().__init__(f"try again in {seconds} seconds")
        self.seconds = seconds


@dataclass(eq=False)
class _Item:
    """A text that waits, once for all who want it."""

    manner: Manner
    text: str
    result: "asyncio.Future[Any]"
    wanted: int = 0
    is_begun: bool = False


Requests = OrderedDict[int, "deque[_Item]"]


@dataclass
class _Cache:
    """What was translated last."""

    size: int
    found: OrderedDict[Hashable, Any] = field(default_factory=OrderedDict)

    def get(self, key: Hashable) -> Any:
        """Return what was found, or None."""
        if key not in self.found:
            return None
        self.found.move_to_end(key)
        return self.found[key]

    def put(self, key: Hashable, value: Any) -> None:
        """Remember something, and forget what was not asked for for the longest time."""
        if self.size:
            self.found[key] = value
            if len(self.found) > self.size:
                self.found.popitem(last=False)


class Dispatcher:
    """Translates what clients ask for, as many batches at once as there are workers."""

    def __init__(
        self,
        *,
        workers: int,
        most_waiting: int,
        cache: int,
        metrics: Metrics,
        clock: Callable[[], float] = time.perf_counter,
    ) -> None:
        self.num_workers, self.most_waiting = workers, most_waiting
        self.waiting = 0
        """Characters that no worker has taken yet."""
        self._metrics, self._clock = metrics, clock
        self._cache = _Cache(cache)
        self._queues: OrderedDict[Hashable, Requests] = OrderedDict()
        self._open: dict[Hashable, _Item] = {}
        self._numbers = count()
        self._speed = _FIRST_SPEED
        self._new = asyncio.Event()
        self._room = asyncio.Event()
        self._pool = ThreadPoolExecutor(workers, thread_name_prefix="translate")
        self._workers: list[asyncio.Task[None]] = []

    async def __aenter__(self) -> "Dispatcher":
        self._workers = [asyncio.create_task(self._work()) for _ in range(self.num_workers)]
        return self

    async def __aexit__(self, *_: object) -> None:
        for worker in self._workers:
            worker.cancel()
        await asyncio.gather(*self._workers, return_exceptions=True)
        self._pool.shutdown(wait=True, cancel_futures=True)

    async def translate(
        self, manner: Manner, texts: Sequence[str], client: Hashable, *, is_patient: bool = False
    ) -> list[Any]:
        """Translate texts for a client, who waits in line with others.

        If too much is waiting already, that is an error, unless the client is patient.
        """
        found = {text: self._cache.get((manner, text)) for text in texts}
        missing = [text for text, translation in found.items() if translation is None]
        self._metrics.cached.inc(len(found) - len(missing))
        if missing:
            size = sum(len(text) for text in missing if (manner, text) not in self._open)
            await self._make_sure_of_room(size, is_patient)
            items = self._queue(manner, missing, client)
            try:
                await asyncio.wait([item.result for item in items])
            finally:
                self._let_go(items)
            found |= {item.text: item.result.result() for item in items}
        return [found[text] for text in texts]

    @property
    def seconds_to_wait(self) -> int:
        """How long it takes, by what was measured, until all that waits is done."""
        seconds = math.ceil(self.waiting / (self._speed * self.num_workers))
        return min(max(seconds, 1), _LONGEST_WAIT)

    async def _make_sure_of_room(self, size: int, is_patient: bool) -> None:
        while self.waiting and self.waiting + size > self.most_waiting:
            if not is_patient:
                self._metrics.rejected.inc()
                raise BusyError(self.seconds_to_wait)
            self._room.clear()
            await self._room.wait()

    def _queue(self, manner: Manner, texts: Sequence[str], client: Hashable) -> list[_Item]:
        """Put texts in line, also those that wait in the line of somebody else already."""
        items = []
        for text in texts:
            item = self._open.get((manner, text)) if manner.is_repeatable else None
            if item is None:
                item = _Item(manner, text, asyncio.get_running_loop().create_future())
                self.waiting += len(text)
                if manner.is_repeatable:
                    self._open[manner, text] = item
            else:
                self._metrics.joined.inc()
            item.wanted += 1
            items.append(item)
        line = deque(item for item in items if not item.is_begun)
        if line:
            self._queues.setdefault(client, OrderedDict())[next(self._numbers)] = line
            self._new.set()
        self._metrics.waiting.set(self.waiting)
        return items

    def _let_go(self, items: Sequence[_Item]) -> None:
        """Forget what nobody wants any more, before it is begun."""
        for item in items:
            item.wanted -= 1
            if not item.wanted and not item.is_begun:
                self._metrics.dropped.inc()
                self._taken(item)
                self._open.pop((item.manner, item.text), None)
                item.result.cancel()

    def _taken(self, item: _Item) -> None:
        item.is_begun = True
        self.waiting -= len(item.text)
        self._metrics.waiting.set(self.waiting)
        self._room.set()

    def _take(self) -> list[_Item]:
        """Take what is translated next: of each client in turn a text, all in one manner."""
        batch: list[_Item] = []
        size, passed_over = 0, list[tuple[Hashable, Requests]]()
        budget = min(max(self._speed * _SLICE, _LEAST), _MOST)
        while self._queues and size < budget:
            client, requests = self._queues.popitem(last=False)
            item = _next_of(requests, batch[0].manner if batch else None)
            if item:
                self._taken(item)
                batch.append(item)
                size += len(item.text)
                if requests:
                    self._queues[client] = requests
            elif requests:
                passed_over.append((client, requests))
        for client, requests in reversed(passed_over):  # who keep their place
            self._queues[client] = requests
            self._queues.move_to_end(client, last=False)
        return batch

    async def _work(self) -> None:
        """Be one worker."""
        loop = asyncio.get_running_loop()
        while True:
            batch = self._take()
            if not batch:
                self._new.clear()
                await self._new.wait()
                continue
            manner, texts = batch[0].manner, [item.text for item in batch]
            self._metrics.batches.observe(len(batch))
            began = self._clock()
            try:
                found = await loop.run_in_executor(self._pool, _each, manner, texts)
            except asyncio.CancelledError:
                for item in batch:
                    item.result.cancel()
                raise
            self._measure(sum(map(len, texts)), self._clock() - began)
            self._hand_out(batch, found)

    def _hand_out(self, batch: Sequence[_Item], found: Sequence[Any]) -> None:
        for item, result in zip(batch, found, strict=True):
            key = (item.manner, item.text)
            if self._open.get(key) is item:
                del self._open[key]
            if isinstance(result, Exception):
                item.result.set_exception(result)
                item.result.exception()  # which who asked for it may not be there to see
                continue
            if item.manner.is_repeatable:
                self._cache.put(key, result)
            item.result.set_result(result)

    def _measure(self, characters: int, seconds: float) -> None:
        """Go along with the speed, of which short texts tell little."""
        if seconds > 0:
            weight = min(seconds / _SLICE, 1) / 4
            self._speed += weight * (max(characters / seconds, 1.0) - self._speed)


def _next_of(requests: Requests, manner: Manner | None) -> _Item | None:
    """Take the next text of a client, of its requests in turn; in a manner if one is given."""
    for number in list(requests):
        line = requests[number]
        while line and line[0].is_begun:  # by another client's turn, or nobody wants it
            line.popleft()
        if not line:
            del requests[number]
        elif manner is None or line[0].manner == manner:
            item = line.popleft()
            requests.move_to_end(number)
            if not line:
                del requests[number]
            return item
    return None


def _each(manner: Manner, texts: Sequence[str]) -> Sequence[Any]:
    """Translate texts together; if that fails, alone, so that each has its own error."""
    try:
        return manner.translate(texts)
    except Exception as error:
        if len(texts) == 1:
            return [error]
        return [_each(manner, [text])[0] for text in texts]
