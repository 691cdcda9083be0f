from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from heedful.text.piece_dropout import PieceDropout, piece_halves
from heedful.text.tokenizer import TokenizerConfig, train_tokenizer

TEXTS = ["lower and lowest", "the newest and the widest", "the lower, the wider"] * 20


@pytest.fixture(scope="module")
def tokenizer():
    return train_tokenizer(lambda: iter(TEXTS), TokenizerConfig(vocab_size=330))


@given(st.sampled_from(TEXTS), st.floats(0, 0.99), st.integers(0, 99))
def test_broken_pieces_spell_the_same_text(tokenizer, text, rate, seed):
    ids = tokenizer.encode(text)

    broken = PieceDropout(tokenizer, rate)(ids, Random(seed))

    assert tokenizer.decode(broken) == text
    assert len(broken) >= len(ids)


def test_every_merged_piece_is_made_of_its_halves(tokenizer):
    halves = piece_halves(tokenizer)

    assert set(halves) == set(tokenizer.merged_ids)
    for id, (right, left) in halves.items():
        assert tokenizer.pieces([id])[0] == "".join(tokenizer.pieces([left, right]))


def test_a_rate_breaks_about_that_share_of_the_pieces(tokenizer):
    (piece,) = [id for id in tokenizer.merged_ids if len(tokenizer.pieces([id])[0]) == 2][:1]

    broken = PieceDropout(tokenizer, 0.1)([piece] * 10_000, Random(1))

    assert len(broken) - 10_000 == pytest.approx(1_000, rel=0.15)


def test_the_same_random_numbers_break_the_same_pieces(tokenizer):
    ids = tokenizer.encode(TEXTS[1])
    dropout = PieceDropout(tokenizer, 0.5)

    assert dropout(ids, Random(3)) == dropout(ids, Random(3))
    assert len({tuple(dropout(ids, Random(seed))) for seed in range(9)}) > 1


def test_rate_zero_leaves_the_pieces_whole(tokenizer):
    ids = tokenizer.encode(TEXTS[0])

    assert PieceDropout(tokenizer, 0.0)(ids, Random(1)) == ids
