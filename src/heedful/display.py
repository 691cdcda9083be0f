"""A training run as one watches it: a live display, or plain lines when nobody is there."""

import time
from collections.abc import Iterable, Iterator
from datetime import timedelta
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from heedful.doctor import Diagnosis
from heedful.run import Event, Finished, Prepared, RolledBack, Started, Validation, WentBack
from heedful.terminal import say, score_lines
from heedful.training.trainer import Step

_SECONDS_BETWEEN_LINES = 10.0
_MEMORY = 0.95  # of the running mean that the speed is shown as


def show(events: Iterable[Event | Diagnosis], console: Console) -> Finished:
    """Show a run to its end and return how it ended."""
    with _progress(console) as progress:
        speed, steps, last_line = _Speed(), 0, time.monotonic()
        task = progress.add_task("training", total=None, visible=False, **_nothing_yet())
        for event in events:
            match event:
                case Step():
                    speed.add(event)
                    progress.update(task, completed=event.number, **_columns(event, speed))
                    is_due = time.monotonic() - last_line > _SECONDS_BETWEEN_LINES
                    if is_due and not console.is_terminal:
                        say(console, _step_line(event, speed, steps))
                        last_line = time.monotonic()
                case Started():
                    steps = event.steps
                    progress.update(
                        task, total=event.steps, completed=event.step, visible=console.is_terminal
                    )
                    say(console, _started_line(event))
                case Finished():
                    progress.update(task, visible=False)
                    say(console, *_finished_lines(event))
                    return event
                case Prepared() | Validation() | WentBack() | RolledBack():
                    say(console, _line(event))
                case Diagnosis():
                    say(console, *_diagnosis_lines(event))
    raise AssertionError("a run ends with Finished")


class _Speed:
    """Target pieces and steps per second, as means that forget."""

    def __init__(self) -> None:
        self.pieces = self.steps = self.seconds = 0.0

    def add(self, step: Step) -> None:
        self.pieces = _MEMORY * self.pieces + step.num_pieces
        self.steps = _MEMORY * self.steps + 1
        self.seconds = _MEMORY * self.seconds + step.seconds

    def time_for(self, steps: int) -> str:
        return str(timedelta(seconds=round(steps * self.seconds / self.steps)))

    def __str__(self) -> str:
        return f"{self.pieces / self.seconds:,.0f}"


def _progress(console: Console) -> Progress:
    return Progress(
        TextColumn("step"),
        MofNCompleteColumn(),
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
    return {"loss": "-", "perplexity": "-", "speed": "-", "rate": "-"}


def _columns(step: Step, speed: _Speed) -> dict[str, Any]:
    return {
        "loss": f"{step.loss:.3f}",
        "perplexity": f"{step.perplexity:.2f}",
        "speed": str(speed),
        "rate": f"{step.learning_rate:.1e}",
    }


def _step_line(step: Step, speed: _Speed, steps: int) -> str:
    columns = _columns(step, speed)
    return (
        f"step {step.number:,} of {steps:,}: loss {columns['loss']}, "
        f"perplexity {columns['perplexity']}, {columns['speed']} tokens/s, "
        f"rate {columns['rate']}, {speed.time_for(steps - step.number)} left"
    )


def _started_line(started: Started) -> str:
    config = started.config
    begins = f"Going on after step {started.step:,}" if started.step else "Training"
    return (
        f"{begins}: {config.num_layers}+{config.num_layers} layers, d_model {config.d_model}, "
        f"{started.num_parameters / 1e6:.2f} million parameters, {started.steps:,} steps"
    )


def _line(event: Prepared | Validation | WentBack | RolledBack) -> str:
    match event:
        case Prepared():
            return (
                f"Corpus: {event.report}; {event.num_train:,} to train on, {event.num_valid:,} to "
                f"validate, {event.vocab_size:,} pieces in the vocabulary"
            )
        case Validation():
            star = " [green]best yet[/green]" if event.is_best else ""
            return (
                f"step {event.step:,}: validation perplexity {event.perplexity:.2f}, "
                f"BLEU {event.bleu.value:.1f} [dim]({event.bleu.signature})[/dim]{star}"
            )
        case WentBack():
            return f"{'; '.join(event.damage)}; going on {_from_where(event.step)}"
        case RolledBack():
            return (
                f"step {event.diverged.number:,}: the loss diverges ({event.diverged.loss:.2f}, "
                f"its best was {event.best_loss:.2f}); going on {_from_where(event.step)} at "
                f"{event.rate_scale:g} of the scheduled learning rate"
            )


def _from_where(step: int) -> str:
    return f"from step {step:,}" if step else "from the beginning"


def _diagnosis_lines(diagnosis: Diagnosis) -> Iterator[str]:
    yield f"[yellow]{escape(diagnosis.name)}: {escape(diagnosis.seen)}[/yellow]"
    yield f"[yellow]  {escape(diagnosis.meaning)}. {escape(diagnosis.advice)}[/yellow]"


def _finished_lines(finished: Finished) -> Iterator[str]:
    early = ", stopped early," if finished.stopped_early else ""
    yield (
        f"Trained{early} in {finished.seconds / 60:.1f} minutes; the model is the mean of the "
        f"last {finished.num_averaged} checkpoints. On validation:"
    )
    yield from score_lines(finished.scores)
