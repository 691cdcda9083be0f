from html.parser import HTMLParser

import pytest

from heedful.documents.html import find_html
from tests.documents.making import texts_of, translated


def page(content: str, encoding: str = "utf-8") -> str:
    return translated(content.encode(encoding), "a.html").decode(encoding)


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("<p>one <b>two</b></p><div>three</div>", "<p>ONE <b>TWO</b></p><div>THREE</div>"),
        ("<p>a\n  b</p>", "<p>A B</p>"),
        ("<script>a</script>b<style>c</style>", "<script>a</script>B<style>c</style>"),
        ("<p>run <code>make it</code> now", "<p>RUN <code>make it</code> NOW"),
        ('<p translate="no">a</p>b', '<p translate="no">a</p>B'),
        ("a <span class='x notranslate'>b <span>c</span></span> d",
         "A <span class='x notranslate'>b <span>c</span></span> D"),
        ("caf&eacute; &amp; tea&nbsp;x &lt;b&gt;", "CAFÉ &amp; TEA&nbsp;X &lt;B&gt;"),
        ("<title>a</title><meta name=b>", "<title>A</title><meta name=b>"),
        ("a<br>b<!-- c -->d", "A<br>B<!-- c -->D"),
        ("<b><i>a</b>b</i>", "<b><i>A</b>B</i>"),
        ("<p><a href='x'>a</a>", "<p><a href='x'>A</a>"),
        ("<script>never closed a", "<script>NEVER CLOSED A"),
        ("1 < 2 and a", "1 &lt; 2 AND A"),
    ],
)  # fmt: skip
def test_what_is_read_is_translated_and_all_else_stays(source, expected):
    assert page(source) == expected


def test_a_translation_cannot_become_markup():
    (passage,) = find_html("<p>a <b>b</b></p>")

    written = passage.written("<script>alert(1)</script> <x0>R&D &lt;</x0> & <")

    assert written == ("&lt;script&gt;alert(1)&lt;/script&gt; <b>R&amp;D &lt;</b> &amp; &lt;")


class _Tags(HTMLParser):
    def __init__(self):
        super().__init__()
        self.found = []

    def handle_starttag(self, tag, attrs):
        self.found.append((tag, attrs))

    def handle_endtag(self, tag):
        self.found.append(tag)


def test_the_parser_of_python_finds_the_same_tags_as_before():
    source = "<ul><li>one <em>of</em><li><img src=a alt='>'> two</ul><table><tr><td>x</table>"
    before, after = _Tags(), _Tags()

    before.feed(source)
    after.feed(page(source))

    assert after.found == before.found


@pytest.mark.parametrize("encoding", ["latin-1", "cp1251"])
def test_the_encoding_that_is_declared_is_kept(encoding):
    letter = {"latin-1": "é", "cp1251": "ж"}[encoding]
    source = f'<meta charset="{encoding}"><p>{letter}</p>'

    assert page(source, encoding).endswith(f"<p>{letter.upper()}</p>")


def test_what_an_encoding_does_not_have_is_spelt_out():
    done = translated(b'<meta charset="ascii"><p>a</p>', "a.html", lambda text: "\u4e2d")

    assert done.endswith(b"<p>&#20013;</p>")


def test_an_encoding_that_is_none_of_text_is_not_believed():
    assert texts_of(b'<meta charset="zip"><p>a</p>', "a.html") == ["a"]
