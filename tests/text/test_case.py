from string import ascii_letters

import pytest
from hypothesis import given
from hypothesis import strategies as st

from heedful.text.case import as_sentence, carry_over, find_case, without_strange_capitals
from heedful.text.words import Word


@pytest.mark.parametrize(
    ("text", "case"),
    [
        ("STOP THE CAR!", "upper"),
        ("WARNING", "upper"),
        ("NATO", None),
        ("I", None),
        ("The Return of the King Begins", "title"),
        ("John Smith", None),
        ("An ordinary sentence with Names.", None),
        ("东京", None),
        ("", None),
    ],
)
def test_capitals_and_titles_are_told_from_ordinary_text(text, case):
    assert find_case(text) == case


@given(st.text())
def test_a_text_keeps_its_length_when_it_is_written_as_a_sentence(text):
    assert len(as_sentence(text)) == len(text)


def test_a_sentence_begins_with_a_capital():
    assert as_sentence("STOP THE CAR!") == "Stop the car!"


def test_the_case_is_carried_over_but_for_what_is_fixed():
    words = [Word("", "straße"), Word(" ", "der"), Word(" ", "{name}", is_fixed=True)]

    assert [word.text for word in carry_over(words, "upper")] == ["STRASSE", "DER", "{name}"]
    assert [word.text for word in carry_over(words, "title")] == ["Straße", "der", "{name}"]


def test_a_word_with_capitals_of_its_own_keeps_them_in_a_title():
    words = [Word("", "iPhone"), Word(" ", "mit"), Word(" ", "macOS"), Word(" ", "McLaren")]

    titled = [word.text for word in carry_over(words, "title")]

    assert titled == ["iPhone", "mit", "macOS", "McLaren"]


def test_in_a_title_the_first_word_begins_with_a_capital_and_others_of_more_than_three_letters():
    words = [Word("", "der"), Word(" ", "von"), Word(" ", "über"), Word(" ", "das")]

    assert [word.text for word in carry_over(words, "title")] == ["Der", "von", "Über", "das"]


def test_capitals_that_only_a_vocabulary_of_small_letters_lacks_are_written_small():
    assert without_strange_capitals("Ab Ж", set("ab").__contains__) == "ab Ж"
    assert without_strange_capitals("Ab", set("Aab").__contains__) == "Ab"


def test_abbreviations_are_no_capitals_to_carry_over():
    assert find_case("1:43 AM – 9:03 PM") is None


WORDS = ["the", "House", "OF", "dogs", "ÄRZTE", "o'clock", "etc.", "x1", "e\u0301t", " ", ", ", "-"]


@given(parts=st.lists(st.sampled_from(WORDS), max_size=9))
def test_the_quick_look_at_a_text_decides_what_the_thorough_one_would(parts):
    """The quick look knows the letters of English alone; so Cyrillic ones are looked at twice."""
    text = "".join(parts)
    letters = "абвгдежзийклмнопрстуфхцчшщ"
    cyrillic = str.maketrans(ascii_letters, letters + letters.upper())

    assert find_case(text) == find_case(text.translate(cyrillic))
