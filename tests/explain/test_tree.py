"""The tree of a beam search: what it finds is what the search of training and shipping finds."""

import numpy as np
import pytest
import torch

from heedful.decoding.hypothesis import SearchConfig
from heedful.decoding.search import beam_search, greedy_search
from heedful.explain.tree import search_tree
from heedful.specials import EOS

SIZE = 9  # pieces of a language in which each piece makes the next more or less likely


class Length:
    """A state that knows how much is written."""

    def __init__(self, length=0):
        self.length = length

    def select(self, rows):
        return self


def language(seed: int) -> np.ndarray:
    """Make the scores of [length, last piece, next piece], so that no two sums are the same."""
    scores = np.random.default_rng(seed).normal(size=(13, SIZE, SIZE)).astype(np.float32) * 2
    scores[..., EOS] += 1
    return torch.tensor(scores).log_softmax(-1).numpy()


def tree_of(likely: np.ndarray, limit: int, config: SearchConfig):
    def step(last, state):
        return likely[state.length, list(last)], Length(state.length + 1)

    return search_tree(step, Length(), limit, config)


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("beam_size", [1, 2, 4, 12])
def test_what_comes_out_is_what_the_search_finds(beam_size, seed):
    config = SearchConfig(beam_size=beam_size, n_best=beam_size)
    likely = language(seed)

    tree = tree_of(likely, 12, config)

    def step(last, state):
        return torch.tensor(likely)[state.length, last], Length(state.length + 1)

    if beam_size == 1:
        wanted = greedy_search(step, Length(), [12])
    else:
        (wanted,) = beam_search(step, Length(), [12], config)
    assert [it.pieces for it in tree.best] == [it.pieces for it in wanted]
    for found, other in zip(tree.best, wanted, strict=True):
        assert found.log_probability == pytest.approx(other.log_probability, abs=1e-5)


def test_every_candidate_says_what_became_of_it():
    config = SearchConfig(beam_size=2)
    likely = language(3)

    tree = tree_of(likely, 6, config)

    kept = {()}
    for step in tree.steps:
        assert all(node.pieces[:-1] in kept for node in step)
        assert [node.rank for node in step] == list(range(len(step)))
        assert [node.total for node in step] == sorted((it.total for it in step), reverse=True)
        for node in step:
            assert (node.pieces[-1] == EOS) == (node.fate in ("finished", "ended too low"))
            assert node.fate != "finished" or node.rank < 2
        kept = {node.pieces for node in step if node.fate == "kept"}
        assert len(kept) <= 2
    numbers = [node.number for step in tree.steps for node in step]
    assert numbers == list(range(1, len(numbers) + 1))


def test_at_the_length_limit_what_goes_on_is_cut():
    never = np.full((3, SIZE, SIZE), np.log(1 / (SIZE - 1)), dtype=np.float32)
    never[..., EOS] = -np.inf

    tree = tree_of(never, 3, SearchConfig(beam_size=2))

    assert len(tree.steps) == 3
    assert [node.fate for node in tree.steps[-1]] == ["cut", "cut", "outranked", "outranked"]
    assert not tree.best[0].is_finished
