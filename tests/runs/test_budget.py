import pytest

from heedful.runs.budget import Limit, Stopwatch, part_over


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

    anew = stopwatch.anew()
    clock.now += 2.0
    assert (stopwatch.seconds, anew.seconds) == (68.0, 2.0)


def test_a_limit_is_over_when_its_seconds_have_passed():
    clock = Clock()
    limit = Limit(3.0, Stopwatch(clock))

    clock.now += 2.9
    assert not limit.is_over
    clock.now += 0.1
    assert limit.is_over


@pytest.mark.parametrize(
    ("seconds", "began", "part"),
    [(25.0, 0.0, 0.5), (50.0, 0.0, 1.0), (75.0, 0.0, 1.0), (30.0, 30.0, 0.0), (40.0, 30.0, 0.5)],
)
def test_progress_runs_from_the_first_step_to_the_end(seconds, began, part):
    assert part_over(seconds, began=began, end=50.0) == part


@pytest.mark.parametrize("end", [0.0, -30.0])
def test_no_time_for_training_is_time_to_finish(end):
    assert part_over(0.0, began=0.0, end=end) == 1.0
