import random
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from heedful.text.markup import put_back, read_elements, take_out
from heedful.text.words import Word, find_words
from heedful.translation.sentence import as_words


def translated(source: str, order: list[int] | None = None) -> str:
    """Translate word for word into capitals, in another order if given."""
    bare, marks = take_out(source)
    ranges = find_words(bare)
    words = [
        Word(" " if place else "", bare[slice(*ranges[index])].upper(), ranges[index][0])
        for place, index in enumerate(order or range(len(ranges)))
    ]
    elements = read_elements(marks, ranges, len(bare))
    return put_back(words, elements, [start for start, _ in ranges])


@pytest.mark.parametrize(
    ("source", "target"),
    [
        ("click <b>here</b> now", "CLICK <b>HERE</b> NOW"),
        ("<p>all of it</p>", "<p>ALL OF IT</p>"),
        ("<b>one two", "<b>ONE TWO"),
        ("one</b> two", "ONE</b> TWO"),
        ("<b><i>x</b></i> y", "<b><i>X</b></i> Y"),
        ("I love you 😀", "I LOVE YOU 😀"),
        ("😀 hi <x/> there", "😀 HI <x/> THERE"),
        ("a<b>b</b>c d", "<b>ABC</b> D"),
        ("<b></b>", "<b></b>"),
        ("hi😀 there", "HI😀 THERE"),
        ('<a href="x">see <i>it</i></a>', '<a href="x">SEE <i>IT</i></a>'),
    ],
)
def test_tags_and_pictures_stand_where_they_stood(source, target):
    assert translated(source) == target


def test_tags_follow_their_words_and_nest_as_before():
    source = "<a>one</a> <b>two <i>three</i></b> four"

    assert translated(source, [3, 2, 1, 0]) == "FOUR <b><i>THREE</i> TWO</b> <a>ONE</a>"


@pytest.mark.parametrize(
    ("source", "num_words"),
    [
        ("<b>13</b><i>14</i><u>15</u>", 3),
        ("<b>kenya</b><i>chad</i>", 2),
        ("<b>10</b><i>000</i>", 2),
        ("<a><b>x</b></a><c><i>y</i></c>", 2),
        ("kenya😀chad", 2),
        ("kenya<img/>chad", 2),
        ("<b>a<x/></b>c", 2),
        ("<b>a</b></i><i>c", 2),
        ("<b>a.</b><i>b</i>", 3),
    ],
)
def test_words_that_only_tags_or_pictures_set_apart_are_read_apart_and_written_as_they_were(
    source, num_words
):
    bare, marks = take_out(source)
    elements = read_elements(marks, find_words(bare), len(bare))

    as_it_was = put_back(as_words(bare), elements, [start for start, _ in find_words(bare)])

    assert len(find_words(bare)) == num_words
    assert as_it_was == source


@pytest.mark.parametrize(
    "source", ["un<wbr>do", "wo<b>rd</b>", "a<!-- c -->b", "<b>東</b><i>京</i>"]
)
def test_a_word_with_a_tag_in_it_stays_one(source):
    assert take_out(source)[0] == re.sub("<[^>]*>", "", source)


def test_elements_that_touched_do_so_again_wherever_they_go():
    source = "<b>kenya</b><i>chad</i> x"

    assert translated(source) == "<b>KENYA</b><i>CHAD</i> X"
    assert translated(source, [1, 0, 2]) == "<i>CHAD</i><b>KENYA</b> X"
    assert translated(source, [0, 2, 1]) == "<b>KENYA</b> X <i>CHAD</i>"


def test_directions_go_around_the_words_they_were_around():
    assert translated("\u2067one two\u2069 three", [2, 0, 1]) == "THREE \u2067ONE TWO\u2069"
    assert translated("\u202eone") == "\u202eONE"


def test_words_torn_apart_leave_the_tag_around_the_larger_part():
    assert translated("<b>one two</b> three", [0, 2, 1]) == "<b>ONE</b> THREE TWO"
    assert translated("<b>one two x</b> three", [0, 3, 1, 2]) == "ONE THREE <b>TWO X</b>"


PARTS = st.recursive(
    st.sampled_from(["one", "two", "three", "<x/>", "😀"]),
    lambda inner: st.tuples(st.sampled_from("bi"), st.lists(inner, max_size=3)).map(
        lambda item: f"<{item[0]}>{' '.join(item[1])}</{item[0]}>"
    ),
    max_leaves=8,
)


@given(st.lists(PARTS, max_size=5).map(" ".join), st.integers(0, 99))
def test_every_tag_comes_back_once_and_balanced_whatever_the_order_of_the_words(source, seed):
    order = list(range(len(find_words(take_out(source)[0]))))
    random.Random(seed).shuffle(order)

    target = translated(source, order)

    # Emoji that come to stand side by side are one mark.
    assert sorted("".join(m.text for m in take_out(target)[1])) == sorted(
        "".join(m.text for m in take_out(source)[1])
    )
    assert is_balanced(target)


def is_balanced(text: str) -> bool:
    open_tags: list[str] = []
    for mark in take_out(text)[1]:
        if mark.text in ("<b>", "<i>"):
            open_tags.append(mark.text)
        elif mark.text.startswith("</") and open_tags.pop() != mark.text.replace("/", ""):
            return False
    return not open_tags
