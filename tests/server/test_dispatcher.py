import asyncio
import threading
from collections.abc import Sequence
from dataclasses import dataclass, field

import pytest

from heedful.server.dispatcher import BusyError, Dispatcher
from heedful.server.metrics import Metrics
from tests.server.loops import run_apart


@dataclass(eq=False)
class Gate:
    """A manner of translating that waits to be let go on, and keeps a list of its batches."""

    is_repeatable: bool = True
    bad: str = ""
    is_open: threading.Event = field(default_factory=threading.Event)
    batches: list[list[str]] = field(default_factory=list)

    def translate(self, texts: Sequence[str]) -> list[str]:
        self.batches.append(list(texts))
        assert self.is_open.wait(30)
        if self.bad in texts and self.bad:
            raise ValueError(self.bad)
        return [text.upper() for text in texts]


def open_gate(**how) -> Gate:
    gate = Gate(**how)
    gate.is_open.set()
    return gate


def run(work, *, workers: int = 1, most_waiting: int = 1_000, cache: int = 100, **how):
    """Run a coroutine function with a dispatcher."""
    metrics = Metrics()

    async def all_of_it():
        async with Dispatcher(
            workers=workers, most_waiting=most_waiting, cache=cache, metrics=metrics, **how
        ) as dispatcher:
            return await asyncio.wait_for(work(dispatcher), 30)

    return run_apart(all_of_it())


async def turns(number: int = 5) -> None:
    for _ in range(number):
        await asyncio.sleep(0)


async def until(condition) -> None:
    while not condition():
        await asyncio.sleep(0.001)


def test_what_comes_while_a_worker_is_busy_goes_together_afterwards():
    gate = Gate()

    async def work(dispatcher):
        def ask(text):
            return asyncio.create_task(dispatcher.translate(gate, [text], f"client {text}"))

        asked = [ask("a")]
        await until(lambda: gate.batches)
        asked += map(ask, "bcd")
        await turns()
        gate.is_open.set()
        return await asyncio.gather(*asked)

    assert run(work) == [["A"], ["B"], ["C"], ["D"]]
    assert gate.batches == [["a"], ["b", "c", "d"]]


def test_a_book_does_not_hold_up_a_word():
    gate = Gate()
    book = [f"sentence {number:03}" + "." * 50 for number in range(40)]
    done = []

    async def work(dispatcher):
        async def read(texts, client):
            await dispatcher.translate(gate, texts, client)
            done.append(client)

        reading = asyncio.create_task(read(book, "reader"))
        await until(lambda: gate.batches)
        word = asyncio.create_task(read(["word"], "passer-by"))
        await turns()
        gate.is_open.set()
        await asyncio.gather(reading, word)

    run(work, most_waiting=10_000)
    assert done == ["passer-by", "reader"]
    assert "word" in gate.batches[1]


def test_so_it_is_among_the_requests_of_one_client():
    """All who are behind one proxy may look like one."""
    gate = Gate()
    book = ["a" * 100 + str(number) for number in range(40)]

    async def work(dispatcher):
        reading = asyncio.create_task(dispatcher.translate(gate, book, "all"))
        await until(lambda: gate.batches)
        word = asyncio.create_task(dispatcher.translate(gate, ["word"], "all"))
        await turns()
        gate.is_open.set()
        await asyncio.gather(reading, word)

    run(work, most_waiting=10_000)
    assert "word" in gate.batches[1]


def test_manners_do_not_mix_and_none_waits_for_ever():
    one, other = Gate(), open_gate()

    async def work(dispatcher):
        asked = []
        for round in range(20):
            asked += [
                asyncio.create_task(dispatcher.translate(one, [f"{client}{round}" * 40], client))
                for client in "ab"
            ]
        await until(lambda: one.batches)
        asked.append(asyncio.create_task(dispatcher.translate(other, ["c"], "c")))
        await turns()
        one.is_open.set()
        await asked[-1]
        waiting = [task for task in asked if not task.done()]
        await asyncio.gather(*asked)
        return len(waiting)

    assert run(work, most_waiting=10_000) > 10
    assert other.batches == [["c"]]


def test_equal_texts_are_translated_once_and_remembered():
    gate = Gate()

    async def work(dispatcher):
        asked = [
            asyncio.create_task(dispatcher.translate(gate, ["a", "a"], client)) for client in "xyz"
        ]
        await until(lambda: gate.batches)
        gate.is_open.set()
        first = await asyncio.gather(*asked)
        return first, await dispatcher.translate(gate, ["a"], "later")

    assert run(work) == ([["A", "A"]] * 3, ["A"])
    assert gate.batches == [["a"]]


def test_what_is_drawn_by_chance_is_drawn_each_time():
    gate = open_gate(is_repeatable=False)

    async def work(dispatcher):
        await asyncio.gather(*(dispatcher.translate(gate, ["a"], client) for client in "xy"))
        await dispatcher.translate(gate, ["a"], "x")

    run(work)
    assert sum(map(len, gate.batches)) == 3


@pytest.mark.parametrize(("cache", "times"), [(0, 2), (1, 2), (2, 1)])
def test_what_was_not_asked_for_for_the_longest_time_is_forgotten(cache, times):
    gate = open_gate()

    async def work(dispatcher):
        for text in "aba":
            await dispatcher.translate(gate, [text], "x")

    run(work, cache=cache)
    assert gate.batches.count(["a"]) == times


def test_who_waits_with_somebody_else_has_a_turn_of_his_own():
    """The word stands late in the book, but whoever asks for it alone does not wait so long."""
    gate = Gate()
    book = ["a" * 200 + str(number) for number in range(30)] + ["word"]

    async def work(dispatcher):
        reading = asyncio.create_task(dispatcher.translate(gate, book, "reader"))
        await until(lambda: gate.batches)
        word = asyncio.create_task(dispatcher.translate(gate, ["word"], "passer-by"))
        await turns()
        gate.is_open.set()
        await asyncio.gather(reading, word)

    run(work, most_waiting=100_000)
    assert "word" in gate.batches[1]
    assert sum(batch.count("word") for batch in gate.batches) == 1


def test_who_has_left_is_not_translated_for():
    gate = Gate()

    async def work(dispatcher):
        first = asyncio.create_task(dispatcher.translate(gate, ["a"], 1))
        await until(lambda: gate.batches)
        gone = asyncio.create_task(dispatcher.translate(gate, ["b", "both"], 2))
        stays = asyncio.create_task(dispatcher.translate(gate, ["both"], 3))
        await turns()
        gone.cancel()
        await turns()
        waiting = dispatcher.waiting
        gate.is_open.set()
        return waiting, await first, await stays

    assert run(work) == (len("both"), ["A"], ["BOTH"])
    assert gate.batches == [["a"], ["both"]]


def test_where_too_much_waits_one_is_told_when_to_come_again():
    gate, now = Gate(), [0.0]

    def clock():
        now[0] += 5.0  # at each look, so that a batch takes as long
        return now[0]

    async def work(dispatcher):
        slow = open_gate()
        await dispatcher.translate(slow, ["a" * 10], "x")
        tasks = [asyncio.create_task(dispatcher.translate(gate, ["a" * 100], 1))]
        await until(lambda: gate.batches)
        tasks.append(asyncio.create_task(dispatcher.translate(gate, ["b" * 90], 2)))
        await turns()
        with pytest.raises(BusyError, match="try again in 1 seconds") as caught:
            await dispatcher.translate(gate, ["c" * 20], 3)
        await dispatcher_is_patient(dispatcher, gate, tasks)
        return caught.value.seconds

    async def dispatcher_is_patient(dispatcher, gate, tasks):
        patient = asyncio.create_task(dispatcher.translate(gate, ["c" * 20], 3, is_patient=True))
        await turns()
        assert dispatcher.waiting == 90
        gate.is_open.set()
        await asyncio.gather(patient, *tasks)

    assert run(work, most_waiting=100, clock=clock) == 1


def test_the_time_to_wait_comes_from_what_was_measured():
    now = [0.0]

    def clock():
        now[0] += 5.0
        return now[0]

    async def work(dispatcher):
        for number in range(40):
            await dispatcher.translate(open_gate(), [str(number).zfill(50)], "x")  # 10 a second
        gate = Gate()
        asked = [asyncio.create_task(dispatcher.translate(gate, ["a" * 300], 1))]
        await until(lambda: gate.batches)
        asked.append(asyncio.create_task(dispatcher.translate(gate, ["b" * 300], 1)))
        await turns()
        seconds = dispatcher.seconds_to_wait
        gate.is_open.set()
        await asyncio.gather(*asked)
        return seconds

    assert 28 <= run(work, clock=clock) <= 30


def test_a_text_that_fails_does_not_take_others_with_it():
    gate = Gate(bad="b")

    async def work(dispatcher):
        first = asyncio.create_task(dispatcher.translate(gate, ["x"], 0))
        await until(lambda: gate.batches)
        asked = [asyncio.create_task(dispatcher.translate(gate, [it], it)) for it in "abc"]
        await turns()
        gate.is_open.set()
        await first
        return await asyncio.gather(*asked, return_exceptions=True)

    good, bad, last = run(work)
    assert (good, last) == (["A"], ["C"])
    assert isinstance(bad, ValueError)


def test_after_an_error_the_same_text_is_tried_again():
    gate = open_gate(bad="a")

    async def work(dispatcher):
        with pytest.raises(ValueError, match="a"):
            await dispatcher.translate(gate, ["a"], 1)
        gate.bad = ""
        return await dispatcher.translate(gate, ["a"], 1)

    assert run(work) == ["A"]


def test_nothing_is_kept_of_what_is_done():
    gate = open_gate()

    async def work(dispatcher):
        for number in range(100):
            await dispatcher.translate(gate, [str(number)], f"client {number}")
        return [
            len(value) for name, value in vars(dispatcher).items() if name in ("_queues", "_open")
        ], dispatcher.waiting

    assert run(work, cache=0) == ([0, 0], 0)
