import pytest

from heedful.decoding.hypothesis import Hypothesis
from heedful.storage.habits import Habits
from heedful.translation.guard import alarm, habits_of, most_turns


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


@pytest.mark.parametrize(("num_source", "longest"), [(1, 23), (2, 26), (40, 140)])
def test_output_may_be_three_times_as_long_and_twenty_pieces_more(num_source, longest):
    source = tuple(range(4, 4 + num_source))

    assert alarm(source, Hypothesis(tuple(range(longest)), -1.0)) is None
    assert alarm(source, Hypothesis(tuple(range(longest + 1)), -1.0)) == "length"


def test_output_may_go_round_twice_as_often_as_its_source():
    source = (4, 5, 6) * 3 + (7, 8)

    assert alarm(source, Hypothesis((9, 10) * 6, -1.0)) is None
    assert alarm(source, Hypothesis((9, 10) * 7, -1.0)) == "repetition"


def test_a_turn_of_a_loop_has_up_to_twelve_pieces():
    def turning(length):
        return Hypothesis(tuple(range(4, 4 + length)) * 5, -1.0)

    source = tuple(range(40))

    assert alarm(source, turning(12)) == "repetition"
    assert alarm(source, turning(13)) is None


def test_habits_are_learned_from_targets_that_repeat_and_are_long():
    walks = [((7, 8, 9), (4,) * (1 + number % 48)) for number in range(3_000)]

    assert habits_of(walks) == Habits(most_turns=48, longest_ratio=round((48 - 20) / 3, 3))


def test_a_little_noise_is_no_habit_and_what_is_usual_stays_allowed():
    plain = [((7, 8, 9), (4, 5, 6))] * 3_000
    noise = [((7,), (4,) * 500)] * 2

    assert habits_of(plain + noise) == habits_of([]) == Habits()


@pytest.mark.parametrize(("num", "turns"), [(3, 4), (4, 9)])
def test_what_more_than_one_pair_in_a_thousand_does_is_a_habit(num, turns):
    pairs = [((7, 8, 9), (4, 5, 6))] * (3_000 - num) + [((7, 8, 9), (4,) * 9)] * num

    assert habits_of(pairs).most_turns == turns


def test_a_source_without_pieces_counts_as_one_piece():
    assert habits_of([((), (4, 5) * 15)] * 9).longest_ratio == 30 - 20


def test_what_goes_beyond_the_habits_rings():
    habits = Habits(most_turns=16, longest_ratio=6.0)

    assert alarm((7, 8, 9), Hypothesis((4,) * 16, -1.0), habits) is None
    assert alarm((7, 8, 9), Hypothesis((4,) * 17, -1.0), habits) == "repetition"
    assert alarm((7,), Hypothesis(tuple(range(4, 30)), -1.0), habits) is None
    assert alarm((7,), Hypothesis(tuple(range(4, 31)), -1.0), habits) == "length"
