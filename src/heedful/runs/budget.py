"""Time as a budget: how long a run has been at work, and how much of its training is over."""

import time
from collections.abc import Callable
from dataclasses import dataclass


class Stopwatch:
    """Counts the seconds since it was made or restarted."""

    def __init__(self, clock: Callable[[], float] = time.perf_counter) -> None:
        self._clock = clock
        self.restart()

    @property
    def seconds(self) -> float:
        """What it shows."""
        return self._clock() - self._began

    def restart(self) -> None:
        """Count from zero."""
        self._began = self._clock()

    def add(self, seconds: float) -> None:
        """Show so much more, for work that was done in an earlier session."""
        self._began -= seconds


@dataclass
class Budget:
    """The seconds that a run was promised to take, some of them kept for its end."""

    seconds: float
    stopwatch: Stopwatch
    reserve: float
    """Seconds that come after the last step: validation, mean, scoring, saving."""
    began: float = 0.0
    """Seconds that came before the first step: preparing, planning."""

    @property
    def progress(self) -> float:
        """The share of the time for training that is over; at 1 it is time to finish."""
        used, end = self.stopwatch.seconds, self.seconds - self.reserve
        return (used - self.began) / (end - self.began) if used < end else 1.0
