"""A training run as one watches it: a live display, or plain lines when nobody is there."""

import time
from collections.abc import Iterable, Iterator
from datetime import timedelta
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

from heedful.cli.terminal import say, score_lines
from heedful.runs.doctor import Diagnosis
from heedful.runs.events import (
    Event,
    Finished,
    Lesson,
    Prepared,
    RolledBack,
    Started,
    Validation,
    WentBack,
)
from heedful.runs.plan import Plan
from heedful.training.trainer import Step

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
    with _progress(console) as progress:
        speed, course, last_line = _Speed(), _Course(), time.monotonic()
        finished: Finished | None = None
        task = progress.add_task("training", total=None, visible=False, **_nothing_yet())
        for event in events:
            match event:
                case Step():
                    speed.add(event)
                    progress.update(
                        task,
                        completed=course.done(event.number),
                        step=course.step(event.number, "/"),
                        **_columns(event, speed),
                    )
                    is_due = time.monotonic() - last_line > SECONDS_BETWEEN_LINES
                    if is_due and not console.is_terminal:
                        say(console, _step_line(event, speed, course))
                        last_line = time.monotonic()
                case Started():
                    course = _Course(event.steps, event.minutes, event.seconds)
                    progress.update(
                        task,
                        total=course.total,
                        completed=course.done(event.step),
                        visible=console.is_terminal,
                    )
                    say(console, _started_line(event))
                case Finished():
                    progress.update(task, visible=False)
                    say(console, *_finished_lines(event))
                    finished = event
                case Validation():
                    say(console, _validation_line(event))
                case Lesson() | Prepared() | Plan() | WentBack() | RolledBack():
                    say(console, _line(event))
                case Diagnosis():
                    say(console, *_diagnosis_lines(event))
    assert finished, "a run ends with Finished"
    return finished


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


def _progress(console: Console) -> Progress:
    return Progress(
        TextColumn("step {task.fields[step]}"),
        BarColumn(bar_width=10),
        TextColumn("loss {task.fields[loss]}"),
        TextColumn("ppl {task.fields[perplexity]}"),
        TextColumn("{task.fields[speed]} tokens/s"),
        TextColumn("rate {task.fields[rate]}"),
        TimeRemainingColumn(),
        console=console,
        transient=True,
        disable=not console.is_terminal,
    )


def _nothing_yet() -> dict[str, Any]:
    return dict.fromkeys(("step", "loss", "perplexity", "speed", "rate"), "-")


def _columns(step: Step, speed: _Speed) -> dict[str, Any]:
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
    star = " [green]best yet[/green]" if validation.is_best else ""
    return (
        f"step {validation.step:,}: validation perplexity {validation.perplexity:.2f}, "
        f"BLEU {validation.bleu.value:.1f} [dim]({validation.bleu.signature})[/dim]{star}"
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


def _finished_lines(finished: Finished) -> Iterator[str]:
    early = ", stopped early," if finished.stopped_early else ""
    one = "checkpoint that validated best" if finished.stopped_early else "last checkpoint"
    several = f"mean of the last {finished.num_averaged} checkpoints"
    model = several if finished.num_averaged > 1 else one
    yield (
        f"Trained{early} in {finished.seconds / 60:.1f} minutes; the model is the {model}. "
        "On validation:"
    )
    yield from score_lines(finished.scores)
