import math

import pytest

from heedful.training.divergence import LossWatch


def watch_of(*losses: float) -> LossWatch:
    watch = LossWatch()
    for loss in losses:
        watch.add(loss)
    return watch


def test_a_loss_that_falls_is_well():
    assert not watch_of(9.0, 7.0, 5.0, 4.0).has_diverged


def test_one_odd_batch_raises_no_alarm_and_a_second_does():
    """Each weighs a twentieth: 40 nats above the others they raise the mean by 2 and by 3.9."""
    assert not watch_of(*[4.0] * 50, 43.9).has_diverged
    assert watch_of(*[4.0] * 50, 43.9, 43.9).has_diverged
    assert watch_of(*[4.0] * 50, 44.1).has_diverged


def test_the_best_is_the_lowest_that_the_mean_has_been():
    assert watch_of(*[4.0] * 50, 2.0).best == pytest.approx(3.9)
    assert watch_of(4.0, 2.0, 30.0).best == pytest.approx(3.9)


def test_a_small_loss_may_grow_to_many_times_its_best():
    assert not watch_of(*[0.01] * 50, *[1.0] * 50).has_diverged


def test_a_loss_that_stays_far_above_its_best_has_diverged():
    assert watch_of(*[4.0] * 50, *[7.0] * 50).has_diverged


@pytest.mark.parametrize("loss", [math.nan, math.inf])
def test_what_is_no_number_has_diverged_at_once(loss):
    assert watch_of(loss).has_diverged
    assert watch_of(4.0, loss).has_diverged


def test_a_state_on_its_way_up_is_none_to_go_back_to():
    watch = watch_of(*[4.0] * 50)

    assert watch.is_sound(4.9)
    assert not watch.is_sound(5.1)
