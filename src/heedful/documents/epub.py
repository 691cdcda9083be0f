"""EPUB: books, which are pages of XHTML in an archive."""

from collections.abc import Sequence
from functools import partial

from heedful.documents.archive import Member, archive_document
from heedful.documents.document import Document, text_document
from heedful.documents.html import decode_html, find_html

_PAGES = (".xhtml", ".html", ".htm", ".ncx")  # and the table of contents


def read_epub(content: bytes, name: str) -> Document:
    """Read the pages of a book and its table of contents."""
    return archive_document(
        content, name, lambda it: it.lower().endswith(_PAGES), partial(_read_member, name)
    )


def _read_member(document: str, member: str, content: bytes) -> Member:
    page = text_document(content, find_html, decode_html, f"{document}, {member}")

    def put_in(translations: Sequence[str]) -> bytes:
        return page.written(translations)

    return Member(member, page.texts, put_in)
