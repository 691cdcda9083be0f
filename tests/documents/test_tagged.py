import pytest

from heedful.documents.tagged import Node, Tagged


@pytest.fixture
def tagged() -> Tagged:
    tagged = Tagged()
    tagged.write("a ")
    bold = tagged.begin("bold")
    tagged.write("b")
    tagged.alone("picture")
    tagged.end(bold)
    return tagged


def test_a_text_is_read_as_it_was_written(tagged):
    assert tagged.text == "a <x0>b<x1/></x0>"
    assert tagged.read(tagged.text) == ["a ", Node("bold", ["b", Node("picture")])]


def test_tags_may_move_with_their_words(tagged):
    assert tagged.read("<x1/><x0>B</x0> A") == [Node("picture"), Node("bold", ["B"]), " A"]


@pytest.mark.parametrize(
    "broken",
    [
        "a b",
        "<x0>b</x0>",
        "<x0><x0>b</x0><x1/></x0>",
        "</x0><x0><x1/>",
        "<x0><x1/>",
        "<x9/>",
        "</x0>",
    ],
)
def test_a_translation_with_other_tags_is_not_read(tagged, broken):
    assert tagged.read(broken) is None


def test_tags_that_a_text_has_are_not_taken_for_ours():
    tagged = Tagged()
    tagged.write("<x0>")
    tagged.alone("picture")

    assert tagged.text == "<x0><xx0/>"
    assert tagged.read("<XX0><xx0/>") == ["<XX0>", Node("picture")]
