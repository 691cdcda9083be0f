from itertools import chain

import numpy as np
import pytest

from heedful.text.tokenizer import Tokenizer, TokenizerConfig, train_tokenizer
from heedful.text.word_pieces import best_links, between_words, word_pieces


@pytest.fixture(scope="module")
def tokenizer() -> Tokenizer:
    texts = ["the letters of the letter", "l'eau, c'est tout"] * 20
    return train_tokenizer(lambda: iter(texts), TokenizerConfig(vocab_size=320))


def test_every_word_has_its_pieces_and_every_piece_a_word(tokenizer):
    found = word_pieces(tokenizer.spell(tokenizer.encode("the 你 letters, l'eau")))

    assert found.words == ["the", "你", "letters", ",", "l", "'", "eau"]
    assert all(found.pieces)
    assert set(chain(*found.pieces)) == set(range(found.pieces[-1].stop))


def test_a_character_spelt_in_bytes_is_all_of_its_bytes(tokenizer):
    ids = tokenizer.encode("你好")
    assert len(ids) == 7  # a space, and three bytes each

    found = word_pieces(tokenizer.spell(ids))

    assert found.pieces == [range(4), range(4, 7)]


def test_words_may_be_found_by_another_rule(tokenizer):
    found = word_pieces(["l'eau", ",", " c"], lambda text: [(0, 6), (7, 8)])

    assert found.words == ["l'eau,", "c"]
    assert found.pieces == [range(2), range(2, 3)]


def test_a_piece_of_two_words_is_part_of_both():
    assert word_pieces(["l'", "eau"]).pieces == [range(1), range(1), range(1, 2)]


def test_a_word_is_linked_to_the_one_its_pieces_looked_at_most():
    source, target = word_pieces(["a", " b", "c"]), word_pieces(["x", "y", " z"])
    attention = [
        [0.4, 0.3, 0.3],  # x looks at bc
        [0.9, 0.0, 0.0],  # y looks at a, and more so
        [0.4, 0.3, 0.3],  # z looks at bc: its parts are taken together
    ]

    assert best_links(attention, source, target) == [0, 1]


def test_many_heads_are_added_up_at_once_as_each_alone():
    source, target = word_pieces(["a", " b", "c"]), word_pieces(["x", "y", " z"])
    heads = np.random.default_rng(1).random((5, 3, 3))

    together = between_words(np.moveaxis(heads, 0, -1), source, target)

    for head, attention in enumerate(heads):
        alone = between_words(attention.tolist(), source, target)
        np.testing.assert_allclose(np.array(together)[..., head], alone)
