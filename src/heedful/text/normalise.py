"""The one form in which text is compared, counted and cut into pieces."""

import re
from collections.abc import Iterable
from itertools import groupby
from unicodedata import combining, normalize

from heedful.errors import CorpusError

_SPACES = re.compile(r" [ \t\n\v\f\r]+|[\t\n\v\f\r][ \t\n\v\f\r]*")  # but not a single space
_SURROGATES = re.compile("[\ud800-\udfff]")  # halves of characters, left by bytes not UTF-8
_MOST_MARKS = 30  # in a row, by Unicode's Stream-Safe Text Format (UAX 15, section 13)


def normalise(text: str) -> str:
    """Compose Unicode (NFC), fold runs of ASCII white space to one space, and trim.

    Nothing else changes: typographic spaces, controls and look-alikes carry meaning.
    """
    return _SPACES.sub(" ", compose(text)).strip(" ")


def compose(text: str) -> str:
    """Compose Unicode (NFC), but leave alone what has more marks in a row than any language.

    They would have to be sorted, which takes Python the square of their number.
    """
    if not any(map(_is_mark, text[:: _MOST_MARKS + 1])):  # one of which is in any such row
        return normalize("NFC", text)
    parts = [""]
    for _, row in groupby(text, _is_mark):
        part = "".join(row)
        if _is_mark(part[0]) and len(part) > _MOST_MARKS:
            parts += [part, ""]
        else:
            parts[-1] += part
    parts[::2] = [normalize("NFC", part) for part in parts[::2]]
    return "".join(parts)


def _is_mark(character: str) -> bool:
    """Whether a character, or the first of those it is made of, is sorted among others."""
    return character > "\u02ff" and combining(normalize("NFD", character)[0]) > 0


def refuse_no_text(text: object) -> None:
    """Refuse what is no text at all, such as the bytes of one."""
    if not isinstance(text, str):
        raise CorpusError(
            f"{text!r:.60} is {type(text).__name__}, not str; give text, of bytes by .decode()"
        )


def refuse_no_texts(name: str, texts: object) -> None:
    """Refuse what does not hold several texts; one text would be taken for its letters."""
    if isinstance(texts, str | bytes) or not isinstance(texts, Iterable):
        raise CorpusError(f"{name} must be texts, such as a list of str, got {texts!r:.60}")


def refuse_halves(text: str) -> None:
    """Refuse what has halves of characters, which no file and no vocabulary can hold."""
    if not text.isascii() and _SURROGATES.search(text):
        raise CorpusError(f"{text!r} is not valid Unicode text; is it UTF-8?")
