"""Which files can be translated, told by their names."""

from collections.abc import Callable, Sequence
from pathlib import PurePath

from heedful.documents.document import Document, Passage, text_document
from heedful.documents.epub import read_epub
from heedful.documents.gettext import find_messages
from heedful.documents.html import decode_html, find_html
from heedful.documents.markdown import find_markdown
from heedful.documents.office import read_slides, read_word
from heedful.documents.opendocument import read_opendocument
from heedful.documents.plain import find_cells, find_text
from heedful.documents.subtitles import find_cues
from heedful.errors import CorpusError

Read = Callable[[bytes, str], Document]


def _text(find: Callable[[str], Sequence[Passage]]) -> Read:
    return lambda content, name: text_document(content, find, name=name)


def _read_html(content: bytes, name: str) -> Document:
    return text_document(content, find_html, decode_html, name)


KINDS: dict[str, Read] = {
    ".txt": _text(find_text),
    ".md": _text(find_markdown),
    ".srt": _text(find_cues),
    ".vtt": _text(find_cues),
    ".html": _read_html,
    ".htm": _read_html,
    ".xhtml": _read_html,
    ".tsv": _text(find_cells),
    ".po": _text(find_messages),
    ".docx": read_word,
    ".odt": read_opendocument,
    ".pptx": read_slides,
    ".odp": read_opendocument,
    ".epub": read_epub,
}
LINE_BY_LINE = (".txt", ".tsv")
_INSTEAD = {
    ".pdf": "a PDF has places of letters and no sentences; translate what it was made from",
    ".doc": "save it as .docx",
    ".ppt": "save it as .pptx",
    ".rtf": "save it as .docx or .odt",
    ".xlsx": "save the sheet as .tsv",
    ".ods": "save the sheet as .tsv",
    ".csv": "save it as .tsv",
}


def ending(name: str) -> str:
    """Return what the name of a file ends in."""
    return PurePath(name).suffix.lower()


def read_document(content: bytes, name: str) -> Document:
    """Read a file by what its name ends in."""
    kind = ending(name)
    if kind not in KINDS:
        hint = _INSTEAD.get(kind, f"give one of {', '.join(KINDS)}")
        raise CorpusError(f"{name}: files of this kind are not translated; {hint}")
    return KINDS[kind](content, PurePath(name).name)
