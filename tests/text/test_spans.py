import pytest

from heedful.text.spans import (
    Span,
    find_copies,
    find_tags,
    find_unreadable,
    without_overlaps,
)


def copies(text: str) -> list[str]:
    return [span.text for span in find_copies(text)]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("See https://a.b/c_(d)?x=1&y=2.", ["https://a.b/c_(d)?x=1&y=2"]),
        ("(http://x.y/z), www.a-b.org!", ["http://x.y/z", "www.a-b.org"]),
        ("见https://x.y/z。谢谢", ["https://x.y/z"]),
        ("Mail a.b+c@d-e.co.uk.", ["a.b+c@d-e.co.uk"]),
        ("{name} {0:.2f} {} {{ x }} ${y}", ["{name}", "{0:.2f}", "{}", "{{ x }}", "${y}"]),
        ("%s %d %1$s %.2f %(name)s %PATH%", ["%s", "%d", "%1$s", "%.2f", "%(name)s", "%PATH%"]),
        ("$x costs $5", ["$x"]),
        ("Tom &amp; Jerry&#39;s", ["&amp;", "&#39;"]),
        ("100% sure, 100%d, 50 %der", []),
        ("%{n} #{n} {$n} {n:>10} {n, number}", ["%{n}", "#{n}", "{$n}", "{n:>10}", "{n, number}"]),
        ("{n, plural, one {# dog} other {# dogs}}!", ["{n, plural, one {# dog} other {# dogs}}"]),
        ("%d%% %zu %p <%= n %> 5 % a year", ["%d", "%%", "%zu", "%p", "<%= n %>"]),
        ("HTTP://X.Y/Z, https://x.y/?q={q}.", ["HTTP://X.Y/Z", "https://x.y/?q={q}"]),
        ("http://x.y<br>now {Hello, my dear}", ["http://x.y"]),
        ("a {b and c} @ d & e", []),
        (
            "%" + "0" * 40 + "d %(a)" + "0" * 40 + "s",
            ["%" + "0" * 40 + "d", "%(a)" + "0" * 40 + "s"],
        ),
        (
            "#hashtag2021, #2021goals by @some_body: #1, C#, &#38;",
            ["#hashtag2021", "#2021goals", "@some_body", "&#38;"],
        ),
        (
            "from 2001:db8::1 to ::1, fe80::, 1:2:3:4:5:6:7:8.",
            ["2001:db8::1", "::1", "fe80::", "1:2:3:4:5:6:7:8"],
        ),
        ("00:1B:44:11:3a:b7 at 12:30:45, a::b std::x", ["00:1B:44:11:3a:b7"]),
        ("550e8400-e29b-41d4-a716-446655440000!", ["550e8400-e29b-41d4-a716-446655440000"]),
        ("0x1F, 1e-5 or 2.5E3 and 10^6, 10^-9", ["0x1F", "1e-5", "2.5E3", "10^6", "10^-9"]),
        ("2e étage, 3e-mail, 4x4, 1ex2, x^2", []),
        ("\u2066http://x.y/z\u2069, http://x.y/\u200b", ["http://x.y/z", "http://x.y/"]),
    ],
)
def test_addresses_placeholders_and_entities_are_found_and_little_else(text, found):
    assert copies(text) == found


def test_tags_are_found_but_not_comparisons():
    text = '<b class="x>y">Hi</b> a < b > c <br/> <!-- a <b> --> <?xml v?> 1 < 2 <a'

    tags = [match.group() for match in find_tags(text)]

    assert tags == ['<b class="x>y">', "</b>", "<br/>", "<!-- a <b> -->", "<?xml v?>"]


def test_words_of_a_script_that_the_vocabulary_has_no_letter_of_are_found():
    found = find_unreadable("peace is мир и мир, but škoda is known", unknown="мирš")

    assert [span.text for span in found] == ["мир и мир"]


def test_symbols_without_a_meaning_and_accents_without_a_letter_are_found():
    text = "a \ue123 b \U000f0000 \U000e0999 \u0301 e\u0301"

    found = find_unreadable(text, unknown="\ue123\U000f0000\U000e0999\u0301")

    assert [span.text for span in found] == ["\ue123", "\U000f0000", "\U000e0999", "\u0301"]


def test_of_overlapping_spans_the_first_named_stays():
    long, inner, other = (Span(a, b, "", "copy") for a, b in [(4, 9), (5, 6), (0, 2)])

    assert without_overlaps([long, inner, other]) == [other, long]
