"""Two teachers for a model: it learns from their translations of its corpus as well.

One translates as the model will, the other the opposite way (decision 16).
"""

import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

from heedful.beginning import refuse_other_recipe
from heedful.diversifying import diversify
from heedful.errors import StoppedError
from heedful.events import Event, Lesson
from heedful.folder import ModelFolder, write_atomically
from heedful.processes import Processes
from heedful.recipe import Recipe
from heedful.text.prepare import DataConfig

Train = Callable[[Recipe, Path], Iterator[Event]]


def teach(
    recipe: Recipe, folder: ModelFolder, train: Train, stop: threading.Event, processes: Processes
) -> Iterator[Event]:
    """Train the teachers and write what the model will learn from; what is done stays done."""
    if not processes.by_first(folder.taught_file.exists):
        teachers = folder.training / "teachers"
        forward, backward = ModelFolder(teachers / "forward"), ModelFolder(teachers / "backward")
        steps = recipe.training.teacher_steps
        lesson = replace(recipe, training=replace(recipe.training, steps=steps, teacher_steps=0))
        if not processes.by_first(_is_ready, forward, lesson):
            yield Lesson(about="forward")
            yield from train(lesson, forward.path)
        lesson = replace(lesson, data=processes.by_first(_exchange, forward, teachers))
        if not processes.by_first(_is_ready, backward, lesson):
            yield Lesson(about="backward")
            yield from train(lesson, backward.path)
        yield Lesson(about="translating")
        processes.by_first(_translate, forward, backward, folder.taught_file, stop)
    yield Lesson(about="model")


def _is_ready(teacher: ModelFolder, recipe: Recipe) -> bool:
    """Whether a teacher has finished, of which the recipe must still be the same."""
    if teacher.is_finished:
        refuse_other_recipe(teacher, recipe)
    return teacher.is_finished


def _exchange(forward: ModelFolder, teachers: Path) -> DataConfig:
    """Write the pairs of one teacher for the other, held-out ones apart, sides exchanged."""
    for split in ("train", "valid"):
        lines = (forward.corpus / f"{split}.tsv").read_text("utf-8").splitlines()
        exchanged = ("\t".join(reversed(line.split("\t"))) for line in lines)
        write_atomically(teachers / f"{split}.tsv", "".join(f"{line}\n" for line in exchanged))
    return DataConfig(source=str(teachers / "train.tsv"), valid_source=str(teachers / "valid.tsv"))


def _translate(
    forward: ModelFolder, backward: ModelFolder, taught: Path, stop: threading.Event
) -> None:
    try:
        diversify(forward.path, backward.path, taught, resume=True, stop=stop)
    except StoppedError as error:
        raise StoppedError(
            "stopped while the teachers translate; run the same command to go on"
        ) from error
