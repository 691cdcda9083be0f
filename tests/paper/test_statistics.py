"""Resampling, with sacrebleu's own numbers as oracle."""

import pytest
from sacrebleu.metrics.bleu import BLEU

from heedful.paper.statistics import BleuCounts, chance_of_no_gain, mean_interval

REFERENCES = [
    f"the {animal} sat on the {place} and slept"
    for animal in ("cat", "dog", "cow", "hen")
    for place in ("mat", "log", "hill", "roof", "bed")
]
GOOD = [
    text.replace("slept", "dreamt") if row % 3 == 0 else text for row, text in enumerate(REFERENCES)
]
BAD = [text.replace("sat on", "was at") if row % 2 == 0 else text for row, text in enumerate(GOOD)]


@pytest.mark.parametrize("translations", [REFERENCES, GOOD, BAD])
def test_bleu_of_the_counts_is_that_of_sacrebleu(translations):
    expected = BLEU().corpus_score(translations, [REFERENCES]).score

    assert BleuCounts.of(translations, REFERENCES).bleu() == pytest.approx(expected)


def test_the_interval_holds_the_score():
    counts = BleuCounts.of(GOOD, REFERENCES)

    low, high = counts.interval()

    assert low < counts.bleu() < high


def test_a_clear_difference_is_no_chance_and_none_at_all_is():
    good, bad = (BleuCounts.of(it, REFERENCES) for it in (GOOD, BAD))

    assert chance_of_no_gain(good, bad) < 0.01
    assert chance_of_no_gain(bad, good) < 0.01
    assert chance_of_no_gain(good, good) == 1


def test_the_interval_of_a_mean():
    low, high = mean_interval([1.0, 2.0, 3.0])

    assert 1 <= low < 2 < high <= 3
    assert mean_interval([5.0]) == (5, 5)
