"""What is taken out of a sentence, and where it is put among the words of a translation."""

import sys

import pytest

from heedful.text.spans import Span
from heedful.text.words import Word, join_words
from heedful.translation.apart import find_cuts, put_in, take_out


def cuts(sentence: str, *texts: str):
    starts = map(sentence.index, texts)
    spans = [Span(at, at + len(text), text, "copy") for at, text in zip(starts, texts, strict=True)]
    return find_cuts(sentence, spans)


@pytest.mark.parametrize(
    ("sentence", "texts", "left"),
    [
        ("See the file (a.txt) now.", ["a.txt"], "See the file now."),
        ("Open [{x}] and {y}.", ["{x}", "{y}"], "Open and."),
        ("(see {x}) now", ["{x}"], "(see) now"),
        ("Hello, {name}!", ["{name}"], "Hello!"),
        ("{name}, come here.", ["{name}"], "come here."),
        ("Give {name}, please.", ["{name}"], "Give, please."),
        ("It is here: {x}", ["{x}"], "It is here"),
        ("Wait - {x}", ["{x}"], "Wait"),
        ("a {x} {y} b", ["{x}", "{y}"], "a b"),
        ("a{x}b", ["{x}"], "ab"),
    ],
)
def test_brackets_go_with_a_span_and_so_does_what_divides_it_at_an_end(sentence, texts, left):
    remainder = take_out(sentence, cuts(sentence, *texts))

    assert remainder.text == left
    assert [sentence[at] for at in remainder.offsets] == list(left)


def test_a_word_of_the_remainder_is_linked_to_its_place_in_the_sentence():
    sentence = "a (x) b {y} c"
    remainder = take_out(sentence, cuts(sentence, "x", "{y}"))
    word = Word("", "C", remainder.text.index("c"), (0, remainder.text.index("b")))

    assert remainder.in_sentence(word) == Word("", "C", 12, (0, 6))
    assert remainder.in_sentence(Word("", "?")) == Word("", "?")


def written(sentence: str, texts: list[str], words: list[tuple[str, str, int]]) -> tuple[str, bool]:
    """Put the texts among words, each with its gap and where in the sentence it is from."""
    linked = [Word(gap, text, source) for gap, text, source in words]
    found, is_certain = put_in(linked, cuts(sentence, *texts), sentence)
    return join_words(found), is_certain


@pytest.mark.parametrize(
    ("sentence", "texts", "words", "expected"),
    [
        ("Hello, {x}!", ["{x}"], [("", "Hallo", 0), ("", "!", 10)], "Hallo, {x}!"),
        ("Hello {x}", ["{x}"], [("", "Hallo", 0), ("", "!", 0)], "Hallo! {x}"),
        ("{x} a b", ["{x}"], [("", "B", 6), (" ", "A", 4)], "{x} B A"),
        ("{x} {y} a", ["{x}", "{y}"], [("", "A", 8)], "{x} {y} A"),
        ("a {x} b c", ["{x}"], [("", "A", 0), (" ", "C", 8), (" ", "B", 6)], "A {x} C B"),
        ("a (x) b.", ["x"], [("", "A", 0), (" ", "B", 6), ("", ".", 7)], "A (x) B."),
    ],
)
def test_a_span_is_put_between_what_comes_before_it_and_after_it(sentence, texts, words, expected):
    assert written(sentence, texts, words) == (expected, True)


def test_a_place_is_uncertain_where_words_have_crossed_whatever_comes_later():
    words = [("", "B", 6), (" ", "A", 0)]

    text, is_certain = written("a {x} b {y}", ["{x}", "{y}"], words)

    assert text.split()[-1] == "{y}"
    assert sorted(text.split()) == ["A", "B", "{x}", "{y}"]
    assert not is_certain
    assert written("a b {y}", ["{y}"], [("", "B", 2), (" ", "A", 0)]) == ("B A {y}", True)


def steps_to_put_in(num_words: int) -> int:
    """Count the lines and parts of lines that run while one cut is put among many words."""
    sentence = "a " * num_words + "{x}" + " a" * num_words
    words = [Word(" ", "b", 2 * at) for at in range(2 * num_words)]
    (cut,) = cuts(sentence, "{x}")
    steps = 0

    def count(*_):
        nonlocal steps
        steps += 1
        return count

    before = sys.gettrace()
    sys.settrace(count)
    try:
        put_in(words, [cut], sentence)
    finally:
        sys.settrace(before)
    return steps


def test_a_place_among_four_times_the_words_is_found_in_four_times_the_steps():
    assert steps_to_put_in(400) < 5 * steps_to_put_in(100)
