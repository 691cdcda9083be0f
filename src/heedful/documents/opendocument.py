"""OpenDocument: paragraphs and headings are translated with the spans and links in them."""

import re
from collections.abc import Sequence
from functools import partial

from lxml import etree
from lxml.etree import _Element as Element

from heedful.documents.archive import Member, archive_document, parse_xml, write_xml
from heedful.documents.document import Document, fold, has_words
from heedful.documents.tagged import Node, Tagged

_TEXT = "{urn:oasis:names:tc:opendocument:xmlns:text:1.0}"
_PARAGRAPHS = (_TEXT + "p", _TEXT + "h")
_AROUND = (_TEXT + "span", _TEXT + "a", _TEXT + "meta")
_SPACE, _PAGE_BREAK = _TEXT + "s", _TEXT + "soft-page-break"
_MARKS = re.compile(
    r"(?:bookmark|reference-mark|change|toc-mark|alphabetical-index-mark)-(start|end)"
)
_PARTS = ("content.xml", "styles.xml")  # headers and footers are styles


def read_opendocument(content: bytes, name: str) -> Document:
    """Read an .odt or an .odp."""
    return archive_document(content, name, _PARTS.__contains__, partial(_read_member, name))


def _read_member(document: str, member: str, content: bytes) -> Member:
    root = parse_xml(content, f"{document}, {member}")
    found = ((element, _Reading(element)) for element in root.iter(*_PARAGRAPHS))
    paragraphs = [(it, reading) for it, reading in found if has_words(reading.tagged.words)]
    texts = [reading.tagged.text for _, reading in paragraphs]

    def put_in(translations: Sequence[str]) -> bytes:
        for (element, reading), text, translation in zip(
            paragraphs, texts, translations, strict=True
        ):
            if translation != text and (nodes := reading.tagged.read(translation)) is not None:
                _fill(element, [*reading.first, *nodes, *reading.last])
        return write_xml(root)

    return Member(member, texts, put_in)


class _Reading:
    """A paragraph as a tagged text, with the marks that stand around all of it."""

    def __init__(self, element: Element) -> None:
        self.tagged = Tagged()
        self.first: list[Node] = []
        self.last: list[Node] = []
        self._read(element)

    def _read(self, element: Element) -> None:
        self.tagged.write(fold(element.text or ""))
        for child in element:
            self._read_child(child)
            self.tagged.write(fold(child.tail or ""))

    def _read_child(self, child: Element) -> None:
        if not isinstance(child.tag, str) or child.tag == _PAGE_BREAK:
            return
        mark = _MARKS.fullmatch(etree.QName(child).localname)
        if mark:
            (self.first if mark[1] == "start" else self.last).append(Node(child))
        elif child.tag == _SPACE:
            self.tagged.write(" ")
        elif child.tag in _AROUND:
            number = self.tagged.begin(child)
            self._read(child)
            self.tagged.end(number)
        else:
            self.tagged.alone(child)


def _fill(element: Element, nodes: Sequence[str | Node]) -> None:
    """Put texts and elements in place of what an element has."""
    element[:] = []
    element.text = None
    for node in nodes:
        if isinstance(node, str):
            last = element[-1] if len(element) else None
            if last is None:
                element.text = (element.text or "") + node
            else:
                last.tail = (last.tail or "") + node
            continue
        node.thing.tail = None
        if node.inside is not None:
            _fill(node.thing, node.inside)
        element.append(node.thing)
