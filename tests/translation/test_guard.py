import pytest

from heedful.decoding.hypothesis import Hypothesis
from heedful.translation.guard import alarm, most_turns


@pytest.mark.parametrize(
    ("pieces", "turns"),
    [((), 0), ((4,), 1), ((4, 4, 4), 3), ((4, 5, 4, 5, 4, 5, 6), 3), ((4, 5, 6, 7), 1)],
)
def test_turns_of_a_loop_are_counted(pieces, turns):
    assert most_turns(pieces) == turns


def test_a_loop_rings_unless_the_source_goes_round_as_well():
    looping = Hypothesis((4, 5) * 6, -1.0)

    assert alarm(tuple(range(4, 16)), looping) == "repetition"
    assert alarm((7, 8) * 6, looping) is None


def test_output_far_too_long_or_empty_or_without_an_end_rings():
    assert alarm((7, 8), Hypothesis(tuple(range(4, 40)), -1.0)) == "length"
    assert alarm((7, 8), Hypothesis((4, 5), -1.0, is_finished=False)) == "length"
    assert alarm((7, 8), Hypothesis((), -1.0)) == "length"
    assert alarm((7, 8), Hypothesis((4, 5), -1.0)) is None
