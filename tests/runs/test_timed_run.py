"""Runs by minutes, by a clock that ticks whenever one looks: no test waits for the real one."""

from dataclasses import replace
from itertools import takewhile
from pathlib import Path
from threading import Event

import pytest

from heedful.errors import ConfigError, StoppedError, TooShortError
from heedful.runs.budget import Stopwatch
from heedful.runs.events import Examples, Finished, Plan, Prepared, Started, Validation, WentBack
from heedful.runs.recipe import load_recipe
from heedful.runs.train import train_model
from heedful.storage.checkpoint import Checkpoints
from heedful.training.step import Step

pytestmark = pytest.mark.slow

MINUTES = 0.5
TICK = 0.2  # seconds


class Clock:
    """Goes on by a tick whenever one looks at it, and when a test says so."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        self.now += TICK
        return self.now


def ticking() -> Stopwatch:
    return Stopwatch(Clock())


def run_to_the_last_validation(recipe, out):
    """Run until steps 2 and 4 are validated and, the time being over, step 5 is, too."""
    clock = Clock()
    run = train_model(recipe, out, stopwatch=Stopwatch(clock))
    until(lambda event: isinstance(event, Step) and event.number == 5, run)
    clock.now += 60 * MINUTES
    until(lambda event: isinstance(event, Examples), run)
    return run


@pytest.fixture
def recipe(corpus, recipe_file):
    return load_recipe(recipe_file, **corpus).within(MINUTES)


def of(kind, events):
    return [event for event in events if isinstance(event, kind)]


def until(wanted, events):
    return list(takewhile(lambda event: not wanted(event), events))


def test_the_time_is_planned_spent_and_kept(recipe, tmp_path):
    events = list(train_model(recipe, tmp_path / "model", stopwatch=ticking()))

    assert [type(event) for event in events[:4]] == [Prepared, Plan, Started, Step]
    assert [type(event) for event in events[-4:]] == [Step, Validation, Examples, Finished]
    assert 0.8 * 60 * MINUTES < events[-1].seconds < 1.1 * 60 * MINUTES
    assert not events[-1].stopped_early


def test_teachers_and_model_share_the_time(recipe, tmp_path):
    taught = replace(recipe, training=replace(recipe.training, teachers=0.9)).within(2.8 * MINUTES)

    events = list(train_model(taught, tmp_path / "model", stopwatch=ticking()))

    planned = [plan.recipe.training.own_minutes for plan in of(Plan, events)]
    assert planned == pytest.approx([0.9 * MINUTES, 0.9 * MINUTES, MINUTES])
    for finished, minutes in zip(of(Finished, events), planned, strict=True):
        assert 0.8 * 60 * minutes < finished.seconds < 1.1 * 60 * minutes
    card = events[-1].folder.card_file.read_text()
    assert "0.5 of 0.5 minutes" in card
    assert "| teachers | two, of 0.45 minutes each at most |" in card


def test_minutes_too_few_for_teachers_are_refused_as_theirs(recipe, tmp_path):
    taught = replace(recipe, training=replace(recipe.training, teachers=0.1))

    with pytest.raises(
        TooShortError, match=r"^minutes = 0\.5 is too short: each teacher has 0\.042 of them, prep"
    ) as refused:
        list(train_model(taught, tmp_path / "model", stopwatch=ticking()))

    assert refused.value.needed > MINUTES
    assert not (tmp_path / "model").exists()


def test_the_rate_falls_to_nothing_when_the_time_is_over(recipe, tmp_path):
    steps = of(Step, train_model(recipe, tmp_path / "model", stopwatch=ticking()))

    rates = [step.learning_rate for step in steps]
    peak = rates.index(max(rates))
    assert rates[peak:] == sorted(rates[peak:], reverse=True)
    assert rates[-1] < 0.1 * max(rates)


def test_the_folder_tells_what_was_chosen_and_what_was_promised(recipe, tmp_path):
    *_, finished = train_model(recipe, tmp_path / "model", stopwatch=ticking())

    chosen = load_recipe(str(finished.folder.recipe_file))
    assert (chosen.training.steps, chosen.training.minutes) == (0, MINUTES)
    assert chosen.training.schedule == "linear"
    assert chosen.training.validate_every == 2  # as the recipe states
    assert finished.folder.provenance().training.minutes_given == MINUTES
    assert "0.5 of 0.5 minutes" in finished.folder.card_file.read_text()


def test_progress_grows_with_the_time_until_it_is_over(recipe, tmp_path):
    validations = of(Validation, train_model(recipe, tmp_path / "model", stopwatch=ticking()))

    progress = [validation.progress for validation in validations]
    assert len(progress) > 6
    assert progress == sorted(progress)
    assert progress[-1] > 0.9


def test_validations_do_not_wait_for_a_machine_that_has_become_slow(corpus, tmp_path, recipe_file):
    path = tmp_path / "rare.toml"
    path.write_text(Path(recipe_file).read_text().replace("every = 2", "every = 1_000"))
    recipe = load_recipe(str(path), **corpus).within(MINUTES)

    validations = of(Validation, train_model(recipe, tmp_path / "model", stopwatch=ticking()))

    assert len(validations) in (2, 3)
    assert validations[0].progress == pytest.approx(0.4, abs=0.1)


def test_a_run_that_goes_on_keeps_its_plan_and_the_time_it_has_left(recipe, tmp_path):
    run = train_model(recipe, tmp_path / "model", stopwatch=ticking())
    until(lambda event: isinstance(event, Validation) and event.step == 8, run)
    run.close()
    chosen = (tmp_path / "model" / "recipe.toml").read_text()

    events = list(train_model(recipe, tmp_path / "model", stopwatch=ticking()))

    (started,) = of(Started, events)
    assert started.step == 8
    assert 1.0 < started.seconds < 60 * MINUTES
    assert not of(Plan, events)
    assert (tmp_path / "model" / "recipe.toml").read_text() == chosen
    assert 0.8 * 60 * MINUTES < events[-1].seconds < 1.1 * 60 * MINUTES


def test_a_run_that_is_asked_to_stop_saves_the_time_it_has_spent(recipe, tmp_path):
    stop = Event()
    run = train_model(recipe, tmp_path / "model", stop, stopwatch=ticking())
    until(lambda event: isinstance(event, Step) and event.number == 5, run)
    stop.set()
    with pytest.raises(StoppedError, match="stopped after step 5"):
        next(run)

    events = list(train_model(recipe, tmp_path / "model", stopwatch=ticking()))

    assert [event.step for event in of(Started, events)] == [5]
    assert events[-1].seconds < 1.1 * 60 * MINUTES


def test_a_checkpoint_lost_when_the_time_is_over_is_done_without(recipe, tmp_path):
    """There is no time to make it again, as a run by steps would."""
    run = run_to_the_last_validation(recipe, tmp_path / "model")
    *_, last = Checkpoints(tmp_path / "model" / "training" / "checkpoints", keep=9)
    last.path.write_bytes(b"")

    events = list(run)

    assert [type(event) for event in events] == [WentBack, Finished]
    assert (events[0].step, last.step) == (4, 5)


def test_when_all_checkpoints_are_lost_one_step_is_made_again(recipe, tmp_path):
    run = run_to_the_last_validation(recipe, tmp_path / "model")
    for checkpoint in Checkpoints(tmp_path / "model" / "training" / "checkpoints", keep=9):
        checkpoint.path.unlink()

    events = list(run)

    assert [type(event) for event in events] == [WentBack, Step, Validation, Examples, Finished]


def test_other_minutes_for_a_started_run_are_refused(recipe, tmp_path):
    next(train_model(recipe, tmp_path / "model", stopwatch=ticking()))

    with pytest.raises(ConfigError, match=r"\[training\] minutes = 0\.5, now it is 9\.0; go on"):
        next(train_model(recipe.within(9), tmp_path / "model"))


def test_too_short_a_time_leaves_nothing_behind(recipe, tmp_path):
    with pytest.raises(ConfigError, match=r"minutes = 0\.0001 is too short: preparing took"):
        next(train_model(recipe.within(0.0001), tmp_path / "model"))

    assert not (tmp_path / "model").exists()


def test_the_written_recipe_repeats_the_choices_in_another_folder(recipe, tmp_path):
    next(train_model(recipe, tmp_path / "model", stopwatch=ticking()))
    written = tmp_path / "model" / "recipe.toml"

    next(train_model(load_recipe(str(written)), tmp_path / "again", stopwatch=ticking()))

    assert (tmp_path / "again" / "recipe.toml").read_text() == written.read_text()
