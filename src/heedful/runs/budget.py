"""Time as a budget: how long a run has been at work, and how much of its training is over."""

import time
from collections.abc import Callable
from dataclasses import dataclass

AIM = 0.98  # of the minutes, so that what is misjudged does not break the promise
RESERVE = 0.1  # of the time, kept for the end until a validation tells what it takes
LARGEST_RESERVE = 0.25  # of the time, whatever it tells


class Stopwatch:
    """Counts the seconds of one run from when it was made."""

    def __init__(self, clock: Callable[[], float] = time.perf_counter) -> None:
        self._clock = clock
        self._began = clock()

    @property
    def seconds(self) -> float:
        """What it shows."""
        return self._clock() - self._began

    def add(self, seconds: float) -> None:
        """Show so much more, for work that was done in an earlier session."""
        self._began -= seconds

    def anew(self) -> "Stopwatch":
        """Return one that goes by the same clock and counts from zero."""
        return Stopwatch(self._clock)


@dataclass(frozen=True)
class Limit:
    """Seconds that something may take."""

    seconds: float
    stopwatch: Stopwatch

    @property
    def is_over(self) -> bool:
        """Whether they have passed."""
        return self.stopwatch.seconds >= self.seconds


def part_over(seconds: float, *, began: float, end: float) -> float:
    """Return the part of the time for training that is over; at 1 it is time to finish."""
    return (seconds - began) / (end - began) if seconds < end else 1.0
