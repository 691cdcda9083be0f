"""A training run as one watches it: a live display, or plain lines when nobody is there."""

import time
from collections.abc import Iterable, Iterator
from contextlib import nullcontext
from datetime import timedelta

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.markup import escape
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from heedful.cli.terminal import say_example, say_scores, tell
from heedful.evaluation import Score
from heedful.runs.doctor import Diagnosis
from heedful.runs.events import (
    Event,
    Examples,
    Finished,
    Lesson,
    Plan,
    Prepared,
    RolledBack,
    Started,
    Validation,
    WentBack,
)
from heedful.training.step import Step

_LESSONS = {
    "forward": "First a teacher that translates from source to target",
    "backward": "Then a teacher that translates from target to source",
    "translating": "Both teachers translate what they learned from",
    "model": "Now the model, which learns from that as well",
}
SECONDS_BETWEEN_LINES = 10.0
_MEMORY = 0.95  # of the running mean that the speed is shown as


def show(events: Iterable[Event | Diagnosis], console: Console) -> Finished:
    """Show a run to its end and return how it ended."""
    display = _Display(console)
    finished: Finished | None = None
    live = Live(display, console=console, transient=True)
    with live if console.is_terminal else nullcontext():
        for event in events:
            display.tell(event)
            if isinstance(event, Finished):
                finished = event
    assert finished, "a run ends with Finished"
    return finished


class _Display:
    """What is said of a run, and what is known of it now."""

    def __init__(self, console: Console) -> None:
        self._console, self._last_line = console, time.monotonic()
        self._course, self._speed = _Course(), _Speed()
        self._step: Step | None = None
        self._validation: Validation | None = None
        self._has_signature = False

    def tell(self, event: Event | Diagnosis) -> None:
        """Take an event down, and say what there is to say of it."""
        match event:
            case Step():
                self._take_step(event)
            case Validation():
                self._say_signature(event.bleu)
                self._validation = event
                tell(self._console, _validation_line(event))
            case Examples():
                for example in event.found:
                    say_example(self._console, example)
            case Started():
                self._course = _Course(event.steps, event.minutes, event.seconds)
                self._validation = event.validations[-1] if event.validations else None
                tell(self._console, _started_line(event))
            case Finished():
                self._step = None
                tell(self._console, _finished_line(event))
                say_scores(self._console, event.scores)
            case Lesson() | Prepared() | Plan() | WentBack() | RolledBack():
                self._step = None
                tell(self._console, _line(event))
            case Diagnosis():
                tell(self._console, *_diagnosis_lines(event))

    def __rich__(self) -> RenderableType:
        """Tell how far it is: time left and quality first, all of it whole at 80 columns."""
        if not (step := self._step):
            return Group()
        course, number = self._course, step.number
        bar = ProgressBar(total=course.total, completed=course.done(number))
        above = Table.grid(padding=(0, 2, 0, 0), expand=True)
        for column in ({"no_wrap": True}, {"ratio": 1}, {"no_wrap": True}):
            above.add_column(**column)
        left = f"{course.left(number, self._speed)} left"
        above.add_row(Text(left, "bold"), bar, _quality(self._validation))
        columns = _columns(step, self._speed)
        below = (
            f"step {course.step(number, ' of ')}  loss {columns['loss']}  "
            f"{columns['speed']} tokens/s  rate {columns['rate']}"
        )
        return Group(above, Text(below, "dim", no_wrap=True, overflow="ellipsis"))

    def _take_step(self, step: Step) -> None:
        self._step = step
        self._speed.add(step)
        is_due = time.monotonic() - self._last_line > SECONDS_BETWEEN_LINES
        if is_due and not self._console.is_terminal:
            tell(self._console, _step_line(step, self._speed, self._course))
            self._last_line = time.monotonic()

    def _say_signature(self, bleu: Score) -> None:
        """Say once how BLEU is computed on the way."""
        if not self._has_signature:
            tell(self._console, f"[dim]BLEU on the way: greedy search, {bleu.signature}[/dim]")
            self._has_signature = True


def _quality(validation: Validation | None) -> str:
    if not validation:
        return "not validated yet"
    return f"BLEU {validation.bleu.value:.1f}, perplexity {_short(validation.perplexity)}"


def _short(perplexity: float) -> str:
    return f"{perplexity:.2f}" if perplexity < 10_000 else f"{perplexity:.1e}"


class _Course:
    """How far a run has to go: over a number of steps, or of minutes."""

    def __init__(self, steps: int = 0, minutes: float = 0.0, seconds: float = 0.0) -> None:
        self.steps, self.minutes = steps, minutes
        self.began = time.monotonic() - seconds

    @property
    def total(self) -> float:
        return 60 * self.minutes or float(self.steps)

    def done(self, step: int) -> float:
        return time.monotonic() - self.began if self.minutes else float(step)

    def step(self, number: int, of: str) -> str:
        return f"{number:,}" if self.minutes else f"{number:,}{of}{self.steps:,}"

    def left(self, step: int, speed: "_Speed") -> str:
        rest = max(self.total - self.done(step), 0)
        return str(timedelta(seconds=round(rest if self.minutes else rest * speed.step_seconds)))


class _Speed:
    """Target pieces and steps per second, as means that forget."""

    def __init__(self) -> None:
        self.pieces = self.steps = self.seconds = 0.0

    def add(self, step: Step) -> None:
        self.pieces = _MEMORY * self.pieces + step.num_pieces
        self.steps = _MEMORY * self.steps + 1
        self.seconds = _MEMORY * self.seconds + step.seconds

    @property
    def step_seconds(self) -> float:
        return self.seconds / self.steps

    def __str__(self) -> str:
        return f"{self.pieces / self.seconds:,.0f}"


def _columns(step: Step, speed: _Speed) -> dict[str, str]:
    return {
        "loss": f"{step.loss:.3f}",
        "perplexity": f"{step.perplexity:.2f}",
        "speed": str(speed),
        "rate": f"{step.learning_rate:.1e}",
    }


def _step_line(step: Step, speed: _Speed, course: _Course) -> str:
    columns = _columns(step, speed)
    return (
        f"step {course.step(step.number, ' of ')}: loss {columns['loss']}, "
        f"perplexity {columns['perplexity']}, {columns['speed']} tokens/s, "
        f"rate {columns['rate']}, {course.left(step.number, speed)} left"
    )


def _started_line(started: Started) -> str:
    config = started.config
    begins = f"Going on after step {started.step:,}" if started.step else "Training"
    return (
        f"{begins}: {config.num_layers}+{config.num_layers} layers, d_model {config.d_model}, "
        f"{started.num_parameters / 1e6:.2f} million parameters, {_length(started)}"
    )


def _length(started: Started) -> str:
    if not started.minutes:
        return f"{started.steps:,} steps"
    left = max(started.minutes - started.seconds / 60, 0)
    return f"{left:.1f} of {round(started.minutes, 2):g} minutes left"


def _validation_line(validation: Validation) -> str:
    star = ", [green]best yet[/green]" if validation.is_best else ""
    return (
        f"step {validation.step:,}: BLEU {validation.bleu.value:.1f}, "
        f"validation perplexity {_short(validation.perplexity)}{star}"
    )


def _line(event: Lesson | Prepared | Plan | WentBack | RolledBack) -> str:
    match event:
        case Lesson():
            return _LESSONS[event.about]
        case Prepared():
            valid = f"{event.num_valid:,} to validate"
            if event.valid_report and event.valid_report.kept < event.valid_report.read:
                valid += f" ({event.valid_report})"
            return (
                f"Corpus: {event.report}; {event.num_train:,} to train on, {valid}, "
                f"{event.vocab_size:,} pieces in the vocabulary"
            )
        case Plan():
            training = event.recipe.training
            own = round(training.own_minutes, 2)
            minutes = f"{own:g} minute{'s' * (own != 1)}"
            return (
                f"{minutes} here: about {_rounded(event.passes)} passes over {event.num_pairs:,} "
                f"pairs with {_size_name(event)}, in some {_rounded(event.steps)} steps of "
                f"{training.batch_tokens:,} tokens at a rate of up to {training.peak_rate:g}"
            )
        case WentBack():
            return f"{'; '.join(event.damage)}; going on {_from_where(event.step)}"
        case RolledBack():
            return (
                f"step {event.diverged.number:,}: the loss diverges ({event.loss:.2f}, "
                f"its best was {event.best_loss:.2f}); going on {_from_where(event.step)} at "
                f"{event.rate_scale:g} of the scheduled learning rate"
            )


def _size_name(plan: Plan) -> str:
    return f"the {plan.preset} model" if plan.preset else "the model of the recipe"


def _rounded(number: int | float) -> str:
    """Say a guess with no more digits than it deserves."""
    return f"{float(f'{number:.2g}'):,g}"


def _from_where(step: int) -> str:
    return f"from step {step:,}" if step else "from the beginning"


def _diagnosis_lines(diagnosis: Diagnosis) -> Iterator[str]:
    yield f"[yellow]{escape(diagnosis.name)}: {escape(diagnosis.seen)}[/yellow]"
    yield f"[yellow]  {escape(diagnosis.meaning)}. {escape(diagnosis.advice)}[/yellow]"


def _finished_line(finished: Finished) -> str:
    early = ", stopped early," if finished.stopped_early else ""
    one = "checkpoint that validated best" if finished.stopped_early else "last checkpoint"
    several = f"mean of the last {finished.num_averaged} checkpoints"
    model = several if finished.num_averaged > 1 else one
    return (
        f"Trained{early} in {finished.seconds / 60:.1f} minutes; the model is the {model}. "
        "On validation:"
    )
