import zipfile
from io import BytesIO

import pytest

from heedful.documents import archive as bounds
from heedful.errors import CorpusError
from tests.documents.making import WORD, archive, docx, member, texts_of, translated


def test_other_members_their_order_and_their_packing_stay():
    content = archive(
        {"mimetype": "application/epub+zip", "b.png": b"\0" * 99, "a.xhtml": "<p>a</p>"},
        stored=("mimetype",),
    )

    done = translated(content, "a.epub")

    with zipfile.ZipFile(BytesIO(content)) as before, zipfile.ZipFile(BytesIO(done)) as after:
        for old, new in zip(before.infolist(), after.infolist(), strict=True):
            assert (old.filename, old.compress_type, old.date_time) == (
                new.filename, new.compress_type, new.date_time
            )  # fmt: skip
        assert after.read("b.png") == before.read("b.png")
    assert done[30:38] == b"mimetype"  # where readers look for it
    assert member(done, "a.xhtml") == "<p>A</p>"


def test_a_member_without_text_to_translate_stays_byte_for_byte():
    header = f'<?xml version="1.0"?>\n<w:hdr xmlns:w="{WORD}" ><w:p/></w:hdr>\n'
    content = docx("<w:p><w:r><w:t>a</w:t></w:r></w:p>", header1=header)

    assert member(translated(content, "a.docx"), "word/header1.xml") == header


ENTITIES = '<!DOCTYPE a [<!ENTITY b "c"><!ENTITY d SYSTEM "file:///etc/passwd">]>'


@pytest.mark.parametrize(
    ("document", "reason"),
    [
        (f"{ENTITIES}<a>&b;&d;</a>", "declares entities"),
        (f"{ENTITIES}<a/>", "declares entities"),
        ("<a><b>", "is damaged"),
        ("", "is damaged"),
        ("<a>" * 5_000 + "</a>" * 5_000, "is damaged"),
    ],
)
def test_xml_that_is_none_of_a_document_is_refused(document, reason):
    with pytest.raises(CorpusError, match=rf"a\.docx, word/document\.xml: {reason}"):
        texts_of(archive({"word/document.xml": document}), "a.docx")


def test_a_bomb_is_refused_before_it_is_unpacked():
    with pytest.raises(CorpusError, match=r"a\.docx: unpacks to .* too much"):
        texts_of(archive({"word/document.xml": b" " * (8 << 20)}), "a.docx")


@pytest.mark.parametrize(
    ("bound", "value"), [("MOST_MEMBERS", 1), ("MOST_BYTES", 9), ("MOST_OF_ONE", 9)]
)
def test_numbers_and_sizes_are_bounded(bound, value, monkeypatch):
    content = docx("<w:p/>")
    assert texts_of(content, "a.docx") == []

    monkeypatch.setattr(bounds, bound, value)

    with pytest.raises(CorpusError, match="too much"):
        texts_of(content, "a.docx")


def test_a_size_that_is_a_lie_is_an_error():
    content = bytearray(archive({"word/document.xml": b" " * 5_000}))
    for at in (content.find(b"PK\1\2") + 24, 22):  # the directory's and the member's own
        content[at : at + 4] = (10).to_bytes(4, "little")

    with pytest.raises(CorpusError, match="is damaged"):
        texts_of(bytes(content), "a.docx")


@pytest.mark.parametrize("cut", [10, 100, -10])
def test_half_an_archive_is_an_error(cut):
    with pytest.raises(CorpusError, match="is damaged, or no file of its kind"):
        texts_of(docx("<w:p/>")[:cut], "a.docx")


def test_what_has_a_password_is_refused():
    content = bytearray(archive({"word/document.xml": b"<a/>"}))
    for start, at in ((b"PK\1\2", 8), (b"PK\3\4", 6)):
        content[content.find(start) + at] |= 1

    with pytest.raises(CorpusError, match="is protected by a password"):
        texts_of(bytes(content), "a.docx")


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_two_files_of_one_name_are_refused():
    written = BytesIO()
    with zipfile.ZipFile(written, "w") as file:
        file.writestr("word/document.xml", "<a/>")
        file.writestr("word/document.xml", "<b/>")

    with pytest.raises(CorpusError, match="two files of one name"):
        texts_of(written.getvalue(), "a.docx")
