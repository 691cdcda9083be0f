"""The words of a text with the gaps between them, so that joining them gives it back."""

import re
import unicodedata
from collections.abc import Iterable, Sequence
from functools import cache
from typing import NamedTuple

# Vowel signs, joiners and the like: parts of a word, though not `\w`.
_MARKS = (
    "\u0300-\u036f\u0483-\u0489\u0591-\u05c7\u0610-\u061a\u064b-\u065f\u0670\u06d6-\u06ed"
    "\u0900-\u0963\u0966-\u0eff\u1000-\u109f\u1780-\u17d3\u200c\u200d\ufe00-\ufe0f"
)
_IDEOGRAPHS = "\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"


class Word(NamedTuple):
    """A word of a translation."""

    gap: str
    """What stands between it and the word before."""
    text: str
    source: int | None = None
    """Where the source word begins that it looked at most, if that is known."""
    looked_at: tuple[int, ...] = ()
    """Where the source words begin that it looked at more than all other words did."""
    is_fixed: bool = False
    """Whether it stands as it must, so that nobody may change it."""


LETTER = f"(?![{_IDEOGRAPHS}])[\\w{_MARKS}]"


@cache
def _pattern() -> re.Pattern[str]:
    return re.compile(rf"(?:{LETTER})+|\S")


def find_words(text: str) -> list[tuple[int, int]]:
    """Find where each word starts and ends; a symbol or an ideograph is a word of its own."""
    return [match.span() for match in _pattern().finditer(text)]


def are_words(left: str, right: str) -> bool:
    """Whether one word would end and another begin between two characters, if a space were there.

    Ideographs need none.
    """
    is_end = left.isalnum() or unicodedata.category(left or " ") in ("Mn", "Mc", "Po", "Pe", "Pf")
    ideographs = re.compile(f"[{_IDEOGRAPHS}]")
    return is_end and right.isalnum() and not ideographs.search(left + right)


def whole_words(texts: Iterable[str]) -> re.Pattern[str]:
    """Match any of the texts where it is no part of a longer word; the longest that is there."""
    longest_first = "|".join(map(re.escape, sorted(texts, key=len, reverse=True)))
    return re.compile(rf"(?<!{LETTER})(?:{longest_first})(?!{LETTER})")


def join_words(words: Iterable[Word]) -> str:
    """Write words and gaps one after another."""
    return "".join(word.gap + word.text for word in words)


def best_run(values: Sequence[float]) -> tuple[int, int]:
    """Find the run of the largest sum, as its start and end; without a positive value, none."""
    best, found, total, start = 0.0, (0, 0), 0.0, 0
    for index, value in enumerate(values):
        if total <= 0:
            total, start = 0.0, index
        total += value
        if total > best:
            best, found = total, (start, index + 1)
    return found
