"""Heads found by what they look at, on attention made by hand and on a model."""

import numpy as np
import pytest

from heedful.errors import ConfigError
from heedful.paper import heads
from heedful.paper.heads import Looks, ranked
from heedful.paper.request import Request, write_pictures
from heedful.storage.checkpoint import load_model

WORDS = ["The", "Law", "is", "old", ",", "but", "its", "application", "is", "just"]


def looks(**pairs: tuple[str, str, float]) -> Looks:
    """Make heads that look at themselves, but for one word each."""
    weights = np.stack([np.eye(len(WORDS))] * 4).reshape(2, 2, len(WORDS), len(WORDS))
    for name, (looker, target, share) in pairs.items():
        layer, head = int(name[1]), int(name[2])
        row = WORDS.index(looker)
        weights[layer, head, row] *= 1 - share
        weights[layer, head, row, WORDS.index(target)] += share
    return Looks(WORDS, weights)


def test_the_head_that_looks_from_a_pronoun_at_its_noun_comes_first():
    found = ranked("figure4", looks(h10=("its", "Law", 0.9), h01=("its", "old", 0.9)), "its", "Law")

    assert str(found[0]) == "layer 2, head 1"
    assert found[0].score == pytest.approx(0.9)
    assert found[1].score == 0


def test_the_head_that_looks_far_comes_first():
    near, far = ("its", "but", 0.9), ("just", "Law", 0.6)

    found = ranked("figure3", looks(h00=near, h11=far), "just", "Law")

    assert (str(found[0]), found[0].score) == ("layer 2, head 2", pytest.approx(0.6))
    assert ranked("figure3", looks(h00=near), "its", "but")[0].score == 0


def test_a_head_that_always_looks_one_back_follows_no_structure():
    size = len(WORDS)
    back = np.roll(np.eye(size), -1, axis=1)
    varied = np.eye(size)[np.random.default_rng(1).permutation(size)]
    weights = np.stack([back, varied]).reshape(1, 2, size, size)

    found = ranked("figure5", Looks(WORDS, weights))

    assert str(found[0]) == "layer 1, head 2"
    assert found[1].score < 0.2 < found[0].score


def test_a_sentence_without_a_pronoun_is_refused():
    with pytest.raises(ConfigError, match="no pronoun is in the sentence"):
        ranked("figure4", Looks(["old", "law"], np.ones((1, 1, 2, 2))))


def test_what_words_look_at_adds_up_to_what_the_end_of_sentence_leaves(model_folder):
    model, tokenizer = load_model(model_folder), model_folder.tokenizer()

    found = heads.looks_of(model, tokenizer, "abc de f")

    assert found.words == ["abc", "de", "f"]
    sums = found.weights.sum(axis=-1)
    assert (sums > 0).all()
    assert (sums < 1).all()


@pytest.mark.slow
@pytest.mark.parametrize("name", heads.KINDS)
def test_each_figure_ranks_all_heads_of_a_model_and_is_drawn(name, model_folder, tmp_path):
    (result,) = heads.run(Request(name=name, model=model_folder.path))

    assert "All 2 heads" in result.scale
    assert result.claims[0].verdict in (
        "holds",
        "does not hold at this scale",
        "cannot be tested here",
    )
    assert len(write_pictures(result, tmp_path)) == 2 * len(result.tables)


def test_one_word_is_no_sentence(model_folder):
    with pytest.raises(ConfigError, match="'abc': fewer than two words; give a sentence"):
        list(heads.run(Request(name="figure5", model=model_folder.path, text="abc")))
