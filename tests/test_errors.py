import pytest

from heedful.errors import printable


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("größer ≈ 10 км, 東京 😀", "größer ≈ 10 км, 東京 😀"),
        ("two\nlines\r", r"two\nlines\r"),
        ("\x1b]0;title\x07\x1b[2J", r"\x1b]0;title\x07\x1b[2J"),
        ("\u202egnp.exe", r"\u202egnp.exe"),
        ("caf\udce9", r"caf\udce9"),
    ],
)
def test_what_a_terminal_would_obey_is_spelt_out(text, shown):
    assert printable(text) == shown
