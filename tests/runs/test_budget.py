import pytest

from heedful.runs.budget import Budget, Stopwatch


class Clock:
    """A clock that a test sets."""

    def __init__(self) -> None:
        self.now = 1_000.0

    def __call__(self) -> float:
        return self.now


def test_a_stopwatch_counts_from_when_it_was_made_and_adds_earlier_sessions():
    clock = Clock()
    stopwatch = Stopwatch(clock)
    clock.now += 5.0
    assert stopwatch.seconds == 5.0

    stopwatch.add(60.0)
    clock.now += 1.0
    assert stopwatch.seconds == 66.0

    stopwatch.restart()
    assert stopwatch.seconds == 0.0


def test_progress_runs_to_1_when_what_is_left_is_kept_for_the_end():
    clock = Clock()
    budget = Budget(seconds=60.0, stopwatch=Stopwatch(clock), reserve=10.0)

    clock.now += 25.0
    assert budget.progress == 0.5
    clock.now += 25.0
    assert budget.progress == 1.0
    clock.now += 25.0
    assert budget.progress == 1.0


def test_what_came_before_the_first_step_is_no_progress():
    clock = Clock()
    budget = Budget(seconds=60.0, stopwatch=Stopwatch(clock), reserve=10.0, began=30.0)

    clock.now += 30.0
    assert budget.progress == 0.0
    clock.now += 10.0
    assert budget.progress == 0.5


@pytest.mark.parametrize("reserve", [60.0, 90.0])
def test_no_time_for_training_is_time_to_finish(reserve):
    assert Budget(seconds=60.0, stopwatch=Stopwatch(Clock()), reserve=reserve).progress == 1.0
