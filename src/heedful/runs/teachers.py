"""Two teachers for a model: it learns from their translations of its corpus as well.

One translates as the model will, the other the opposite way: data diversification by forward and
back-translation (Nguyen et al., 2020; decision 16). Each is a run of its own.
"""

import math
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import replace
from typing import Literal

from heedful.data.prepare import PreparedCorpus, write_exchanged
from heedful.errors import StoppedError, TooShortError
from heedful.runs.begin import is_ready, remove_if_empty
from heedful.runs.budget import Limit
from heedful.runs.diversify import diversify
from heedful.runs.events import Event, Lesson
from heedful.runs.recipe import Recipe
from heedful.runs.run import run
from heedful.runs.session import Session
from heedful.storage.folder import ModelFolder, held

_TRANSLATING_SHARE = 0.3  # of the minutes of the model itself, at most


def teach(recipe: Recipe, folder: ModelFolder, session: Session) -> Iterator[Event]:
    """Train the teachers and write what the model will learn from; what is done stays done."""
    by_first = session.processes.by_first
    if not by_first(lambda: PreparedCorpus(folder.corpus).is_taught):
        teachers = folder.training / "teachers"
        forward, backward = ModelFolder(teachers / "forward"), ModelFolder(teachers / "backward")
        lesson = _lesson(recipe)
        try:
            yield from _teacher("forward", lesson, forward, recipe, session)
        finally:
            by_first(remove_if_empty, teachers, folder.training, folder.path)
        exchanged = by_first(write_exchanged, PreparedCorpus(forward.corpus), teachers)
        lesson = replace(lesson, data=(exchanged,))
        yield from _teacher("backward", lesson, backward, recipe, session.anew())
        yield Lesson(about="translating")
        by_first(_translate, recipe, folder, forward, backward, session.anew())
    yield Lesson(about="model")


def _lesson(recipe: Recipe) -> Recipe:
    """Return the recipe that a teacher is trained by."""
    config = recipe.training
    lesson = replace(
        config, steps=config.teacher_steps, minutes=config.teacher_minutes, teachers=0.0
    )
    return replace(recipe, training=lesson)


def _teacher(
    about: Literal["forward", "backward"],
    lesson: Recipe,
    folder: ModelFolder,
    whole: Recipe,
    session: Session,
) -> Iterator[Event]:
    """Train one teacher, unless it is ready; say how many minutes would do if its own do not."""
    if session.processes.by_first(is_ready, folder, lesson):
        return
    yield Lesson(about=about)
    try:
        with ExitStack() as until_done:
            session.processes.by_first(lambda: until_done.enter_context(held(folder.path)))
            yield from run(lesson, folder, session)
    except TooShortError as error:
        minutes, its_own = whole.training.minutes, whole.training.teacher_minutes
        raise TooShortError(
            minutes,
            needed=error.needed * minutes / its_own,
            why=f"each teacher has {its_own:.2g} of them, {error.why}",
        ) from error


def _translate(
    recipe: Recipe,
    folder: ModelFolder,
    forward: ModelFolder,
    backward: ModelFolder,
    session: Session,
) -> None:
    if folder.taught_file.exists():
        return
    seconds = _TRANSLATING_SHARE * 60 * recipe.training.own_minutes or math.inf
    limit = Limit(seconds, session.stopwatch)
    try:
        diversify(
            *(forward.path, backward.path, folder.taught_file),
            resume=True,
            stop=session.stop,
            limit=limit,
        )
    except StoppedError as error:
        raise StoppedError(
            "stopped while the teachers translate; run the same command to go on"
        ) from error
