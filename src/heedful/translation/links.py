"""From where each piece looked to which word translates which."""

from collections.abc import Iterable, Sequence
from itertools import accumulate, pairwise

from heedful.decoding.hypothesis import Attention
from heedful.text.words import Word, find_words

Range = tuple[int, int]
_FAINT = 0.1  # attention of a piece that tells nothing


def link_words(source: Sequence[str], target: Sequence[str], attention: Attention) -> list[Word]:
    """Write a translation as words, each with the source words that its pieces looked at most.

    Source and target are given as what each piece spells.
    """
    text, source_words = "".join(target), find_words("".join(source))
    ranges = find_words(text)
    columns, rows = _pieces_of(source_words, source), _pieces_of(ranges, target)
    looks = [
        [sum(attention[row][column] for row in word for column in seen) for seen in columns]
        for word in rows
    ]
    keenest = [_largest(look[seen] for look in looks) for seen in range(len(columns))]
    gaps = [0, *(end for _, end in ranges)]
    return [
        Word(
            gap=text[at:start] if number else "",
            text=text[start:end],
            source=source_words[_largest(looks[number])][0] if source_words else None,
            looked_at=tuple(
                begin
                for seen, ((begin, _), word) in enumerate(zip(source_words, keenest, strict=True))
                if word == number and looks[number][seen] > _FAINT
            ),
        )
        for number, (at, (start, end)) in enumerate(zip(gaps, ranges, strict=False))
    ]


def _largest(values: Iterable[float]) -> int:
    """Return the place of the largest, or of the first of equals; 0 if there are none."""
    return max(enumerate(values), key=lambda item: item[1], default=(0, 0.0))[0]


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
