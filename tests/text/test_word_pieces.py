import numpy as np
import pytest

from heedful.text.tokenizer import Tokenizer, TokenizerConfig, train_tokenizer
from heedful.text.word_pieces import WordPieces, best_links, word_pieces


@pytest.fixture(scope="module")
def tokenizer() -> Tokenizer:
    texts = ["the letters of the letter", "l'eau, c'est tout"] * 20
    return train_tokenizer(lambda: iter(texts), TokenizerConfig(vocab_size=320))


def test_every_word_has_its_pieces_and_every_piece_a_word(tokenizer):
    found = word_pieces(tokenizer, tokenizer.encode("the 你 letters, l'eau"))

    assert found.words == ("the", "你", "letters", ",", "l", "'", "eau")
    assert found.membership.any(axis=0).all()
    assert found.membership.any(axis=1).all()


def test_a_character_spelt_in_bytes_is_all_of_its_bytes(tokenizer):
    ids = tokenizer.encode("你好")
    assert len(ids) == 7  # a space, and three bytes each

    found = word_pieces(tokenizer, ids)

    assert found.membership.astype(int).tolist() == [[1, 1, 1, 1, 0, 0, 0], [0, 0, 0, 0, 1, 1, 1]]


def test_words_may_be_found_by_another_rule(tokenizer):
    found = word_pieces(tokenizer, tokenizer.encode("l'eau, c"), lambda text: [(0, 6), (7, 8)])

    assert found.words == ("l'eau,", "c")


def test_a_word_is_linked_to_the_one_its_pieces_looked_at_most():
    source = WordPieces(("a", "bc"), np.array([[True, False, False], [False, True, True]]))
    target = WordPieces(("xy", "z"), np.array([[True, True, False], [False, False, True]]))
    looked = [
        [0.4, 0.3, 0.3],  # x looks at bc
        [0.9, 0.0, 0.0],  # y looks at a, and more so
        [0.4, 0.3, 0.3],  # z looks at bc: its parts are taken together
    ]

    attention = np.array(looked)
    assert best_links(attention, source, target).tolist() == [0, 1]
    assert best_links(np.stack([attention, attention]), source, target).shape == (2, 2)
