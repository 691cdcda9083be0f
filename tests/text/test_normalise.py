import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from heedful.errors import CorpusError
from heedful.text.normalise import normalise, refuse_no_text

MARKS = st.text("a\u0301\u0316\u0f73\u0344\ufb1d é\u1100\u1161", max_size=12)


@given(st.lists(MARKS, max_size=6).map(lambda parts: "".join(part * 9 for part in parts)))
def test_what_is_normalised_stays_as_it_is(text):
    assert normalise(normalise(text)) == normalise(text)


@given(st.text("ae\u0301\u0316\u0327 \u1100\u1161", max_size=40))
def test_as_many_accents_as_any_language_has_are_composed_as_unicode_says(text):
    words = unicodedata.normalize("NFC", f"{text[:30]}x{text[30:]}").split(" ")

    assert normalise(f"{text[:30]}x{text[30:]}") == " ".join(filter(None, words))


def test_more_accents_than_any_language_has_are_left_as_they_are():
    row = "\u0301\u0316" * 16

    assert normalise(f"e\u0301 a{row} e\u0301") == f"é a{row} é"
    assert normalise(f"a{row[:4]}") == unicodedata.normalize("NFC", f"a{row[:4]}")


@pytest.mark.parametrize("text", [b"x", 5, None])
def test_what_is_no_text_is_called_by_its_type(text):
    with pytest.raises(CorpusError, match=f"is {type(text).__name__}, not str; give text"):
        refuse_no_text(text)
