"""Trees as sequences, and a search that can write nothing else."""

from random import Random

import pytest
import torch

from heedful.decoding.hypothesis import SearchConfig
from heedful.decoding.search import beam_search, greedy_search
from heedful.paper.linear_trees import Alphabet, Half, WellFormed, well_formed
from heedful.paper.trees import Tree
from heedful.specials import BOS
from tests.paper.test_brackets import drawn, tree

ALPHABET = Alphabet(["S", "NP", "VP", "PP"], first=10)
GOLD = tree("(S (NP (DT the) (NN cat)) (VP (VBD sat)))")


def test_a_tree_is_written_as_vinyals_and_others_do():
    ids = ALPHABET.encode(GOLD)

    assert ALPHABET.spell(ids) == "(S (NP XX XX )NP (VP XX )VP )S"


@pytest.mark.parametrize("seed", range(10))
def test_what_is_written_is_read_back(seed):
    gold = drawn(Random(seed), [f"w{place}" for place in range(7)])

    assert ALPHABET.decode(ALPHABET.encode(gold), list(gold.leaves())) == gold


class Nothing:
    def select(self, rows):
        return self


def noise(seed: int):
    """A network that has learned nothing, and likes to open brackets."""
    random = torch.Generator().manual_seed(seed)

    def step(last, state):
        scores = 3 * torch.randn(len(last), ALPHABET.vocab_size, generator=random)
        scores[:, list(ALPHABET.opens)] += 2
        return scores.log_softmax(dim=-1), state

    return step


@pytest.mark.parametrize("beam_size", [1, 4])
@pytest.mark.parametrize("room", [6, 9, 40])
@pytest.mark.parametrize("seed", range(5))
def test_whatever_the_network_says_a_tree_comes_out(beam_size, room, seed):
    words = [Tree("NN", (), word) for word in ("a", "b", "c")]
    step, state = well_formed(noise(seed), ALPHABET), WellFormed(Nothing(), (Half(3, room),))

    if beam_size == 1:
        (found,) = greedy_search(step, state, [room + 1])
    else:
        ((found, *_),) = beam_search(step, state, [room + 1], SearchConfig(beam_size=beam_size))

    assert found.is_finished
    assert len(found.pieces) <= room
    made = ALPHABET.decode(found.pieces, words)
    assert [leaf.word for leaf in made.leaves()] == ["a", "b", "c"]


def test_a_gold_tree_is_always_allowed():
    half = Half(3, 30).after(BOS, ALPHABET)
    for id in ALPHABET.encode(GOLD):
        closing, may_write, may_open = half.choices()
        allowed = {ALPHABET.word} if may_write else set()
        allowed |= set(ALPHABET.opens) if may_open else set()
        allowed |= {ALPHABET.closing[closing]} if closing else set()
        assert id in allowed
        half = half.after(id, ALPHABET)

    assert half.choices() == (None, False, False)  # only the end is left


def test_what_is_not_allowed_leads_nowhere():
    assert Half(3, 30).after(ALPHABET.word, ALPHABET).is_dead  # a word outside of brackets
    assert Half(3, 30).after(ALPHABET.closing["S"], ALPHABET).is_dead
