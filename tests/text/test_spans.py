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


def test_of_overlapping_spans_the_first_named_stays():
    long, inner, other = (Span(a, b, "", "copy") for a, b in [(4, 9), (5, 6), (0, 2)])

    assert without_overlaps([long, inner, other]) == [other, long]
