"""Which pieces spell which word, and from attention between pieces to links between words."""

from collections.abc import Callable, Iterable, Sequence
from itertools import accumulate
from typing import Any, NamedTuple

from heedful.text.words import find_words

Range = tuple[int, int]


class WordPieces(NamedTuple):
    """The words of a text that is cut into pieces."""

    text: str
    ranges: list[Range]
    """Where each word starts and ends."""
    pieces: list[range]
    """The pieces of each word; a piece may be part of several words."""

    @property
    def words(self) -> list[str]:
        """The words themselves."""
        return [self.text[start:end] for start, end in self.ranges]


def word_pieces(
    spelling: Sequence[str], find: Callable[[str], list[Range]] = find_words
) -> WordPieces:
    """Find the words in what each piece spells.

    A space, or a byte that does not complete a character, belongs to what follows.
    """
    text = "".join(spelling)
    spans = []
    for part, end in zip(spelling, accumulate(map(len, spelling)), strict=True):
        start = end - len(part.lstrip())
        spans.append((start, max(end, start + 1)))
    ranges, pieces, first = find(text), [], 0
    for start, end in ranges:
        while spans[first][1] <= start:
            first += 1
        last = first
        while last < len(spans) and spans[last][0] < end:
            last += 1
        pieces.append(range(first, last))
    return WordPieces(text, ranges, pieces)


def between_words(attention: Any, source: WordPieces, target: WordPieces) -> list[list[Any]]:
    """Add up how much the pieces of each target word looked at those of each source word.

    Attention has a row for each target piece and a column for each source piece. What stands there
    is a number, or an array of the numbers of several heads.
    """
    return [
        [sum(attention[row][column] for row in word for column in seen) for seen in source.pieces]
        for word in target.pieces
    ]


def best_links(attention: Any, source: WordPieces, target: WordPieces) -> list[int]:
    """Return for each target word the source word that its pieces looked at most."""
    return [place_of_largest(looks) for looks in between_words(attention, source, target)]


def place_of_largest(values: Iterable[float]) -> int:
    """Return the place of the largest, or of the first of equals; 0 if there are none."""
    return max(enumerate(values), key=lambda item: item[1], default=(0, 0.0))[0]
