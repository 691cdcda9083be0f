"""Sentences as people type them: without capital or full stop, in haste, about other people.

Corpora are tidier than what a translator is asked to read. A share of the training pairs is written
otherwise, always the same ones of a corpus: noise of the kind that OpusTrainer adds.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from random import Random

from heedful.data.corpus import text_digest
from heedful.data.tsv import Row
from heedful.errors import ConfigError

_WORD = re.compile(r"[^\W\d_]+")
_ENDS = re.compile(r"\s*[.!?…。！？]+$")
_OPENS = re.compile(r"^[¿¡]\s*")
MOST_COUNTED = 200_000  # sentences of a language, by which to tell which words have a capital
_NAMED_SHARE = 0.4  # of the rows with a name that a corpus has too often
_LONG = 4  # letters of a word, to be mistyped

# Names of which a corpus of examples has too many, and others that any language writes alike. They
# begin with a consonant, so that "de Mary" and "y Mary" stay right.
_MEN = """
Ben Boris Bruno Carlos Chris Daniel David Diego Felix Frank Gabriel Jack James Jan John Jonas
Julian Karim Karl Kevin Leo Liam Louis Lucas Marco Mark Martin Max Michael Mohamed Noah Pablo
Patrick Paul Pedro Peter Pierre Ravi Robert Sam Samuel Simon Stefan Theo Thomas Tim Victor Walter
William
"""
_WOMEN = """
Barbara Camille Carla Carmen Chloe Clara Claire Diana Fatima Jane Jasmin Julia Karin Kate Laura
Lea Lena Linda Lisa Louise Lucy Maria Marie Marta Mia Nadia Nina Paula Rita Rosa Sandra Sara Sofia
Sonia Susan Sylvia Teresa Vera Victoria Zoe
"""
_OTHERS = {"Tom": _MEN.split(), "Mary": _WOMEN.split()}


@dataclass(frozen=True, kw_only=True)
class FormsConfig:
    """How many pairs are written as people type them."""

    share: float = 0.0
    """Of the training pairs: most without capital and full stop, some mistyped or in small letters;
    0 leaves all as they are."""

    def __post_init__(self) -> None:
        if not 0 <= self.share <= 1:
            raise ConfigError(f"share must be from 0 to 1, got {self.share:g}")


class Casing:
    """Which words of a language are written with a capital wherever they stand."""

    def __init__(self) -> None:
        self._seen: Counter[tuple[str, str]] = Counter()

    def count(self, language: str, text: str) -> None:
        """Look at the words of a sentence, but the first, which always has a capital."""
        self._seen.update((language, word) for word in _WORD.findall(text)[1:])

    def begin_small(self, language: str, text: str) -> str:
        """Write a sentence without its first capital, unless the word has it everywhere."""
        first = _WORD.search(text)
        if not first or (len(first[0]) > 1 and first[0].isupper()):
            return text
        word, small = first[0], first[0][0].lower() + first[0][1:]
        if self._seen[language, small] <= self._seen[language, word]:
            return text
        return text[: first.start()] + small + text[first.end() :]


def as_typed(rows: Iterable[Row], config: FormsConfig, casing: Casing) -> Iterator[Row]:
    """Write a share of the rows as people type them."""
    for row in rows:
        draw = Random(text_digest("\t".join((*row[:2], str(row.direction)))))
        row = _renamed(row, draw)
        yield _typed(row, draw, casing) if draw.random() < config.share else row


def casing_of(rows: Iterable[Row]) -> Casing:
    """Count how words are written, in so many sentences of each language."""
    casing, counted = Casing(), Counter[str]()
    for row in rows:
        for language, text in zip(_languages(row), row[:2], strict=True):
            if counted[language] < MOST_COUNTED:
                counted[language] += 1
                casing.count(language, text)
    return casing


def _typed(row: Row, draw: Random, casing: Casing) -> Row:
    kind = draw.random()
    if kind < 0.35:
        return _without_stop(_without_capital(row, casing))
    if kind < 0.5:
        return _without_capital(row, casing)
    if kind < 0.65:
        return _without_stop(row)
    if kind < 0.8:
        small = row.source.lower()
        return row._replace(source=small[:1].upper() + small[1:] if kind < 0.72 else small)
    return row._replace(source=_mistyped(row.source, draw))


def _without_capital(row: Row, casing: Casing) -> Row:
    source, target = map(casing.begin_small, _languages(row), row[:2])
    return row._replace(source=source, target=target)


def _without_stop(row: Row) -> Row:
    """Leave out what ends both sides, if both end alike."""
    ends = [found[0].strip() if (found := _ENDS.search(text)) else "" for text in row[:2]]
    if ends[0] != ends[1]:
        return row
    bare = [_OPENS.sub("", _ENDS.sub("", text)) for text in row[:2]]
    return row._replace(source=bare[0], target=bare[1]) if all(bare) else row


def _mistyped(text: str, draw: Random) -> str:
    """Drop, double or exchange a letter inside one of the longer words."""
    words = [word for word in _WORD.finditer(text) if len(word[0]) >= _LONG]
    if not words:
        return text
    word = draw.choice(words)
    at = draw.randrange(word.start() + 1, word.end() - 1)
    one, other = text[at], text[at + 1]
    return text[:at] + draw.choice([other, one + one + other, other + one]) + text[at + 2 :]


def _renamed(row: Row, draw: Random) -> Row:
    """Call somebody otherwise, if both sides call her by the same name as often."""
    for name, others in _OTHERS.items():
        counts = [_WORD.findall(text).count(name) for text in row[:2]]
        is_whole = [text.count(name) for text in row[:2]] == counts  # and no name of Tommy
        if is_whole and counts[0] == counts[1] > 0 and draw.random() < _NAMED_SHARE:
            other = draw.choice(others)
            source, target = (text.replace(name, other) for text in row[:2])
            row = row._replace(source=source, target=target)
    return row


def _languages(row: Row) -> tuple[str, str]:
    way = row.direction
    return (way.from_language, way.to_language) if way else ("source", "target")
