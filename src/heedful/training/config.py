"""How to train; read without torch."""

import math
from dataclasses import dataclass

from heedful.errors import ConfigError, refuse_other

_HIGHEST_RATE = 1e12  # far beyond any that works
_MOST_MINUTES = 10_000_000  # nineteen years


@dataclass(frozen=True, kw_only=True)
class TrainingConfig:
    """How to train. The defaults are those of section 5 for the base model."""

    steps: int = 100_000
    """Optimiser steps at most (section 5.2); 0 for as many as `minutes` allow."""

    minutes: float = 0.0
    """Time for the whole run, from reading the corpus to the finished model; 0 counts steps."""

    batch_tokens: int = 25_000
    """Source and target pieces in a batch, each at most, padding included (section 5.1)."""

    accumulate: int = 1
    """Gradient accumulation: batches summed for one step; 8 GPUs' worth on one machine is 8."""

    schedule: str = "noam"
    """Equation 3 ("noam"), or a like climb and then a straight fall to zero ("linear")."""

    warmup_steps: int = 4_000
    """Steps over which the learning rate climbs (section 5.3)."""

    peak_rate: float = 0.0
    """Highest learning rate, at the end of the climb; 0 means that of equation 3."""

    optimizer: str = "adam"
    """Adam for all (section 5.3, "adam"), or Muon for the matrices in the layers ("muon")."""

    label_smoothing: float = 0.1
    """ε_ls, the probability shared out over the whole vocabulary (section 5.4)."""

    teachers: float = 0.0
    """How long two models, one each way, train before this one, which learns from what they make
    of the corpus too: each for so much of its own steps or minutes; 0 has none."""

    rivals: float = 1.0
    """Sampled softmax: the share of the vocabulary that a batch is scored against; 1 is all."""

    validate_every: int = 1_000
    """Steps between two validations, each of which also saves a checkpoint."""

    average_last: int = 5
    """Checkpoints at most whose mean becomes the model (section 6.1); as many as validate best."""

    patience: int = 0
    """Validations without a better loss after which to stop; 0 goes on to the last step."""

    precision: str = "float32"
    """Of matrix products: "float32", or "bfloat16" on a GPU that has it."""

    seed: int = 2017
    """Fixes initial weights, data order, dropout and rivals."""

    def __post_init__(self) -> None:
        for name in (
            "batch_tokens", "accumulate", "warmup_steps", "validate_every", "average_last",
        ):  # fmt: skip
            if getattr(self, name) < 1:
                raise ConfigError(f"{name} must be at least 1, got {getattr(self, name)}")
        for name in ("patience", "teachers", "peak_rate"):
            if not 0 <= getattr(self, name) < math.inf:
                raise ConfigError(f"{name} must not be negative, got {getattr(self, name):g}")
        if self.peak_rate > _HIGHEST_RATE:
            raise ConfigError(f"peak_rate must be at most {_HIGHEST_RATE}, got {self.peak_rate:g}")
        if not 0 <= self.seed < 1 << 32:
            raise ConfigError(f"seed must be from 0 to {(1 << 32) - 1}, got {self.seed}")
        if not 0 <= self.label_smoothing < 1:
            raise ConfigError(f"label_smoothing must be in [0, 1), got {self.label_smoothing}")
        if not 0 < self.rivals <= 1:
            raise ConfigError(f"rivals must be above 0 and at most 1, got {self.rivals}")
        refuse_other("schedule", self.schedule, ("noam", "linear"))
        refuse_other("optimizer", self.optimizer, ("adam", "muon"))
        refuse_other("precision", self.precision, ("float32", "bfloat16"))
        self._refuse_odd_lengths()

    def _refuse_odd_lengths(self) -> None:
        if not 0 <= self.minutes < math.inf:
            raise ConfigError(f"minutes must be a number above 0, got {self.minutes:g}")
        if self.minutes > _MOST_MINUTES:
            raise ConfigError(f"minutes must be at most {_MOST_MINUTES:,}, got {self.minutes:g}")
        if self.steps < 1 and not self.minutes:
            raise ConfigError(
                f"steps must be at least 1, got {self.steps}; or give minutes above 0"
            )
        if self.steps and self.minutes:
            raise ConfigError(
                f"steps = {self.steps} and minutes = {self.minutes:g} are both given; choose one"
            )
        for whose, steps in ("", self.steps), (" of the teachers", self.teacher_steps):
            if self.schedule == "linear" and self.warmup_steps > steps > 0:
                raise ConfigError(
                    f"warmup_steps must not exceed the steps{whose}, got {self.warmup_steps} of "
                    f"{steps}"
                )

    @property
    def teacher_steps(self) -> int:
        """Steps of each teacher; 0 when minutes are counted, or there is none."""
        return max(round(self.teachers * self.steps), 1) if self.teachers and self.steps else 0

    @property
    def teacher_minutes(self) -> float:
        """Minutes of each teacher; 0 when steps are counted, or there is none."""
        return self.teachers * self.own_minutes

    @property
    def own_minutes(self) -> float:
        """What teachers leave of the minutes to the model itself."""
        return self.minutes / (1 + 2 * self.teachers)
