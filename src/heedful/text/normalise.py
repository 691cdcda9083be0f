"""The one form in which text is compared, counted and cut into pieces."""

import re
import unicodedata

from heedful.errors import CorpusError

_SPACES = re.compile(r" [ \t\n\v\f\r]+|[\t\n\v\f\r][ \t\n\v\f\r]*")  # but not a single space
_SURROGATES = re.compile("[\ud800-\udfff]")  # halves of characters, left by bytes not UTF-8


def normalise(text: str) -> str:
    """Compose Unicode (NFC), fold runs of ASCII white space to one space, and trim.

    Nothing else changes: typographic spaces, controls and look-alikes carry meaning.
    """
    return _SPACES.sub(" ", unicodedata.normalize("NFC", text)).strip(" ")


def refuse_halves(text: str) -> None:
    """Refuse what has halves of characters, which no file and no vocabulary can hold."""
    if not text.isascii() and _SURROGATES.search(text):
        raise CorpusError(f"{text!r} is not valid Unicode text; is it UTF-8?")
