"""The one form in which text is compared, counted and cut into pieces."""

import re
import unicodedata

_SPACES = re.compile(r" [ \t\n\v\f\r]+|[\t\n\v\f\r][ \t\n\v\f\r]*")  # but not a single space


def normalise(text: str) -> str:
    """Compose Unicode (NFC), fold runs of ASCII white space to one space, and trim.

    Nothing else changes: typographic spaces, controls and look-alikes carry meaning.
    """
    return _SPACES.sub(" ", unicodedata.normalize("NFC", text)).strip(" ")
