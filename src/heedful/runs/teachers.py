"""Two teachers for a model: it learns from their translations of its corpus as well.

One translates as the model will, the other the opposite way (decision 16).
"""

import math
import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

from heedful.data.prepare import PreparedCorpus, write_exchanged
from heedful.errors import StoppedError
from heedful.machine.processes import Processes
from heedful.runs.begin import is_ready, part_of, remove_if_empty
from heedful.runs.budget import Stopwatch
from heedful.runs.diversify import diversify
from heedful.runs.events import Event, Lesson
from heedful.runs.recipe import Recipe
from heedful.storage.folder import ModelFolder

_TRANSLATING_SHARE = 0.3  # of the minutes of the model itself, at most

Train = Callable[[Recipe, Path], Iterator[Event]]


def teach(
    recipe: Recipe,
    folder: ModelFolder,
    train: Train,
    stop: threading.Event,
    stopwatch: Stopwatch,
    processes: Processes,
) -> Iterator[Event]:
    """Train the teachers and write what the model will learn from; what is done stays done."""
    if not processes.by_first(lambda: PreparedCorpus(folder.corpus).is_taught):
        teachers = folder.training / "teachers"
        forward, backward = ModelFolder(teachers / "forward"), ModelFolder(teachers / "backward")
        lesson = _lesson(recipe)
        minutes = recipe.training.minutes, recipe.training.teacher_minutes
        if not processes.by_first(is_ready, forward, lesson):
            yield Lesson(about="forward")
            try:
                yield from part_of(*minutes, "each teacher", train(lesson, forward.path))
            finally:
                remove_if_empty(teachers, folder.training, folder.path)
        exchanged = processes.by_first(write_exchanged, PreparedCorpus(forward.corpus), teachers)
        lesson = replace(lesson, data=exchanged)
        if not processes.by_first(is_ready, backward, lesson):
            yield Lesson(about="backward")
            stopwatch.restart()  # each has minutes of its own
            yield from part_of(*minutes, "each teacher", train(lesson, backward.path))
        yield Lesson(about="translating")
        stopwatch.restart()
        limit = _TRANSLATING_SHARE * 60 * recipe.training.own_minutes or math.inf
        processes.by_first(
            _translate,
            forward,
            backward,
            folder.taught_file,
            stop,
            lambda: stopwatch.seconds < limit,
        )
    yield Lesson(about="model")


def _lesson(recipe: Recipe) -> Recipe:
    """Return the recipe that a teacher is trained by."""
    config = recipe.training
    lesson = replace(
        config, steps=config.teacher_steps, minutes=config.teacher_minutes, teachers=0.0
    )
    return replace(recipe, training=lesson)


def _translate(
    forward: ModelFolder,
    backward: ModelFolder,
    taught: Path,
    stop: threading.Event,
    has_time: Callable[[], bool],
) -> None:
    if taught.exists():
        return
    try:
        diversify(forward.path, backward.path, taught, resume=True, stop=stop, has_time=has_time)
    except StoppedError as error:
        raise StoppedError(
            "stopped while the teachers translate; run the same command to go on"
        ) from error
