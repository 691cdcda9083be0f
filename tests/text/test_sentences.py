import pytest
from hypothesis import given
from hypothesis import strategies as st

from heedful.text.sentences import LONG, LONGEST, cut_text


def cut(text: str) -> list[str]:
    return [text[start:end] for start, end in cut_text(text)]


def cut_long(text: str) -> list[str]:
    """Cut a text that is made long by a paragraph of its own after it."""
    return cut(f"{text} {'And so on. ' * LONG}")[: text.count("|") + 1]


@pytest.mark.parametrize(
    "text",
    [
        "Mr. Smith met Dr. J. Bach.|He left.",
        "It is 3.5 km.|Then it was e.g. this.|Wait...|What?!",
        '"Really?" he asked.|(Yes.)|"No!"|He left in 1990.|The end.',
        "Am 3. Oktober z.B. in Wien.|Danach nicht.",
        "See https://a.b/c.d?x=Y.|Then <a title='One. Two.'>this</a>.",
        "¿Qué?|¡Nada!",
    ],
)
def test_a_long_text_is_cut_into_its_sentences(text):
    assert (
        cut_long(text.replace("|", " ") + "|" * text.count("|"))[: text.count("|")]
        == (text.split("|")[:-1])
    )


def test_stops_that_need_no_space_end_a_sentence():
    text = "你好。今天天气很好！「是的。」他说。" * 10

    assert cut(text)[:4] == ["你好。", "今天天气很好！", "「是的。」", "他说。"]


def test_two_sentences_on_a_line_of_ordinary_length_stay_together():
    assert cut("One is here. Another is there.") == ["One is here. Another is there."]


def test_controls_layout_and_tags_of_blocks_separate_what_is_translated():
    text = "a\tb\r\nc    d.  e\0f <p class='x'>g</p>h <b\n>i</b>\ufeff"

    assert cut(text) == ["a", "b", "c", "d.", "e", "f", "g", "h <b\n>i</b>"]


@pytest.mark.parametrize("text", ["", " \t ", "\0\x1b", "\u2028", "\u3000"])
def test_a_text_without_words_has_nothing_to_translate(text):
    assert cut_text(text) == []


@pytest.mark.slow
@pytest.mark.parametrize(
    "unit", ["word ", "x", "你", "e\u0301", "👨‍👩‍👧", "🇩🇪", ". ", "<a ", "\u0301"]
)
def test_a_line_of_a_megabyte_is_cut_into_parts_that_a_model_can_read(unit):
    text = unit * (1_000_000 // len(unit.encode()))

    parts = cut(text)

    assert max(len(part.encode()) for part in parts) <= LONGEST
    assert "".join(parts).replace(" ", "") == text.replace(" ", "")


@pytest.mark.parametrize(
    ("text", "longest", "parts"),
    [
        ("one two three, four, a five six", 25, ["one two three, four,", "a five six"]),
        ("a, one two three four five", 20, ["a, one two three", "four five"]),
        ("one two, three four five six", 21, ["one two, three four", "five six"]),
        ("一二三四，五六，七八九", 24, ["一二三四，五六，", "七八九"]),
        ("abcdefghij", 4, ["abcd", "efgh", "ij"]),
    ],
)
def test_a_long_sentence_is_cut_after_the_last_clause_or_word_of_its_second_half(
    text, longest, parts
):
    assert [text[start:end] for start, end in cut_text(text, longest)] == parts


@pytest.mark.parametrize("unit", ["e\u0301", "👨‍👩‍👧", "👍🏽"])
def test_a_cut_never_parts_what_is_seen_as_one_character(unit):
    assert all(part == unit * (len(part) // len(unit)) for part in cut(unit * 2_000))


def test_a_tag_or_an_address_is_never_cut_however_long():
    address = "https://a.b/" + "c" * 3_000

    assert cut(f"{'word ' * 300}{address} {'word ' * 300}").count(address) == 1


@pytest.mark.parametrize("text", ["ab 😀", "<b>ab</b> 😀😀", "a{x}b 👨‍👩‍👧" * 3])
@pytest.mark.parametrize("longest", [1, 2, 3, 4, 5])
def test_a_cut_ends_even_where_a_character_is_longer_than_what_a_model_reads(text, longest):
    ranges = cut_text(text, longest)

    assert "".join(text[start:end] for start, end in ranges) == text.replace(" ", "")


def test_marks_that_are_not_seen_are_left_out_at_both_ends_and_do_not_cut():
    assert cut("\u200e a\u200bb\ufeffc \u200f\n\ufeffd\u00ad") == ["a\u200bb\ufeffc", "d"]


PIECES = st.sampled_from(
    ["a", "B. ", "你。", " ", "\n", "\0", "<b>", "<p>", "http://x.y/z", "😀", ","]
)


@given(
    st.one_of(st.text(), st.lists(PIECES, max_size=400).map("".join)),
    st.one_of(st.just(LONGEST), st.integers(1, 20)),
)
def test_the_parts_are_in_order_and_only_separators_lie_between(text, longest):
    at = 0
    for start, end in cut_text(text, longest):
        assert at <= start < end
        assert text[start:end] == text[start:end].strip()
        assert not any(letter.isalnum() for letter in _without_tags(text[at:start]))
        at = end
    assert not any(letter.isalnum() for letter in _without_tags(text[at:]))


def _without_tags(text: str) -> str:
    return text.replace("<p>", "").replace("<b>", "")
