import math
from collections import Counter
from dataclasses import dataclass
from random import Random

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from heedful.decoding.hypothesis import Sampling, SearchConfig
from heedful.decoding.search import (
    Forced,
    beam_search,
    chances,
    forbid_repeats,
    forced,
    greedy_search,
    sample,
    top,
)
from heedful.specials import BOS, EOS

A, B = 4, 5
NOTHING = 1e-9


@dataclass(frozen=True)
class Bigrams:
    """A language small enough to search by hand: the next piece depends on the last one.

    Each row remembers which table of probabilities it reads.
    """

    tables: Tensor

    def select(self, rows: Tensor) -> "Bigrams":
        return Bigrams(self.tables[rows])


def step(last: Tensor, state: Bigrams) -> tuple[Tensor, Bigrams]:
    return state.tables[torch.arange(len(last)), last].log(), state


def language(**probabilities: float) -> Tensor:
    """Build a table from names such as BOS_A=0.6."""
    ids = {"BOS": BOS, "EOS": EOS, "A": A, "B": B}
    table = torch.full((6, 6), NOTHING)
    for name, probability in probabilities.items():
        before, after = name.split("_")
        table[ids[before], ids[after]] = probability
    return table


# Greedy starts with A, but B alone is the likelier sentence: 0.4 against 0.6 * 0.6.
MISLEADING = language(BOS_A=0.6, BOS_B=0.4, A_EOS=0.6, A_B=0.4, B_EOS=1.0)
PLAIN = language(BOS_A=0.9, BOS_B=0.1, A_EOS=0.2, A_B=0.8, B_EOS=0.7, B_A=0.3)


def search(*tables, beam_size, max_length=5, alpha=0.0):
    limits = [max_length] * len(tables)
    return beam_search(
        step,
        Bigrams(torch.stack(tables)),
        limits,
        SearchConfig(beam_size=beam_size, alpha=alpha, n_best=beam_size),
    )


def greedy(*tables, max_length=5):
    return greedy_search(step, Bigrams(torch.stack(tables)), [max_length] * len(tables))


def test_greedy_search_follows_the_likeliest_piece():
    (found,) = greedy(MISLEADING)

    assert found.pieces == (A,)
    assert found.log_probability == pytest.approx(math.log(0.6 * 0.6), abs=1e-5)
    assert found.is_finished


def test_a_beam_of_two_finds_what_greedy_search_misses():
    ((best, second),) = search(MISLEADING, beam_size=2)

    assert best.pieces == (B,)
    assert best.log_probability == pytest.approx(math.log(0.4), abs=1e-5)
    assert second.pieces == (A,)


def test_short_bad_hypotheses_that_end_first_do_not_crowd_out_a_good_one():
    """Nothing (0.05) and A (0.09) have ended before AB (0.81) does; a beam of two must wait."""
    late = language(BOS_A=0.9, BOS_EOS=0.05, BOS_B=0.04, A_B=0.9, A_EOS=0.1, B_EOS=1.0)

    ((best, second),) = search(late, beam_size=2)

    assert best.pieces == (A, B)
    assert math.exp(best.log_probability) == pytest.approx(0.81, rel=1e-4)
    assert second.pieces == (A,)


def test_the_n_best_are_those_found_by_hand():
    """All sentences of up to three pieces by probability: AB 0.504, A 0.18, ABAB..., B 0.07."""
    ((*found,),) = search(PLAIN, beam_size=4, max_length=8)

    assert found[0].pieces == (A, B)
    assert math.exp(found[0].log_probability) == pytest.approx(0.9 * 0.8 * 0.7, rel=1e-4)
    assert found[1].pieces == (A,)
    assert math.exp(found[1].log_probability) == pytest.approx(0.9 * 0.2, rel=1e-4)
    totals = [hypothesis.log_probability for hypothesis in found]
    assert totals == sorted(totals, reverse=True)


# Of a beam of two, something ends at every step, and always as the likeliest of its step:
# nothing 0.6, A 0.27, BA 0.081, ABA 0.0243.
ENDING = language(BOS_EOS=0.6, BOS_A=0.3, BOS_B=0.1, A_EOS=0.9, A_B=0.1, B_A=0.9, B_B=0.1)


def test_a_beam_waits_for_half_as_many_again_as_it_holds():
    """The third to end is the best by far, as α is absurd; the fourth would be better yet."""
    ((best, *others),) = search(ENDING, beam_size=2, max_length=8, alpha=10.0)

    assert best.pieces == (B, A)
    assert best.log_probability == pytest.approx(math.log(0.081), abs=1e-5)
    assert [other.pieces for other in others] == [(A,)]


def num_steps(table, *, beam_size):
    seen = []

    def counted(last, state):
        seen.append(len(last))
        return step(last, state)

    beam_search(counted, Bigrams(table[None]), [20], SearchConfig(beam_size=beam_size, alpha=0.0))
    return len(seen)


@pytest.mark.parametrize(
    ("table", "steps"),
    [
        (ENDING, 3),  # the likeliest ends each time: as many steps as must have ended
        # Nothing is the likeliest to end at once; then one ends at each step, never the likeliest.
        (language(BOS_EOS=0.6, BOS_A=0.4, A_A=0.7, A_EOS=0.3), 3),
        # One ends at each step and never is the likeliest, which goes on to the limit.
        (language(BOS_A=0.8, BOS_EOS=0.2, A_A=0.7, A_EOS=0.3), 20),
    ],
)
def test_a_search_ends_when_enough_have_ended_and_one_of_them_as_the_likeliest(table, steps):
    assert num_steps(table, beam_size=2) == steps


@pytest.mark.parametrize("beam_size", [1, 2])
def test_a_sentence_that_is_done_leaves_the_batch(beam_size):
    short = language(BOS_A=1.0, A_EOS=1.0)
    long = language(BOS_A=1.0, A_B=1.0, B_B=0.9, B_EOS=0.1)
    num_rows = []

    def counted(last, state):
        num_rows.append(len(last))
        return step(last, state)

    state, limits = Bigrams(torch.stack([short, long])), [9, 9]
    if beam_size == 1:
        greedy_search(counted, state, limits)
    else:
        beam_search(counted, state, limits, SearchConfig(beam_size=beam_size))

    assert num_rows[0] == 2
    assert max(num_rows) == 2 * beam_size
    assert num_rows[-1] == beam_size


def test_several_sentences_are_searched_at_once_each_in_its_own_language():
    (misleading, plain) = search(MISLEADING, PLAIN, beam_size=2)

    assert misleading[0].pieces == (B,)
    assert plain[0].pieces == (A, B)


def random_tables(seed: int, count: int) -> list[Tensor]:
    random = torch.Generator().manual_seed(seed)
    return list(torch.rand(count, 6, 6, generator=random).pow(3).softmax(dim=-1))


@settings(max_examples=60)
@given(seed=st.integers(0, 10_000), count=st.integers(1, 5), max_length=st.integers(1, 7))
def test_a_beam_of_one_is_greedy_search(seed, count, max_length):
    tables = random_tables(seed, count)

    beams = search(*tables, beam_size=1, max_length=max_length)

    assert [best for (best,) in beams] == greedy(*tables, max_length=max_length)


def test_bad_ends_do_not_stop_a_search_before_the_likeliest_hypothesis_has_ended():
    going_on = language(BOS_A=0.9, BOS_B=0.1, A_A=0.9, A_EOS=0.1, B_EOS=1.0)

    ((best, *_),) = search(going_on, beam_size=2, max_length=8)

    assert best.pieces == (A,) * 8


@given(seed=st.integers(0, 10_000), num_pieces=st.integers(1, 300), count=st.integers(1, 12))
def test_the_best_pieces_are_those_that_ranking_all_of_them_finds(seed, num_pieces, count):
    scores = torch.randn(3, num_pieces, generator=torch.Generator().manual_seed(seed))
    count = min(count, num_pieces)

    values, pieces = top(scores, count)

    expected = scores.topk(count)
    torch.testing.assert_close(values, expected.values, rtol=0, atol=0)
    torch.testing.assert_close(pieces, expected.indices)


@settings(max_examples=60)
@given(seed=st.integers(0, 10_000), beam_size=st.integers(1, 4))
def test_the_output_does_not_depend_on_who_shares_the_batch(seed, beam_size):
    tables = random_tables(seed, 4)

    together = search(*tables, beam_size=beam_size, alpha=0.6)
    alone = [search(table, beam_size=beam_size, alpha=0.6)[0] for table in tables]

    assert together == alone


@settings(max_examples=30)
@given(seed=st.integers(0, 10_000))
def test_a_beam_as_wide_as_the_language_finds_the_best_sentence_there_is(seed):
    """Against every sentence of up to three pieces, listed one by one."""
    (table,) = random_tables(seed, 1)
    words = [id for id in range(6) if id != EOS]

    def listed(prefix, total):
        last = prefix[-1] if prefix else BOS
        yield (prefix, total + table[last, EOS].log().item())
        if len(prefix) < 3:
            for word in words:
                yield from listed((*prefix, word), total + table[last, word].log().item())

    ((best, *_),) = search(table, beam_size=200, max_length=4)

    finished = max(listed((), 0.0), key=lambda item: item[1])
    if best.is_finished:
        assert best.pieces == finished[0]
        assert best.log_probability == pytest.approx(finished[1], abs=1e-4)
    else:
        assert best.log_probability > finished[1]


@settings(max_examples=30)
@given(seed=st.integers(0, 10_000), beam_size=st.integers(1, 4))
def test_a_forced_search_begins_as_told_and_goes_on_as_if_it_had_chosen_so(seed, beam_size):
    free, table = random_tables(seed, 2)
    table[:, BOS] = NOTHING  # it begins a sentence, and nothing else
    given = torch.tensor([[0, 0], [A, B]])
    config = SearchConfig(beam_size=beam_size, alpha=0.0, n_best=beam_size)

    found = beam_search(
        forced(step), Forced(Bigrams(torch.stack([free, table])), given), [6, 6], config
    )
    after = beam_search(step_after(B), Bigrams(table[None]), [4], config)

    assert found[0] == search(free, beam_size=beam_size, max_length=6)[0]
    assert [(h.pieces, h.is_finished) for h in found[1]] == [
        ((A, B, *h.pieces), h.is_finished) for h in after[0]
    ]
    assert [h.log_probability for h in found[1]] == pytest.approx(
        [h.log_probability for h in after[0]], abs=1e-5
    )


def step_after(piece):
    """A step that takes the beginning of a sentence for what follows a piece."""
    return lambda last, state: step(last.masked_fill(last == BOS, piece), state)


def test_drawn_sentences_are_as_frequent_as_they_are_likely():
    """Of PLAIN by hand: A 0.18, AB 0.504, B 0.07."""
    drawn = draw(PLAIN, count=4_000, sampling=Sampling(seed=3))

    frequencies = Counter(hypothesis.pieces for hypothesis in drawn)
    for pieces, probability in (((A,), 0.18), ((A, B), 0.504), ((B,), 0.07)):
        deviation = math.sqrt(4_000 * probability * (1 - probability))
        assert abs(frequencies[pieces] - 4_000 * probability) < 3 * deviation
    for pieces, probability in (((A, B), 0.504), ((B,), 0.07)):
        (found,) = {h.log_probability for h in drawn if h.pieces == pieces}
        assert found == pytest.approx(math.log(probability), abs=1e-4)  # the model's


def draw(table, *, count, sampling):
    dice = [Random(f"{sampling.seed} {index}") for index in range(count)]
    return sample(step, Bigrams(table.expand(count, 6, 6)), [5] * count, sampling, dice)


def test_the_same_seed_draws_the_same_and_another_seed_something_else():
    first, again, other = (draw(PLAIN, count=50, sampling=Sampling(seed=s)) for s in (1, 1, 2))

    assert first == again
    assert first != other


@pytest.mark.parametrize(
    ("sampling", "expected"),
    [
        (Sampling(), [0.5, 0.3, 0.15, 0.05]),
        (Sampling(top_k=2), [0.625, 0.375, 0, 0]),
        (Sampling(top_p=0.6), [0.625, 0.375, 0, 0]),
        (Sampling(top_p=0.01), [1, 0, 0, 0]),
        (Sampling(top_k=3, top_p=0.7), [0.625, 0.375, 0, 0]),
        (Sampling(top_k=2, top_p=0.6), [1, 0, 0, 0]),  # the first is 0.625 of the two
        (Sampling(temperature=0.5, top_k=2), [25 / 34, 9 / 34, 0, 0]),
        (Sampling(temperature=1e-3), [1, 0, 0, 0]),
    ],
)
def test_the_chances_are_those_computed_by_hand(sampling, expected):
    order = [2, 0, 3, 1]  # the likeliest need not come first
    log_probabilities = torch.tensor([0.5, 0.3, 0.15, 0.05]).log()[order]

    (found,) = chances(log_probabilities[None], sampling)

    assert found.tolist() == pytest.approx(torch.tensor(expected)[order].tolist(), abs=1e-6)


def test_what_would_be_written_a_second_time_is_forbidden():
    """AB was written, so after another A anything but B may follow."""
    equal = torch.full((2, 6), 1 / 6).log()
    written = torch.tensor([[BOS, A, B, A], [BOS, B, B, A]])

    allowed = forbid_repeats(equal, written, size=2).exp()

    assert allowed[0, B] == 0
    assert allowed[0].sum().item() == pytest.approx(1)
    assert torch.allclose(allowed[1], equal[1].exp())


def test_a_second_try_does_not_end_before_it_has_written():
    likely = torch.tensor([[0.1, 0.1, 0.1, 0.4, 0.3]]).log()

    allowed = forbid_repeats(likely, torch.tensor([[BOS]]), size=4)

    assert allowed.exp().tolist()[0] == pytest.approx([1 / 6, 1 / 6, 1 / 6, 0, 1 / 2])


def test_what_is_forced_is_written_even_a_second_time():
    certain = torch.tensor([[-torch.inf, -torch.inf, -torch.inf, -torch.inf, 0.0]])

    allowed = forbid_repeats(certain, torch.tensor([[BOS, 4, 4]]), size=2)

    assert allowed.tolist() == certain.tolist()


def test_a_loop_ends_where_repeating_is_forbidden():
    endless = language(BOS_A=1.0, A_A=0.9, A_EOS=0.1)

    (free,) = greedy(endless, max_length=9)
    (bound,) = greedy_search(step, Bigrams(endless[None]), [9], no_repeat=2)
    ((best, *_),) = beam_search(
        step, Bigrams(endless[None]), [9], SearchConfig(beam_size=2), no_repeat=2
    )

    assert free.pieces == (A,) * 9
    assert bound.pieces == best.pieces == (A, A)


def test_output_stops_at_the_limit_of_its_own_sentence():
    endless = language(BOS_A=1.0, A_A=1.0)

    found = greedy_search(step, Bigrams(torch.stack([endless, endless])), [2, 4])
    beams = beam_search(
        step, Bigrams(torch.stack([endless, endless])), [2, 4], SearchConfig(beam_size=2)
    )

    assert [h.pieces for h in found] == [(A, A), (A, A, A, A)]
    assert not any(h.is_finished for h in found)
    assert [best.pieces for best, *_ in beams] == [(A, A), (A, A, A, A)]


def test_a_vocabulary_smaller_than_the_beam_is_no_trouble():
    ((*found,),) = search(MISLEADING, beam_size=50, max_length=3)

    assert found[0].pieces == (B,)
    assert len({hypothesis.pieces for hypothesis in found}) == len(found)
