"""What a run is, beside its weights and what the optimisers remember."""

import math
from dataclasses import asdict, dataclass, field, fields
from typing import Any

from heedful.evaluation import Score
from heedful.runs.events import Validation
from heedful.training.config import TrainingConfig
from heedful.training.divergence import LossWatch
from heedful.training.step import Step


@dataclass
class Stretch:
    """The steps since the last validation, summed up."""

    surprise: float = 0.0
    num_pieces: int = 0
    seconds: float = 0.0

    def add(self, step: Step) -> None:
        """Take one more step into account."""
        self.surprise += step.num_pieces * math.log(step.perplexity)
        self.num_pieces += step.num_pieces
        self.seconds += step.seconds


@dataclass(kw_only=True)
class RunState:
    """Saved with every checkpoint and restored from it, whole."""

    reserve: float
    """Seconds kept for what comes after the last step: validation, mean, scoring, saving."""
    began: float = 0.0
    """Seconds that came before the first step: preparing, planning."""
    seconds: float = 0.0
    """That the run had taken when this was saved."""
    rate_scale: float = 1.0
    """The part of the scheduled learning rate that is left, halved whenever the loss diverges."""
    watch: LossWatch = field(default_factory=LossWatch)
    stretch: Stretch = field(default_factory=Stretch)
    history: list[Validation] = field(default_factory=list)

    def notes(self) -> dict[str, Any]:
        """Return all of it as JSON can hold it."""
        return asdict(self)

    @classmethod
    def of(cls, notes: dict[str, Any]) -> "RunState":
        """Read back what was noted."""
        watch, stretch = LossWatch(**notes["watch"]), Stretch(**notes["stretch"])
        history = [_validation(past) for past in notes["history"]]
        return cls(**notes | {"watch": watch, "stretch": stretch, "history": history})

    def add(self, step: Step) -> None:
        """Take one more step into account."""
        self.watch.add(step.loss)
        self.stretch.add(step)

    @property
    def last_validated(self) -> int:
        """The step of the last validation; 0 if there was none."""
        return self.history[-1].step if self.history else 0

    @property
    def last_sound(self) -> int:
        """The last validated step whose loss is one to go back to; 0 is the beginning."""
        sound = (past.step for past in self.history if self.watch.is_sound(past.running_loss))
        return max(sound, default=0)

    def is_exhausted(self, config: TrainingConfig) -> bool:
        """Whether validation has not got better for as long as patience lasts."""
        recent = self.history[-config.patience :] if config.patience else []
        return len(recent) == config.patience > 0 and not any(past.is_best for past in recent)

    def averaged_steps(self, config: TrainingConfig) -> list[int]:
        """Return the last steps that were validated, up to the best when patience has ended."""
        validated = [past.step for past in self.history]
        if self.is_exhausted(config):
            validated = validated[: -config.patience]
        return validated[-config.average_last :]


def _validation(past: dict[str, Any]) -> Validation:
    known = {kept.name: past[kept.name] for kept in fields(Validation)}
    return Validation(**known | {"bleu": Score(**past["bleu"])})
