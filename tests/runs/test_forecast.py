import pytest

from heedful.runs.forecast import forecast_bleu, forecast_loss

# Multi30k, English to German, the default recipe with 3,000 steps: a run of November 2026, before
# forecasts were made. Progress, validation loss and BLEU of its eight validations.
RECORDED = [
    (0.133, 3.488, 17.0),
    (0.267, 2.630, 25.5),
    (0.400, 2.285, 30.5),
    (0.533, 2.065, 34.5),
    (0.667, 1.957, 35.6),
    (0.800, 1.890, 36.1),
    (0.933, 1.824, 39.3),
    (1.000, 1.813, 39.4),
]


def test_curves_of_the_assumed_shape_are_continued_exactly():
    shares = [0.1, 0.2, 0.3, 0.4]

    losses = forecast_loss([(share, 2.0 + 0.5 / share) for share in shares])
    bleus = forecast_bleu([(share, 40.0 - 5.0 / share**0.5) for share in shares])

    assert losses[0] == pytest.approx((0.4, 3.25))
    assert losses[-1] == pytest.approx((1.0, 2.5))
    assert bleus[0] == pytest.approx((0.4, 40.0 - 5.0 / 0.4**0.5))
    assert bleus[-1] == pytest.approx((1.0, 35.0))


def test_nothing_is_claimed_from_fewer_than_three_validations():
    assert forecast_bleu([]) == []
    assert forecast_bleu([(0.1, 3.0), (0.2, 9.0)]) == []


def test_what_lies_far_back_does_not_count():
    recent = [(share, 40.0 - 5.0 / share**0.5) for share in (0.4, 0.5, 0.6, 0.7)]

    assert forecast_bleu([(0.05, 90.0), *recent]) == forecast_bleu(recent)


def test_at_the_end_there_is_nothing_to_expect():
    assert forecast_loss([(0.5, 3.0), (0.75, 2.5), (1.0, 2.4)]) == []


def test_no_forecast_leaves_the_possible():
    rising = [(0.2, 20.0), (0.4, 70.0), (0.6, 99.0)]
    falling = [(0.2, 0.9), (0.4, 0.3), (0.6, 0.001)]

    assert forecast_bleu(rising)[-1] == (1.0, 100.0)
    assert forecast_loss(falling)[-1] == (1.0, 0.0)


@pytest.mark.parametrize("known", [3, 4, 5, 6, 7])
def test_the_end_of_a_recorded_run_was_to_be_expected(known):
    losses = forecast_loss([(share, loss) for share, loss, _ in RECORDED[:known]])
    bleus = forecast_bleu([(share, bleu) for share, _, bleu in RECORDED[:known]])

    assert losses[-1][1] == pytest.approx(1.813, abs=0.15)
    assert bleus[-1][1] == pytest.approx(39.4, abs=2.5)
