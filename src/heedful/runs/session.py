"""One sitting at a run: who may stop it, who takes part, and how long it has taken."""

import threading
from dataclasses import dataclass, replace

from heedful.errors import StoppedError
from heedful.machine.processes import Processes
from heedful.runs.budget import Stopwatch


@dataclass(frozen=True, kw_only=True)
class Session:
    """What all models have in common that one command trains, each with a stopwatch of its own."""

    stop: threading.Event
    processes: Processes
    stopwatch: Stopwatch

    def anew(self) -> "Session":
        """Return the session for what comes next, whose time counts from zero."""
        return replace(self, stopwatch=self.stopwatch.anew())

    def refuse_if_asked_to_stop(self) -> None:
        """End in all processes when any of them was asked to."""
        if self.processes.any(self.stop.is_set()):
            raise StoppedError(
                "stopped before it goes on; run the same command, what is prepared stays"
            )
