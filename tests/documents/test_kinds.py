import pytest

from heedful.documents.kinds import KINDS, read_document
from heedful.errors import CorpusError
from tests.documents.making import archive, docx, odt, pptx, shouted, texts_of, translated

SAMPLES = {
    ".txt": b"\xef\xbb\xbfone\r\n\r\n two  \r\n",
    ".md": b"# Title #\n\ntext *here*\n\n```\ncode\n```\n",
    ".srt": b"1\r\n00:00:01,000 --> 00:00:02,000\r\nHello\r\nyou\r\n\r\n",
    ".vtt": b"WEBVTT\n\nNOTE hidden\n\n00:01.000 --> 00:02.000 align:start\nHello\n",
    ".html": b"<!doctype html><p class=a>Hello <b>you</b> &amp; me<script>x < y</script>",
    ".htm": b"<p>Hello",
    ".xhtml": b'<?xml version="1.0"?><html xmlns="x"><p>Hello<br/>you</p></html>',
    ".tsv": b"one\t2\tthree\n",
    ".po": b'msgid ""\nmsgstr "Language: de\\n"\n\nmsgid "one"\nmsgstr ""\n',
    ".docx": docx("<w:p><w:r><w:t>Hello</w:t></w:r></w:p>"),
    ".odt": odt("<text:p>Hello</text:p>"),
    ".pptx": pptx("<a:p><a:r><a:t>Hello</a:t></a:r></a:p>"),
    ".odp": odt("<text:p>Hello</text:p>"),
    ".epub": archive({"mimetype": "application/epub+zip", "a.xhtml": "<p>Hello</p>"}),
}


def test_every_kind_is_tried_here():
    assert SAMPLES.keys() == KINDS.keys()


@pytest.mark.parametrize("kind", KINDS)
def test_where_nothing_is_translated_a_file_comes_back_byte_for_byte(kind):
    content = SAMPLES[kind]

    assert translated(content, f"a{kind}", lambda text: text) == content
    assert translated(content, f"a{kind}") != content  # the test can fail


@pytest.mark.parametrize("kind", KINDS)
def test_what_was_translated_can_be_read_again(kind):
    once = translated(SAMPLES[kind], f"A{kind.upper()}")

    again = texts_of(once, f"a{kind}")

    if kind != ".po":  # where all is translated now
        assert again == [shouted(text) for text in texts_of(SAMPLES[kind], f"a{kind}")]


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("a.pdf", "translate what it was made from"),
        ("a.doc", "save it as .docx"),
        ("a.exe", "give one of .txt, .md"),
        ("a", "give one of"),
    ],
)
def test_other_kinds_are_refused_with_what_to_do(name, hint):
    with pytest.raises(CorpusError, match=hint):
        read_document(b"", name)


@pytest.mark.parametrize(
    "kind", [kind for kind in KINDS if kind not in (".html", ".htm", ".xhtml")]
)
def test_what_is_of_no_kind_is_refused_in_a_line(kind):
    with pytest.raises(CorpusError, match=f"a{kind}"):
        read_document(b"\xff\0\xfe" * 100, f"a{kind}")


def test_text_in_utf16_stays_so():
    content = "\ufeff1\n00:00:01,000 --> 00:00:02,000\nZoë\n".encode("utf-16-le")

    assert "ZOË" in translated(content, "a.srt").decode("utf-16")
