"""Pairs between two languages that have no corpus of their own, through sentences of a third.

Where one corpus says a sentence in French and another says the same sentence in German, these two
translate each other (pivot triangles).
"""

from collections.abc import Iterator, Sequence
from itertools import combinations, groupby
from operator import itemgetter
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from heedful.data.corpus import text_digest
from heedful.data.tsv import Row
from heedful.storage.languages import Direction


class Part(NamedTuple):
    """The training pairs of one corpus."""

    path: Path
    direction: Direction


def bridges(parts: Sequence[Part], held_out: set[int]) -> Iterator[Row]:
    """Yield pairs of translations of one sentence, either way; one pair for each such sentence.

    More would be many of few sentences. None of them has a side to validate on, by its digest.
    """
    for language in sorted({code for part in parts for code in _codes(part)}):
        sharing = [_Sentences(part, language) for part in parts if language in _codes(part)]
        for digest, group in groupby(_by_digest(sharing), key=itemgetter(0)):
            row = _one_of(digest, sharing, [(number, line) for _, number, line in group])
            if row and held_out.isdisjoint(map(text_digest, (row.source, row.target))):
                yield row
                yield row.exchanged()


class _Sentences:
    """The sentences of a corpus in one language, and what stands beside them."""

    def __init__(self, part: Part, language: str) -> None:
        languages = _codes(part)
        self.side = languages.index(language)
        self.other = languages[1 - self.side]
        self._text = np.memmap(part.path, dtype=np.uint8, mode="r")
        ends = np.flatnonzero(self._text == ord("\n"))
        self._bounds = np.stack([np.concatenate([[0], ends[:-1] + 1]), ends])

    def __len__(self) -> int:
        return int(self._bounds.shape[1])

    def pair(self, line: int) -> list[str]:
        """Read both sides of a line."""
        start, end = self._bounds[:, line]
        return self._text[start:end].tobytes().decode().split("\t")

    def digests(self) -> NDArray[np.uint64]:
        """Return what stands for each sentence."""
        found = (text_digest(self.pair(line)[self.side]) for line in range(len(self)))
        return np.fromiter(found, dtype=np.uint64, count=len(self))

    def translation(self, line: int) -> str:
        """Read what stands beside a sentence."""
        return self.pair(line)[1 - self.side]


def _codes(part: Part) -> tuple[str, str]:
    return part.direction.from_language, part.direction.to_language


def _by_digest(corpora: Sequence[_Sentences]) -> Iterator[tuple[int, int, int]]:
    """Yield digest, corpus and line of every sentence, equal sentences side by side."""
    digests = np.concatenate([corpus.digests() for corpus in corpora])
    lengths = [len(corpus) for corpus in corpora]
    numbers = np.repeat(np.arange(len(corpora)), lengths)
    lines = np.concatenate([np.arange(length) for length in lengths])
    for at in np.argsort(digests, kind="stable"):
        yield int(digests[at]), int(numbers[at]), int(lines[at])


def _one_of(
    digest: int, corpora: Sequence[_Sentences], places: Sequence[tuple[int, int]]
) -> Row | None:
    """Choose one pair of the translations of a sentence into different languages, if there is."""
    between = [
        (one, other)
        for one, other in combinations(places, 2)
        if corpora[one[0]].other != corpora[other[0]].other
    ]
    if not between:
        return None
    chosen = between[digest % len(between)]
    (first, at), (second, line) = chosen
    direction = Direction.of(corpora[first].other, corpora[second].other)
    return Row(corpora[first].translation(at), corpora[second].translation(line), direction)
