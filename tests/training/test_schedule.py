import pytest

from heedful.training.schedule import linear_rate, noam_rate, timed_rate


def test_equation_3_climbs_linearly_then_falls_with_the_root():
    rate = lambda step: noam_rate(step, d_model=512, warmup_steps=4000)  # noqa: E731

    assert rate(2000) == pytest.approx(rate(4000) / 2)
    assert rate(16_000) == pytest.approx(rate(4000) / 2)


def test_the_linear_schedule_peaks_after_warm_up_and_ends_at_zero():
    rates = [linear_rate(step, peak=0.5, warmup_steps=10, steps=50) for step in range(1, 52)]

    assert rates[0] == pytest.approx(0.05)
    assert max(rates) == rates[9] == pytest.approx(0.5)
    assert rates[50] == 0.0  # the step after the last
    assert 0 < rates[49] < 0.02


def test_the_timed_schedule_climbs_by_steps_and_falls_with_the_time():
    rate = lambda step, progress: timed_rate(  # noqa: E731
        step, peak=0.5, warmup_steps=10, progress=progress
    )

    assert rate(5, 0.01) == 0.25
    assert rate(500, 0.2) == rate(900, 0.2) == 0.4
    assert rate(501, 1.0) == 0.0
