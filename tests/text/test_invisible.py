import pytest
from hypothesis import given
from hypothesis import strategies as st

from heedful.text.invisible import lacks_invisible, without_invisible


@pytest.mark.parametrize(
    "mark", ["\u00ad", "\u200b", "\u200c", "\u200d", "\u200e", "\u2060", "\ufeff", "\U000e0041"]
)
def test_marks_that_are_not_seen_are_taken_out_wherever_they_stand(mark):
    assert without_invisible(f"{mark}Ken{mark}ya{mark} and {mark}Chad") == "Kenya and Chad"
    assert lacks_invisible(f"Ken{mark}ya", "Kenya")
    assert not lacks_invisible(f"Ken{mark}ya", f"Ke{mark}nia")


@pytest.mark.parametrize("mark", ["\ufe0e", "\ufe0f"])
def test_what_asks_a_letter_to_be_a_picture_is_taken_out(mark):
    assert without_invisible(f"Ken{mark}ya") == "Kenya"
    assert lacks_invisible(f"Ken{mark}ya", "Kenya")


@pytest.mark.parametrize(
    "text",
    [
        "می\u200cخواهم",  # Persian: the letters before it do not join those after it
        "क्\u200dष and ക്\u200d",  # Hindi and Malayalam: how a letter is drawn
        "ខ្ញុំ\u200bស្រឡាញ់",  # Khmer: the end of a word
        "👨\u200d👩\u200d👧 🏴\U000e0067\U000e0062\U000e007f",
        "http://x.y/a\u200bb and <a title='a\u00adb'>",
        "ℹ\ufe0f ✔\ufe0e ☎\ufe0f 1\ufe0f\u20e3 ©\ufe0f 葛\ufe00",
        "no such mark é",
    ],
)
def test_marks_that_mean_something_stay(text):
    assert without_invisible(text) == text


@given(st.text("a<b> 👨\u200d\u200b\u00adم{}/:", max_size=30))
def test_nothing_that_is_seen_is_ever_taken_out(text):
    taken = without_invisible(text)

    assert taken.translate(dict.fromkeys(map(ord, "\u200d\u200b\u00ad"))) == text.translate(
        dict.fromkeys(map(ord, "\u200d\u200b\u00ad"))
    )
