"""A loss that goes the wrong way."""

import math
from dataclasses import dataclass

LOWEST_RATE_SCALE = 1 / 16  # four times halved; what diverges still has another trouble

_MEMORY = 0.95  # of the running mean, so that one odd batch raises no alarm
_ALARM = 2.0  # nats above the best: the perplexity is more than seven times what it was
_CONCERN = 1.0  # nats above the best: not a state to go back to


@dataclass
class LossWatch:
    """Notices when the training loss is no longer a number, or has left its best far behind."""

    smoothed: float = math.inf
    """The running mean of the loss."""
    best: float = math.inf
    """The lowest that the running mean has been."""

    def add(self, loss: float) -> None:
        """Take the loss of one more step into account."""
        is_first = self.best == math.inf
        self.smoothed = loss if is_first else _MEMORY * self.smoothed + (1 - _MEMORY) * loss
        self.best = min(self.best, self.smoothed)

    @property
    def has_diverged(self) -> bool:
        """Whether there is no sense in going on."""
        return not math.isfinite(self.smoothed) or self.smoothed > self.best + _ALARM

    def is_sound(self, smoothed: float) -> bool:
        """Whether a state with such a running mean is one to go back to."""
        return smoothed <= self.best + _CONCERN
