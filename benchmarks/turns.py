"""Systems that take a step on the same batch in turn, so that noise hits all alike."""

import os
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain
from multiprocessing import get_context
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Protocol

import torch

from benchmarks.flops import model_flops, sgemm_flops_per_second
from benchmarks.memory import peak_bytes
from benchmarks.systems import SYSTEMS
from heedful.data.batches import training_batches
from heedful.data.pair_ids import PairIds
from heedful.model.config import ModelConfig
from heedful.specials import PAD

_SEED = 2017


@dataclass(frozen=True, kw_only=True)
class Task:
    """What a system is to train, and on what."""

    system: str
    config: ModelConfig
    ids: Path
    batch_tokens: int
    threads: int


@dataclass(frozen=True, kw_only=True)
class Turn:
    """One step of one system, from asking for a batch to updated weights."""

    seconds: float
    pieces: int
    """Target pieces, padding aside."""
    flops: int
    """That the model needs for the real pieces of the batch."""
    loss: float
    peak_bytes: int
    """Most memory that the process has held so far."""
    seconds_to_first_batch: float

    @property
    def pieces_per_second(self) -> float:
        """Target pieces learned from in a second."""
        return self.pieces / self.seconds

    @property
    def flops_per_second(self) -> float:
        """Operations of the model, not of its program, in a second."""
        return self.flops / self.seconds


class Seat(Protocol):
    """Where a system sits: in this process or in one of its own."""

    def turn(self) -> Turn:
        """Take one step."""


class LocalSeat:
    """A system in this process, with its own view of the batches that all are given."""

    def __init__(self, task: Task) -> None:
        torch.set_num_threads(task.threads)
        torch.manual_seed(_SEED)
        self._config = task.config
        self._system = SYSTEMS[task.system](task.config)
        began = time.perf_counter()
        batches = training_batches(PairIds(task.ids), batch_tokens=task.batch_tokens, seed=_SEED)
        self._batches = chain([next(batches)], batches)
        self._seconds_to_first_batch = time.perf_counter() - began

    def turn(self) -> Turn:
        """Take one step."""
        began = time.perf_counter()
        batch = next(self._batches)
        loss = self._system(batch)
        seconds = time.perf_counter() - began
        sources = (batch.source != PAD).sum(dim=1).tolist()
        targets = (batch.wanted != PAD).sum(dim=1).tolist()
        return Turn(
            seconds=seconds,
            pieces=sum(targets),
            flops=model_flops(self._config, sources, targets),
            loss=loss,
            peak_bytes=peak_bytes(os.getpid()),
            seconds_to_first_batch=self._seconds_to_first_batch,
        )


class ProcessSeat:
    """A system in a process of its own, which sleeps between its turns."""

    def __init__(self, task: Task) -> None:
        context = get_context("spawn")
        self._connection, theirs = context.Pipe()
        self._process = context.Process(target=_serve, args=(theirs, task), daemon=True)
        self._process.start()
        theirs.close()

    def turn(self) -> Turn:
        """Take one step."""
        self._connection.send("step")
        turn: Turn = self._connection.recv()
        return turn

    def close(self) -> None:
        """End the process."""
        self._connection.close()
        self._process.join()


def _serve(connection: Connection, task: Task) -> None:
    seat = LocalSeat(task)
    try:
        while connection.recv():
            connection.send(seat.turn())
    except EOFError:  # the other end was closed
        return


@contextmanager
def process_seats(tasks: Mapping[str, Task]) -> Iterator[dict[str, ProcessSeat]]:
    """Seat every task in a process of its own, for the length of a block."""
    seats = {name: ProcessSeat(task) for name, task in tasks.items()}
    try:
        yield seats
    finally:
        for seat in seats.values():
            seat.close()


@dataclass(frozen=True)
class Round:
    """One turn of every seat, and the rate of matrix multiplication measured beside them."""

    turns: dict[str, Turn]
    sgemm: float


def take_turns(seats: Mapping[str, Seat], num_rounds: int) -> list[Round]:
    """Let every seat take a step on the same batch, round after round, the first unmeasured.

    Who begins changes from round to round.
    """
    names, rounds = list(seats), []
    for number in range(num_rounds + 1):
        print(f"round {number} of {num_rounds}", file=sys.stderr)
        first = number % len(names)
        sgemm = sgemm_flops_per_second()
        turns = {name: seats[name].turn() for name in names[first:] + names[:first]}
        rounds.append(Round(turns, sgemm))
    return rounds[1:]
