"""From where each piece looked to which word translates which."""

from collections.abc import Sequence
from itertools import accumulate, pairwise

from heedful.decoding.hypothesis import Attention
from heedful.text.words import Word, find_words

Range = tuple[int, int]


def link_words(source: Sequence[str], target: Sequence[str], attention: Attention) -> list[Word]:
    """Write a translation as words, each with the source word that its pieces looked at most.

    Source and target are given as what each piece spells.
    """
    source_text, text = "".join(source), "".join(target)
    source_words = find_words(source_text)
    pieces_of_source = _pieces_of(source_words, source)
    words: list[Word] = []
    at = 0
    ranges = find_words(text)
    for (start, end), rows in zip(ranges, _pieces_of(ranges, target), strict=True):
        looks = [sum(attention[row][column] for row in rows) for column in range(len(source))]
        weights = [sum(looks[column] for column in columns) for columns in pieces_of_source]
        best = max(range(len(weights)), key=weights.__getitem__, default=None)
        began = None if best is None else source_words[best][0]
        words.append(Word(text[at:start] if words else "", text[start:end], began))
        at = end
    return words


def _pieces_of(words: Sequence[Range], pieces: Sequence[str]) -> list[list[int]]:
    """List the pieces that spell each word, or a part of it."""
    ends = list(pairwise(accumulate(map(len, pieces), initial=0)))
    found, first = [], 0
    for start, end in words:
        while ends[first][1] <= start:
            first += 1
        last = first
        while last < len(ends) and ends[last][0] < end:
            last += 1
        found.append(list(range(first, last)))
    return found
