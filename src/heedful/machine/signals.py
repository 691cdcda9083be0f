"""Ctrl-C and SIGTERM as a request to stop, for the command line; a notebook keeps its own."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from heedful.errors import StoppedError


@contextmanager
def stop_on_signals() -> Iterator[threading.Event]:
    """Turn the first SIGINT or SIGTERM into a request to stop; a second one ends at once."""
    stop, received = threading.Event(), []

    def request(number: int, frame: FrameType | None) -> None:
        received.append(number)
        stop.set()
        restore()

    def restore() -> None:
        for number, handler in before.items():
            signal.signal(number, handler)

    before = {number: signal.signal(number, request) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield stop
    except StoppedError as stopped:
        if received:  # by this process, and not by another that trains with it
            stopped.exit_code = 128 + received[0]
        raise
    finally:
        restore()


@contextmanager
def ended_by_sigterm() -> Iterator[None]:
    """Let SIGTERM end a block by an error, as Ctrl-C does, so that it leaves nothing behind."""

    def end(number: int, frame: FrameType | None) -> None:
        stopped = StoppedError("stopped; nothing is written")
        stopped.exit_code = 128 + number
        raise stopped

    before = signal.signal(signal.SIGTERM, end)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
