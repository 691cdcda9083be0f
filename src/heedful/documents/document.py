"""A file that was read: the texts in it, and how it is written with their translations."""

import codecs
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from heedful.errors import CorpusError

_MARKS = (codecs.BOM_UTF8, codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_CODECS = ("utf-8", "utf-16-le", "utf-16-be")
_FOLDED = re.compile(r"[ \t\r\n]+")


@dataclass(frozen=True)
class Document:
    """A file to be translated. Texts may have numbered tags, which must come back."""

    content: bytes
    texts: Sequence[str]
    put_in: Callable[[Sequence[str]], bytes]

    def written(self, translations: Sequence[str]) -> bytes:
        """Write the file with translations in place of its texts.

        Where nothing was translated, it comes back byte for byte.
        """
        if list(translations) == list(self.texts):
            return self.content
        return self.put_in(translations)


class Passage(NamedTuple):
    """A part of a text to be translated."""

    start: int
    end: int
    text: str
    """What is to be translated, which need not be what stands there."""
    written: Callable[[str], str | None]
    """Writes a translation as it has to stand there; None if there is no telling how."""


def has_words(text: str) -> bool:
    """Whether there is anything to translate."""
    return any(map(str.isalpha, text))


def fold(text: str) -> str:
    """Write line ends and tabs as the spaces that they are read as."""
    return _FOLDED.sub(" ", text)


def as_it_is(translation: str) -> str:
    """Write a translation as it came."""
    return translation


def put_in_place(text: str, passages: Sequence[Passage], translations: Sequence[str]) -> str:
    """Write translations over passages; what is as before stays as it was written."""
    written, at = [], 0
    for passage, translation in zip(passages, translations, strict=True):
        new = None if translation == passage.text else passage.written(translation)
        written += [
            text[at : passage.start],
            text[passage.start : passage.end] if new is None else new,
        ]
        at = passage.end
    return "".join([*written, text[at:]])


def text_document(
    content: bytes,
    find: Callable[[str], Sequence[Passage]],
    decoded: Callable[[bytes, str], tuple[str, str]] | None = None,
    name: str = "the file",
) -> Document:
    """Read a file of text, in which passages are found; the mark of its encoding stays."""
    mark = next((mark for mark in _MARKS if content.startswith(mark)), b"")
    if mark or decoded is None:
        encoding = _CODECS[_MARKS.index(mark)] if mark else "utf-8"
        text = decode(content[len(mark) :], encoding, name)
    else:
        text, encoding = decoded(content, name)
    passages = find(text)

    def put_in(translations: Sequence[str]) -> bytes:
        written = put_in_place(text, passages, translations)
        return mark + written.encode(encoding, errors="xmlcharrefreplace")

    return Document(content, [passage.text for passage in passages], put_in)


def decode(content: bytes, encoding: str, name: str) -> str:
    """Decode text; what is none is refused."""
    try:
        text = content.decode(encoding)
    except UnicodeDecodeError as error:
        found = error.object[error.start]
        raise CorpusError(
            f"{name}, byte {error.start + 1}: 0x{found:02x} is not valid {encoding.upper()}; "
            "save it as UTF-8"
        ) from error
    if "\0" in text:
        raise CorpusError(f"{name}: found a zero byte, so this is no text; give text in UTF-8")
    return text
