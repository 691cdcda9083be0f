"""The six words, and what training makes of them."""

import pytest
import torch

from heedful.paper import six_words
from heedful.paper.request import Request


@pytest.fixture(scope="module")
def result():
    *_, result = six_words.run(Request(name="six-words"))
    return result


def test_each_target_is_one_hot():
    wanted = six_words.one_hot("i am a student")

    assert wanted.shape == (5, 6)
    assert wanted.sum(dim=1).tolist() == [1] * 5
    assert wanted[0].tolist() == [0, 0, 1, 0, 0, 0]  # i is the third of the six


def test_all_claims_hold_of_the_trained_model(result):
    assert [claim.verdict for claim in result.claims] == ["holds"] * 3


def test_an_untrained_model_says_something_else():
    said = six_words.distributions(six_words.untrained(), *six_words.PAIRS[0])

    assert (said - six_words.one_hot("i am a student")).abs().max() > 0.5
    assert said.sum(dim=1).max() <= 1


def test_four_time_steps_write_what_follows_the_first_word(result):
    steps = result.tables[-1].rows

    assert [(number, given, word) for number, given, word, _ in steps] == [
        (1, "i", "love"),
        (2, "i love", "you"),
        (3, "i love you", "very"),
        (4, "i love you very", "much"),
    ]


def test_a_beam_of_two_ranks_by_score(result):
    greedy, *beam = result.tables[3].rows

    assert len(beam) == 2
    assert beam[0][3] >= beam[1][3]
    assert greedy[1] == "i am a student"


def test_training_is_the_same_each_time():
    first, second = six_words.untrained(), six_words.untrained()

    assert torch.equal(first.embedding.weight, second.embedding.weight)
