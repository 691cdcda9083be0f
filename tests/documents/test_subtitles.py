import pytest

from heedful.documents.subtitles import spread
from tests.documents.making import texts_of, translated


def srt(*lines: str) -> bytes:
    return "\n".join(["1", "00:00:01,000 --> 00:00:02,000 X1:1", *lines, "", "2", ""]).encode()


def test_a_cue_is_one_text_and_keeps_its_number_of_lines():
    content = srt("I saw you all", "at the house.")

    assert texts_of(content, "a.srt") == ["I saw you all at the house."]
    assert translated(content, "a.srt") == srt("I SAW YOU ALL", "AT THE HOUSE.")


def test_lines_of_different_speakers_stay_apart():
    assert texts_of(srt("- Yes?", "<i>- No.</i>"), "a.srt") == ["- Yes?", "<i>- No.</i>"]


def test_notes_and_styles_of_webvtt_are_not_said():
    content = b"WEBVTT\n\nSTYLE\n::cue {}\n\nNOTE a\nb\n\nid\n00:01.000 --> 00:02.000\n<v Bob>Hi\n"

    assert texts_of(content, "a.vtt") == ["<v Bob>Hi"]


@pytest.mark.parametrize(
    ("text", "count", "lines"),
    [
        ("a b c d", 2, ["a b", "c d"]),
        ("one", 2, ["one"]),
        ("a bb ccc dddd", 3, ["a bb", "ccc", "dddd"]),
        ("", 1, []),
    ],
)
def test_a_text_is_spread_over_lines_about_as_long(text, count, lines):
    assert spread(text, count) == lines
