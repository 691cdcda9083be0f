import pytest
from hypothesis import given
from hypothesis import strategies as st

from heedful.text.words import best_run, find_words


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Hello, world!", ["Hello", ",", "world", "!"]),
        ("东京 tower", ["东", "京", "tower"]),
        ("हिन्दी भाषा", ["हिन्दी", "भाषा"]),
        ("cafe\u0301 x", ["cafe\u0301", "x"]),
        ("", []),
    ],
)
def test_words_symbols_and_ideographs_are_told_apart(text, words):
    assert [text[start:end] for start, end in find_words(text)] == words


@given(st.text())
def test_whatever_is_not_in_a_word_is_white_space(text):
    at = 0
    for start, end in [*find_words(text), (len(text), len(text))]:
        assert text[at:start].strip() == ""
        at = end


def test_the_best_run_is_that_of_the_largest_sum():
    assert best_run([-1.0, 2.0, -1.0, 2.0, -5.0, 3.0]) == (1, 4)
    assert best_run([-1.0, 0.0]) == (0, 0)
