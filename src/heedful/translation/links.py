"""From where each piece looked to which word translates which: alignment by attention."""

from collections.abc import Sequence
from itertools import accumulate

from heedful.decoding.hypothesis import Attention
from heedful.text.word_pieces import WordPieces, between_words, place_of_largest, word_pieces
from heedful.text.words import Word

_FAINT = 0.1  # attention of a piece that tells nothing


def link_words(source: Sequence[str], target: Sequence[str], attention: Attention) -> list[Word]:
    """Write a translation as words, each with the source words that its pieces looked at most.

    Source and target are given as what each piece spells.
    """
    sources, targets = _visible_pieces(source), _visible_pieces(target)
    begins = [begin for begin, _ in sources.ranges]
    looks = between_words(attention, sources, targets)
    keenest = [place_of_largest(row[seen] for row in looks) for seen in range(len(begins))]
    gaps = [0, *(end for _, end in targets.ranges)]
    return [
        Word(
            gap=targets.text[at:start] if number else "",
            text=targets.text[start:end],
            source=begins[place_of_largest(looks[number])] if begins else None,
            looked_at=tuple(
                begin
                for seen, begin in enumerate(begins)
                if keenest[seen] == number and looks[number][seen] > _FAINT
            ),
        )
        for number, (at, (start, end)) in enumerate(zip(gaps, targets.ranges, strict=False))
    ]


def _visible_pieces(spelling: Sequence[str]) -> WordPieces:
    """Find words and their pieces, but for a space or a byte that goes before what is seen."""
    found, ends = word_pieces(spelling), list(accumulate(map(len, spelling)))
    seen = [
        range(next(piece for piece in word if ends[piece] > begin), word.stop)
        for (begin, _), word in zip(found.ranges, found.pieces, strict=True)
    ]
    return found._replace(pieces=seen)
