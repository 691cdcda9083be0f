"""Text, and tables of text."""

import re

from heedful.documents.document import Passage, as_it_is, has_words

_BREAKS = re.compile(r"[\t\r\n]")


def find_text(text: str) -> list[Passage]:
    """Find the lines that have words."""
    return _between(re.compile(r"[^\r\n]+"), text)


def find_cells(text: str) -> list[Passage]:
    """Find the cells of a TSV that have words; a translation is kept in one cell."""
    cells = _between(re.compile(r"[^\t\r\n]+"), text)
    return [cell._replace(written=lambda it: _BREAKS.sub(" ", it)) for cell in cells]


def _between(pattern: re.Pattern[str], text: str) -> list[Passage]:
    return [
        Passage(*match.span(), match.group(), as_it_is)
        for match in pattern.finditer(text)
        if has_words(match.group())
    ]
