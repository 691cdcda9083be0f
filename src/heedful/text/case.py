"""ALL CAPS and Title Case: read as ordinary text, and carried over to the translation."""

import re
from collections.abc import Callable, Iterable
from functools import cache
from typing import Literal

from heedful.text.words import Word, find_words

Case = Literal["upper", "title"]

_SHOUTED = 7  # letters in capitals that are hardly abbreviations, such as AM and PM
_SMALL = 3  # letters of a word that titles leave small: of, the, and


def find_case(text: str) -> Case | None:
    """Tell whether a text is written in capitals, or with its words capitalised as in titles."""
    if _small_word().search(text):
        return None
    words = [text[start:end] for start, end in find_words(text) if text[start:end].isalpha()]
    if words and all(word.isupper() for word in words):
        return "upper" if sum(map(len, words)) >= _SHOUTED else None
    longer = [word for word in words if len(word) > _SMALL]
    is_title = len(longer) > 2 and words[0][0].isupper() and all(map(str.istitle, longer))
    return "title" if is_title else None


@cache
def _small_word() -> re.Pattern[str]:
    """Match what settles the matter in most texts: a word no title would leave small."""
    return re.compile(rf"(?<![^ ])[a-z]{{{_SMALL + 1},}}(?![^ .,])")


def as_sentence(text: str) -> str:
    """Write a text small but for its first letter, as long as it was."""
    first = next((at for at, letter in enumerate(text) if letter.isalpha()), len(text))
    return text[: first + 1] + "".join(map(_small, text[first + 1 :]))


def without_strange_capitals(text: str, knows: Callable[[str], bool]) -> str:
    """Write small what a vocabulary has only small, as one of lower-cased text has all letters."""
    if text == text.lower():
        return text
    capitals = {letter for letter in set(text) if letter != _small(letter)}
    strange = {letter for letter in capitals if not knows(letter) and knows(_small(letter))}
    return text.translate({ord(letter): _small(letter) for letter in strange})


def carry_over(words: Iterable[Word], case: Case) -> list[Word]:
    """Write a translation in the case of its source, but for what is fixed."""
    return [
        word if word.is_fixed else word._replace(text=_in_case(word.text, case, is_first=not at))
        for at, word in enumerate(words)
    ]


def _in_case(text: str, case: Case, *, is_first: bool) -> str:
    if case == "upper":
        return text.upper()
    is_capitalised = text.islower() and (is_first or len(text) > _SMALL)
    return text[:1].title() + text[1:] if is_capitalised else text


def _small(letter: str) -> str:
    """The small form of a letter, unless it takes more room, as that of "İ" does."""
    small = letter.lower()
    return small if len(small) == 1 else letter
