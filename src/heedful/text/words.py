"""The words of a text."""

import re
from functools import cache

# Vowel signs, joiners and the like: parts of a word, though not `\w`.
_MARKS = (
    "\u0300-\u036f\u0483-\u0489\u0591-\u05c7\u0610-\u061a\u064b-\u065f\u0670\u06d6-\u06ed"
    "\u0900-\u0963\u0966-\u0eff\u1000-\u109f\u1780-\u17d3\u200c\u200d\ufe00-\ufe0f"
)
_IDEOGRAPHS = "\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"


@cache
def _pattern() -> re.Pattern[str]:
    return re.compile(f"(?:(?![{_IDEOGRAPHS}])[\\w{_MARKS}])+|\\S")


def find_words(text: str) -> list[tuple[int, int]]:
    """Find where each word starts and ends; a symbol or an ideograph is a word of its own."""
    return [match.span() for match in _pattern().finditer(text)]
