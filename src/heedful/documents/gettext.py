"""Catalogues of gettext (PO): messages without a translation get one."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from heedful.documents.document import Passage, has_words

_KEYWORD = re.compile(r'(msgctxt|msgid|msgid_plural|msgstr(?:\[(\d+)\])?)[ \t]+(".*")[ \t]*')
_QUOTED = re.compile(r'[ \t]*(".*")[ \t]*')
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", '"': '"', "\\": "\\"}
_ESCAPED = {value: f"\\{name}" for name, value in _ESCAPES.items()}


@dataclass
class _Entry:
    """One message: its texts, and where its translations stand."""

    texts: dict[str, str] = field(default_factory=dict)
    translations: list[tuple[int, int, str, str]] = field(default_factory=list)
    """Where each stands, the number of its plural form, and what it is."""


def find_messages(text: str) -> list[Passage]:
    """Find messages that are not translated; the header is none."""
    return [
        Passage(start, end, source, _quoted)
        for entry in _entries(text)
        for start, end, number, translation in entry.translations
        if not translation and has_words(source := _source(entry, number))
    ]


def _source(entry: _Entry, number: str) -> str:
    """Return what a form translates: the singular for the first, else the plural."""
    singular = entry.texts.get("msgid", "")
    return entry.texts.get("msgid_plural", singular) if number not in ("", "0") else singular


def _entries(text: str) -> Iterator[_Entry]:
    """Give the messages of a catalogue."""
    entry, keyword, number = _Entry(), "", ""
    at = 0
    for line in text.splitlines(keepends=True):
        content = line.rstrip("\r\n")
        begun, more = _KEYWORD.fullmatch(content), _QUOTED.fullmatch(content)
        if begun:
            if begun[1] in ("msgctxt", "msgid") and entry.translations:
                yield entry
                entry = _Entry()
            keyword, number = begun[1], begun[2] or ""
            quoted, start = begun[3], at + begun.start(3)
            if keyword.startswith("msgstr"):
                end = start + len(quoted)
                entry.translations.append((start, end, number, _unquoted(quoted)))
            else:
                entry.texts[keyword] = _unquoted(quoted)
        elif more and keyword.startswith("msgstr") and entry.translations:
            start, _, number, translation = entry.translations[-1]
            end = at + more.end(1)
            entry.translations[-1] = (start, end, number, translation + _unquoted(more[1]))
        elif more and keyword:
            entry.texts[keyword] += _unquoted(more[1])
        at += len(line)
    yield entry


def _unquoted(quoted: str) -> str:
    return re.sub(r"\\(.)", lambda found: _ESCAPES.get(found[1], found[0]), quoted[1:-1])


def _quoted(text: str) -> str:
    return '"' + re.sub(r'[\n\t\r"\\]', lambda found: _ESCAPED[found[0]], text) + '"'
