"""Word and PowerPoint: a paragraph is translated whole, and its runs are tags in it."""

import copy
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import NamedTuple

from lxml import etree
from lxml.etree import _Element as Element

from heedful.documents.archive import Member, archive_document, parse_xml, write_xml
from heedful.documents.document import Document, has_words
from heedful.documents.tagged import Node, Tagged

_SPACE = "{http://www.w3.org/XML/1998/namespace}space"
_WORD = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_DRAWING = "{http://schemas.openxmlformats.org/drawingml/2006/main}"
_WORD_PARTS = re.compile(r"word/(?:document|header\d*|footer\d*|footnotes|endnotes)\.xml")
_SLIDES = re.compile(r"ppt/(?:slides|notesSlides)/[^/]+\.xml")
_SEEN_BY_TOOLS = ("lang", "noProof", "webHidden")  # of a run, and not seen by readers
_MARKS = re.compile(
    r"(?:bookmark|commentRange|perm|customXml\w*Range|move(?:From|To)Range)(Start|End)"
)
_NO_WIDTH = ("proofErr", "lastRenderedPageBreak")


class _Names(NamedTuple):
    """How one of the two formats calls its parts."""

    paragraph: str
    run: str
    properties: str
    text: str
    of_paragraph: tuple[str, ...]
    """What stands first or last in a paragraph, and says how it looks."""
    around: tuple[str, ...]
    """What has runs inside."""


_OF_WORD = _Names(
    paragraph=_WORD + "p",
    run=_WORD + "r",
    properties=_WORD + "rPr",
    text=_WORD + "t",
    of_paragraph=(_WORD + "pPr",),
    around=tuple(_WORD + name for name in ("hyperlink", "ins", "smartTag", "sdt", "sdtContent")),
)
_OF_SLIDES = _Names(
    paragraph=_DRAWING + "p",
    run=_DRAWING + "r",
    properties=_DRAWING + "rPr",
    text=_DRAWING + "t",
    of_paragraph=(_DRAWING + "pPr", _DRAWING + "endParaRPr"),
    around=(),
)


def read_word(content: bytes, name: str) -> Document:
    """Read a .docx: its text, headers, footers and notes."""
    read = partial(_read_member, name, _OF_WORD)
    return archive_document(content, name, lambda it: bool(_WORD_PARTS.fullmatch(it)), read)


def read_slides(content: bytes, name: str) -> Document:
    """Read a .pptx: its slides and notes."""
    read = partial(_read_member, name, _OF_SLIDES)
    return archive_document(content, name, lambda it: bool(_SLIDES.fullmatch(it)), read)


def _read_member(document: str, names: _Names, member: str, content: bytes) -> Member:
    root = parse_xml(content, f"{document}, {member}")
    found = (_Paragraph.read(element, names) for element in root.iter(names.paragraph))
    paragraphs = [paragraph for paragraph in found if paragraph]
    texts = [paragraph.tagged.text for paragraph in paragraphs]

    def put_in(translations: Sequence[str]) -> bytes:
        for paragraph, text, translation in zip(paragraphs, texts, translations, strict=True):
            if translation != text and (nodes := paragraph.tagged.read(translation)) is not None:
                paragraph.write(nodes)
        return write_xml(root)

    return Member(member, texts, put_in)


class _Field(NamedTuple):
    """What stands before and after the result of a field, such as a page number or a link."""

    before: list[Element]
    after: list[Element]


@dataclass
class _Paragraph:
    """A paragraph as a tagged text; runs in its usual format have no tag."""

    element: Element
    names: _Names
    usual: Element | None
    """The format of most of its letters."""
    tagged: Tagged = field(default_factory=Tagged)
    first: list[Element] = field(default_factory=list)
    last: list[Element] = field(default_factory=list)
    _open: list[tuple[bytes, int]] = field(default_factory=list)

    @classmethod
    def read(cls, element: Element, names: _Names) -> "_Paragraph | None":
        """Read a paragraph; None if it has no words, or is woven into another in parts."""
        formats = {_key(run, names): run.find(names.properties) for run in element.iter(names.run)}
        letters = Counter[bytes]()
        for run in _own_runs(element, names):
            letters[_key(run, names)] += len("".join(_texts(run, names)))
        if not letters:
            return None
        paragraph = cls(element, names, formats[letters.most_common(1)[0][0]])
        is_whole = paragraph._read_inside(element)
        paragraph._close()
        return paragraph if is_whole and has_words(paragraph.tagged.words) else None

    def write(self, nodes: Sequence[str | Node]) -> None:
        """Write a translation in place of what the paragraph has."""
        own = [child for child in self.element if child.tag in self.names.of_paragraph]
        before = [child for child in own if child.tag == self.names.of_paragraph[0]]
        after = [child for child in own if child not in before]
        written = [*before, *self.first, *self._written(nodes, self.usual), *self.last, *after]
        self.element[:] = written

    def _read_inside(self, element: Element) -> bool:
        """Read what is in a paragraph or a part of it; False if a field does not end in it."""
        children = [child for child in element if isinstance(child.tag, str)]
        at = 0
        while at < len(children):
            child = children[at]
            local = etree.QName(child).localname
            mark = _MARKS.fullmatch(local)
            if mark:
                (self.first if mark[1] == "Start" else self.last).append(child)
            elif child.tag == self.names.run and _field_step(child):
                found = _field(children, at)
                if not found:
                    return False
                separator, end = found
                self._close()
                number = self.tagged.begin(_Field(children[at : separator + 1], [children[end]]))
                for inner in children[separator + 1 : end]:
                    self._read_child(inner)
                self._close()
                self.tagged.end(number)
                at = end
            elif not self._read_child(child):
                return False
            at += 1
        return True

    def _read_child(self, child: Element) -> bool:
        names = self.names
        if child.tag == names.run:
            self._read_run(child)
        elif child.tag in names.around:
            self._close()
            number = self.tagged.begin(child)
            is_whole = self._read_inside(child)
            self._close()
            self.tagged.end(number)
            return is_whole
        elif child.tag not in names.of_paragraph and not _is_nothing(child):
            self._close()
            self.tagged.alone(child)
        return True

    def _read_run(self, run: Element) -> None:
        """Read the text of a run; what else is in it is a tag of its own."""
        properties = run.find(self.names.properties)
        key = _key(run, self.names)
        for child in run:
            if child is properties or _is_nothing(child):
                continue
            if child.tag == self.names.text:
                self._open_format(key, properties)
                self.tagged.write(child.text or "")
            else:
                self._close()
                alone = copy.copy(run)
                alone[:] = [copy.deepcopy(properties)] if properties is not None else []
                alone.append(child)
                self.tagged.alone(alone)

    def _open_format(self, key: bytes, properties: Element | None) -> None:
        """Go on in a format; runs in a row that look alike are one."""
        if self._open and self._open[0][0] == key:
            return
        self._close()
        if key != _key_of(self.usual):
            shape = etree.Element(self.names.run) if properties is None else properties
            self._open.append((key, self.tagged.begin(shape)))

    def _close(self) -> None:
        if self._open:
            self.tagged.end(self._open.pop()[1])

    def _written(
        self, nodes: Sequence[str | Node], properties: Element | None
    ) -> Iterator[Element]:
        for node in nodes:
            if isinstance(node, str):
                yield self._run(node, properties)
            elif isinstance(node.thing, _Field):
                yield from node.thing.before
                yield from self._written(node.inside or (), properties)
                yield from node.thing.after
            elif node.inside is None:
                yield node.thing
            elif node.thing.tag in self.names.around:
                own = [child for child in node.thing if child.tag.endswith("Pr")]
                node.thing[:] = [*own, *self._written(node.inside, properties)]
                yield node.thing
            else:
                is_bare = node.thing.tag == self.names.run
                yield from self._written(node.inside, None if is_bare else node.thing)

    def _run(self, text: str, properties: Element | None) -> Element:
        """Make a run of a text in a format."""
        run = etree.Element(self.names.run, nsmap=self.element.nsmap)
        if properties is not None:
            run.append(copy.deepcopy(properties))
        written = etree.SubElement(run, self.names.text)
        written.text = text
        if self.names is _OF_WORD:
            written.set(_SPACE, "preserve")
        return run


def _own_runs(element: Element, names: _Names) -> Iterator[Element]:
    """Give the runs of a paragraph, but not those of paragraphs inside it, as in text boxes."""
    for child in element:
        if child.tag == names.run:
            yield child
        elif child.tag in names.around:
            yield from _own_runs(child, names)


def _texts(run: Element, names: _Names) -> list[str]:
    return [child.text or "" for child in run if child.tag == names.text]


def _key(run: Element, names: _Names) -> bytes:
    return _key_of(run.find(names.properties))


def _key_of(properties: Element | None) -> bytes:
    """Write a format so that those which look alike are the same."""
    if properties is None:
        return b""
    seen = copy.deepcopy(properties)
    seen.tail = None
    for name in ("lang", "dirty", "err", "noProof"):
        seen.attrib.pop(name, None)
    for child in list(seen):
        if isinstance(child.tag, str) and etree.QName(child).localname in _SEEN_BY_TOOLS:
            seen.remove(child)
    written: bytes = etree.tostring(seen, method="c14n", exclusive=True)
    return written if len(seen) or seen.attrib else b""


def _is_nothing(element: Element) -> bool:
    """Whether it says nothing of the text: comments, and what was last seen of its spelling."""
    return not isinstance(element.tag, str) or etree.QName(element).localname in _NO_WIDTH


def _field_step(run: Element) -> str:
    """Return what a run does to a field: begin, separate or end it, if it does."""
    for child in run:
        if child.tag == _WORD + "fldChar":
            return str(child.get(_WORD + "fldCharType"))
    return ""


def _field(children: Sequence[Element], begin: int) -> tuple[int, int] | None:
    """Find where the result of a field begins, and where the field ends."""
    depth, separator = 0, None
    for at in range(begin, len(children)):
        step = _field_step(children[at]) if children[at].tag == _WORD + "r" else ""
        depth += (step == "begin") - (step == "end")
        if step == "separate" and depth == 1:
            separator = at
        if not depth:
            return (at - 1 if separator is None else separator), at
    return None
