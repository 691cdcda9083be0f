"""What `heedful train` does: a model, and the teachers that go before it where it has some."""

import gc
import threading
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

from heedful.errors import refuse_other_type
from heedful.machine.memory import keep_freed_memory
from heedful.machine.processes import ALONE, Processes
from heedful.runs.begin import enrol
from heedful.runs.budget import Stopwatch
from heedful.runs.events import Event
from heedful.runs.recipe import Recipe
from heedful.runs.run import run
from heedful.runs.session import Session
from heedful.runs.teachers import teach
from heedful.storage.folder import ModelFolder, held


def train_model(
    recipe: Recipe,
    out: str | Path,
    stop: threading.Event | None = None,
    processes: Processes = ALONE,
    stopwatch: Stopwatch | None = None,
) -> Iterator[Event]:
    """Train a model into the folder `out`, or go on where a run of the same recipe stopped.

    When `stop` is set, the step under way is finished and saved, and `StoppedError` is raised.
    Of several processes, the first alone touches the folder and decides; all yield the events.
    The minutes of a recipe that has some are counted by `stopwatch`, or else from here on.
    """
    refuse_other_type("recipe", recipe, Recipe)
    refuse_other_type("out", out, str, Path)
    folder = ModelFolder(Path(out))
    session = Session(
        stop=stop or threading.Event(),
        processes=processes,
        stopwatch=stopwatch or Stopwatch(),
    )
    keep_freed_memory()
    processes.by_first(enrol, folder, recipe, processes.device)
    with ExitStack() as until_done:
        processes.by_first(lambda: until_done.enter_context(held(folder.path)))
        if recipe.training.teachers:
            yield from teach(recipe, folder, session)
            session = session.anew()
            gc.collect()  # the teachers would stay in memory for a while
        yield from run(recipe, folder, session)
