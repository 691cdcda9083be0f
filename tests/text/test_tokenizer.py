import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from heedful.errors import ConfigError, ModelFolderError
from heedful.specials import BOS, EOS, PAD, UNK
from heedful.text.normalise import normalise
from heedful.text.tokenizer import Tokenizer, TokenizerConfig, choose_vocab_size, train_tokenizer

TEXTS = ["the cat sat on the mat in 2017", "le chat est sur le tapis", "the cats, les chats"] * 4


def learn(texts, vocab_size: int = 0) -> Tokenizer:
    return train_tokenizer(lambda: iter(texts), TokenizerConfig(vocab_size=vocab_size))


TOKENIZER = learn(TEXTS)


@given(st.text())
@example("▁ is a character too ▁▁")
@example("<s> </s> <unk> <0x41>")
@example("\0\x1f\x7f\u2028\ufeff\ufffd")
@example("🏳️‍🌈 שלום 你好 e\u0301")
@example(" \t lots \r\n of   space ")
def test_decoding_what_was_encoded_gives_the_normalised_text(text):
    assert TOKENIZER.decode(TOKENIZER.encode(text)) == normalise(text)


@given(st.text())
def test_what_each_piece_spells_is_the_text(text):
    ids = TOKENIZER.encode(text)

    assert len(TOKENIZER.spell(ids)) == len(ids)
    assert "".join(TOKENIZER.spell(ids)) == normalise(text)


def test_a_character_is_known_if_it_need_not_be_spelt_in_bytes():
    assert TOKENIZER.knows("a")
    assert not TOKENIZER.knows("你")
    for _ in range(2):  # the second time from memory
        assert TOKENIZER.unknown_characters("a 你, 好! €½") == {"你", "好", "€", "½"}


@given(st.text())
def test_no_text_is_ever_unknown(text):
    assert not {PAD, UNK, BOS, EOS} & set(TOKENIZER.encode(text))


def test_the_reserved_ids_are_fixed():
    assert (PAD, UNK, BOS, EOS) == (0, 1, 2, 3)
    assert TOKENIZER.pieces([PAD, UNK, BOS, EOS]) == ["<pad>", "<unk>", "<s>", "</s>"]


def test_reserved_ids_are_left_out_of_the_text():
    ids = TOKENIZER.encode("the cat")

    assert TOKENIZER.decode([BOS, *ids, EOS, PAD, UNK]) == "the cat"


def test_a_word_looks_the_same_at_the_start_and_inside():
    first, inside = TOKENIZER.encode("cat"), TOKENIZER.encode("the cat")

    assert inside[-len(first) :] == first


def test_every_digit_is_a_piece_of_its_own():
    pieces = TOKENIZER.pieces(TOKENIZER.encode("2017"))

    assert [piece.strip("▁") for piece in pieces if piece != "▁"] == ["2", "0", "1", "7"]


def test_typographic_spaces_are_kept():
    text = "1\u202f234,50\u00a0€"

    assert TOKENIZER.decode(TOKENIZER.encode(text)) == text


@pytest.mark.parametrize(
    ("texts", "vocab_size"),
    [
        (["a"], 0),
        (["a"], 32_000),
        ([""], 0),
        (["你好" + chr(0x4E00 + i) for i in range(3_000)], 320),
    ],
    ids=["one letter", "far too many pieces asked", "no letter", "more characters than pieces"],
)
def test_no_corpus_is_too_small_or_too_rich(texts, vocab_size):
    tokenizer = learn(texts, vocab_size)

    assert tokenizer.decode(tokenizer.encode("quite another text")) == "quite another text"
    assert tokenizer.vocab_size <= (vocab_size or 32_000)


def test_the_vocabulary_grows_with_the_square_root_of_the_text():
    assert choose_vocab_size(4_000_000) == 8_000
    assert choose_vocab_size(100) == 512
    assert choose_vocab_size(10**12) == 32_000


def test_the_same_text_gives_the_same_vocabulary():
    assert learn(TEXTS).model == TOKENIZER.model


def test_a_vocabulary_without_room_is_refused():
    with pytest.raises(
        ConfigError, match=r"vocab_size must be at least 320 .*, got 100; 0 chooses"
    ):
        TokenizerConfig(vocab_size=100)


def test_a_damaged_vocabulary_is_named(tmp_path):
    path = tmp_path / "tokenizer.model"
    path.write_bytes(b"not a vocabulary")

    with pytest.raises(ModelFolderError, match=r"tokenizer\.model: cannot be read as a vocabulary"):
        Tokenizer.load(path)
