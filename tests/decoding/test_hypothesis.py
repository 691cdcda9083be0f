import math

import pytest

from heedful.decoding.hypothesis import (
    Hypothesis,
    Sampling,
    SearchConfig,
    attention_of_pieces,
    best_first,
    length_limit,
    length_penalty,
)
from heedful.errors import ConfigError


def test_output_may_be_fifty_pieces_longer_than_input_as_section_6_1_says():
    assert [length_limit(num_source) for num_source in (0, 1, 25, 300)] == [50, 51, 75, 350]


def test_what_was_forced_may_be_followed_by_as_much_as_an_input_of_its_length():
    assert length_limit(10, num_forced=4) == 60
    assert length_limit(10, num_forced=40) == 90


def test_the_end_counts_in_the_length_of_a_hypothesis_that_has_one():
    """By hand: six pieces and the end are ((5 + 7) / 6)^0.6; cut off, ((5 + 6) / 6)^0.6."""
    pieces = (4, 5, 6, 7, 8, 9)

    assert Hypothesis(pieces, -3.0).score(0.6) == pytest.approx(-3 / 2**0.6)
    assert Hypothesis(pieces, -3.0, is_finished=False).score(0.6) == pytest.approx(
        -3 / (11 / 6) ** 0.6
    )


@pytest.mark.parametrize(("beam_size", "num"), [(1, 1), (2, 3), (3, 5), (4, 6), (5, 8)])
def test_a_search_waits_for_half_as_many_again_as_its_beam_rounded_up(beam_size, num):
    assert SearchConfig(beam_size=beam_size).num_ended == num


def test_of_more_than_were_waited_for_the_likeliest_are_ranked():
    """Of a beam of two, three: the longest would score best, and is the least likely of four."""
    short, middle, long = (Hypothesis((4,) * n, float(-n)) for n in (1, 2, 3))
    longest = Hypothesis((4,) * 30, -4.0)

    config = SearchConfig(beam_size=2, alpha=1.0, n_best=2)

    assert best_first([longest, long, short, middle], config) == [short, middle]
    assert best_first([longest, short, middle], config) == [longest, short]
    wider = SearchConfig(beam_size=3, alpha=1.0, n_best=2)
    assert best_first([longest, short, middle], wider) == [longest, short, middle]  # may read alike
    assert best_first([longest, short], SearchConfig(beam_size=2, alpha=1.0)) == [longest]


def test_the_length_penalty_is_that_of_section_6_1():
    assert length_penalty(7, alpha=0.6) == pytest.approx(2**0.6)
    assert length_penalty(7, alpha=0.0) == 1.0


def test_alpha_prefers_the_longer_of_two_equally_likely_hypotheses():
    short, long = Hypothesis((4,), -3.0), Hypothesis((4, 5, 6), -3.0)

    assert short.score(alpha=0.6) < long.score(alpha=0.6)
    assert short.score(alpha=0.0) == long.score(alpha=0.0)


def test_a_piece_is_where_the_model_looked_to_write_it_or_having_read_it():
    steps = [[0.9, 0.1], [0.2, 0.8], [0.5, 0.5]]

    assert attention_of_pieces(steps, 2, shift=0) == ((0.9, 0.1), (0.2, 0.8))
    assert attention_of_pieces(steps, 2, shift=1) == ((0.2, 0.8), (0.5, 0.5))
    assert attention_of_pieces(steps[:2], 2, shift=1) == ((0.2, 0.8), (0.2, 0.8))  # was cut off


def test_the_defaults_are_those_of_section_6_1():
    assert SearchConfig() == SearchConfig(beam_size=4, alpha=0.6)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"beam_size": 0}, r"beam_size must be from 1 to 1,000, got 0"),
        ({"alpha": -1.0}, r"alpha must be from 0 to 10, got -1.0"),
        ({"alpha": math.nan}, r"alpha must be from 0 to 10, got nan"),
    ],
)
def test_settings_that_cannot_work_are_refused(values, message):
    with pytest.raises(ConfigError, match=message):
        SearchConfig(**values)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"temperature": 0.0}, r"temperature must be 0.001 or more, got 0"),
        ({"temperature": math.nan}, r"temperature must be 0.001 or more, got nan"),
        ({"top_k": -1}, r"top_k must be at least 1, or 0 for all, got -1"),
        ({"top_p": 0.0}, r"top_p must be above 0 and at most 1, got 0.0"),
        ({"top_p": 1.5}, r"top_p must be above 0 and at most 1, got 1.5"),
        ({"seed": -1}, r"seed must be from 0 to 4294967295, got -1"),
    ],
)
def test_chances_that_cannot_be_are_refused(values, message):
    with pytest.raises(ConfigError, match=message):
        Sampling(**values)
