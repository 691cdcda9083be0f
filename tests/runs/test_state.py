import json

import pytest

from heedful.runs.state import RunState, Stretch
from heedful.training.config import TrainingConfig
from heedful.training.divergence import LossWatch
from heedful.training.trainer import Step
from tests.conftest import validation


def step(number: int, **changes: float) -> Step:
    usual = {"loss": 3.0, "perplexity": 1.0, "learning_rate": 0.1, "num_pieces": 9, "seconds": 0.5}
    return Step(number=number, **usual | changes)


def state_of(*is_best: bool, **changes: object) -> RunState:
    history = [validation(10 * n, is_best=best) for n, best in enumerate(is_best, start=1)]
    return RunState(reserve=1.0, history=history, **changes)


def test_a_state_comes_back_whole_from_its_notes():
    state = state_of(
        *(True, False), began=3.5, seconds=70.25, rate_scale=0.25, watch=LossWatch(2.5, 2.0)
    )
    state.add(step(21, loss=2.0, perplexity=7.0, num_pieces=30))

    assert RunState.of(json.loads(json.dumps(state.notes()))) == state


def test_the_surprise_of_a_stretch_is_that_of_its_pieces_and_not_of_its_steps():
    """By hand: e^1 over 10 pieces and e^4 over 30 are 130 nats over 40 pieces."""
    stretch = Stretch()
    stretch.add(step(1, perplexity=2.718281828459045, num_pieces=10, seconds=0.5))
    stretch.add(step(2, perplexity=54.598150033144236, num_pieces=30, seconds=2.0))

    assert stretch.surprise == pytest.approx(130)
    assert (stretch.num_pieces, stretch.seconds) == (40, 2.5)


@pytest.mark.parametrize(
    ("is_best", "patience", "is_exhausted"),
    [
        ((True, False, False), 2, True),
        ((True, True, False), 2, False),  # the best is one of the last two
        ((True, False), 2, False),
        ((False,), 2, False),
        ((True, False, False), 3, False),
        ((True, False, False), 0, False),
    ],
)
def test_patience_ends_when_none_of_the_last_validations_is_the_best(
    is_best, patience, is_exhausted
):
    assert state_of(*is_best).is_exhausted(TrainingConfig(patience=patience)) is is_exhausted


@pytest.mark.parametrize(
    ("is_best", "patience", "averaged"),
    [
        ((True, True, True, False), 2, [20, 30, 40]),  # the time is over, patience is not
        ((True, True, True, True, False, False), 2, [20, 30, 40]),  # up to the best
        ((True, False, False), 2, [10]),
        ((True, False, False), 0, [10, 20, 30]),
        ((True, False, False, False), 0, [20, 30, 40]),
    ],
)
def test_the_last_steps_are_averaged_up_to_the_best_when_patience_has_ended(
    is_best, patience, averaged
):
    config = TrainingConfig(average_last=3, patience=patience)

    assert state_of(*is_best).averaged_steps(config) == averaged


def test_one_goes_back_to_the_last_step_whose_loss_was_near_the_best():
    state = RunState(reserve=1.0, watch=LossWatch(smoothed=9.0, best=2.0))
    losses = {10: 2.9, 20: 3.0, 30: 3.1, 40: 8.0}
    state.history = [validation(n, running_loss=loss) for n, loss in losses.items()]

    assert state.last_sound == 20
    assert state.last_validated == 40
    assert RunState(reserve=1.0).last_sound == RunState(reserve=1.0).last_validated == 0
