"""What a training run tells of: one event after another, for whoever shows or watches it."""

from dataclasses import dataclass
from typing import Literal

from heedful.data.corpus import CleaningReport
from heedful.data.prepare import PreparedCorpus
from heedful.evaluation import Score
from heedful.model.config import ModelConfig
from heedful.runs.recipe import Recipe
from heedful.storage.folder import ModelFolder
from heedful.storage.provenance import Example
from heedful.training.step import Step, perplexity


@dataclass(frozen=True, kw_only=True)
class Prepared:
    """The corpus is read, cleaned and cut into pieces."""

    folder: ModelFolder
    """Of the model that is trained: the one asked for, or a teacher's."""
    corpus: PreparedCorpus
    report: CleaningReport
    valid_report: CleaningReport | None
    """If the validation pairs come from files of their own."""
    num_train: int
    num_valid: int
    vocab_size: int


@dataclass(frozen=True, kw_only=True)
class Lesson:
    """What comes next of a training that has teachers."""

    about: Literal["forward", "backward", "translating", "model"]


@dataclass(frozen=True, kw_only=True)
class Plan:
    """What was chosen, and what comes of it if the machine keeps its speed."""

    recipe: Recipe
    """With every choice made."""
    preset: str
    """The name of the size; empty where the recipe states sizes of its own."""
    steps: int
    passes: float
    """Over the training pairs."""
    num_pairs: int


@dataclass(frozen=True, kw_only=True)
class Validation:
    """How the model does on pairs it is not trained on."""

    step: int
    loss: float
    """Cross-entropy per target piece."""
    bleu: Score
    """Greedy search on the first validation sentences."""
    is_best: bool
    num_distinct: int
    """Different translations among those that BLEU was measured on."""
    num_distinct_references: int
    """Different references among the same."""
    length_ratio: float
    """Characters of these translations over those of their references."""
    train_loss: float
    """Cross-entropy per target piece, with dropout, over the steps since the last validation."""
    learning_rate: float
    """Of the last of these steps."""
    pieces_per_second: float
    """Target pieces learned from, over the time that these steps took."""
    running_loss: float
    """The running mean of what is made small, label smoothing included."""
    progress: float
    """How much of the training is over, from 0 to 1: of its steps, or of the time for it."""
    seconds: float
    """That the run had taken by then."""

    @property
    def perplexity(self) -> float:
        """Of the target pieces."""
        return perplexity(self.loss)


@dataclass(frozen=True, kw_only=True)
class Examples:
    """What the model makes of some validation sentences, the same ones at every validation."""

    step: int
    found: tuple[Example, ...]


@dataclass(frozen=True, kw_only=True)
class Started:
    """Training begins, or goes on after `step` steps."""

    folder: ModelFolder
    config: ModelConfig
    num_parameters: int
    step: int
    steps: int
    """In all; 0 when minutes are counted."""
    minutes: float
    """For the whole run; 0 when steps are counted."""
    seconds: float
    """Spent so far."""
    validations: tuple[Validation, ...]
    """Made so far."""


@dataclass(frozen=True, kw_only=True)
class WentBack:
    """Checkpoints are damaged, so training goes on from an earlier one, or from the beginning."""

    damage: list[str]
    """What is wrong with which file, the newest first."""
    step: int


@dataclass(frozen=True, kw_only=True)
class RolledBack:
    """The loss diverged, so training goes on from an earlier step at half the learning rate."""

    diverged: Step
    loss: float
    """What the training loss has become."""
    best_loss: float
    """The lowest running mean of it before."""
    step: int
    rate_scale: float
    """The part of the scheduled learning rate that is left."""


@dataclass(frozen=True, kw_only=True)
class Finished:
    """The model folder is complete."""

    folder: ModelFolder
    scores: list[Score]
    """On the validation pairs, by the search of the recipe."""
    examples: tuple[Example, ...] = ()
    """Of these pairs, by the same."""
    num_averaged: int
    stopped_early: bool
    seconds: float
    """Spent training, over all the times it was taken up; of a run by minutes, on all of it."""


Event = (
    Lesson
    | Prepared
    | Plan
    | Started
    | Step
    | Validation
    | Examples
    | WentBack
    | RolledBack
    | Finished
)
