"""What the model need not see: taken out of a sentence, and put in among the words around it."""

import re
from collections.abc import Iterable, Sequence
from itertools import accumulate
from typing import NamedTuple

from heedful.text.spans import Span
from heedful.text.words import Word, find_words

_PAIRS = ("()", "[]", "{}", "<>", '""', "''", "“”", "„“", "«»", "‘’")
_CLOSING = ",.;:!?)]}"
_DIVIDER = r"(?:\s[–—-]\s|[\s,:;])*"


class Cut(NamedTuple):
    """A part of a sentence that is taken out: a span, and the marks that go with it."""

    start: int
    end: int
    span: Span
    is_first: bool
    """Whether only marks stand before it."""
    is_last: bool
    """Whether only marks stand after it."""
    is_marked: bool
    """Whether there are any, as of a sentence that ends after it."""


class Remainder(NamedTuple):
    """What is left of a sentence."""

    text: str
    offsets: tuple[int, ...]
    """Where each of its characters stands in the sentence."""

    def in_sentence(self, word: Word) -> Word:
        """Link a word of its translation to the sentence instead."""
        looked_at = tuple(self.offsets[begin] for begin in word.looked_at)
        source = None if word.source is None else self.offsets[word.source]
        return word._replace(source=source, looked_at=looked_at)


def find_cuts(sentence: str, spans: Iterable[Span]) -> list[Cut]:
    """Tell what to take out with each span: brackets around it, and what divides it from the rest.

    A comma goes with what is added at an end, and stays where words stand on both sides.
    """
    taken = sorted(spans, key=lambda span: span.start)
    rest = sentence
    for span in taken:
        rest = rest[: span.start] + " " * (span.end - span.start) + rest[span.end :]
    cuts: list[Cut] = []
    for number, span in enumerate(taken):
        lowest = cuts[-1].end if cuts else 0
        highest = taken[number + 1].start if number + 1 < len(taken) else len(sentence)
        start, end = span.start, span.end
        while lowest < start and end < highest and sentence[start - 1] + sentence[end] in _PAIRS:
            start, end = start - 1, end + 1
        is_first = not any(map(str.isalnum, rest[:start]))
        is_last = not any(map(str.isalnum, rest[end:]))
        if is_last:
            start = lowest + len(re.sub(f"{_DIVIDER}$", "", sentence[lowest:start]))
            start += len(sentence[start : span.start]) - len(sentence[start : span.start].lstrip())
        elif is_first and (divider := re.match(f"{_DIVIDER}", sentence[end:highest])):
            end += len(divider.group().rstrip())
        is_marked = bool(rest[end:].strip())
        cuts.append(Cut(start, end, span, is_first, is_last, is_marked))
    return cuts


def take_out(sentence: str, cuts: Sequence[Cut]) -> Remainder:
    """Leave out the cuts, and the spaces that are too many then."""
    offsets: list[int] = []
    ends = {cut.end for cut in cuts}
    taken = {at for cut in cuts for at in range(cut.start, cut.end)}
    for at, character in enumerate(sentence):
        if at in taken:
            continue
        follows_space = not offsets or sentence[offsets[-1]] == " "
        if at in ends and offsets and follows_space and character in _CLOSING:
            offsets.pop()
        if character != " " or not follows_space:
            offsets.append(at)
    if offsets and sentence[offsets[-1]] == " ":
        offsets.pop()
    return Remainder("".join(sentence[at] for at in offsets), tuple(offsets))


def put_in(words: Sequence[Word], cuts: Sequence[Cut], sentence: str) -> tuple[list[Word], bool]:
    """Write the cuts among words that are linked to the sentence; tell if each place is certain."""
    written, is_certain = list(words), True
    for cut in cuts:
        at, crossed = _place(written, cut)
        is_certain &= not crossed
        added = _as_words(sentence, cut)
        touches = sentence[cut.start - 1 : cut.start].isalnum() and not crossed
        if not at:
            added[0] = added[0]._replace(gap="")
        elif not added[0].gap and not touches and written[at - 1].text[-1].isalnum():
            added[0] = added[0]._replace(gap=" ")
        if at < len(written) and not written[at].gap:
            is_spaced = sentence[cut.end : cut.end + 1] == " " or crossed
            touches = written[at].text[0].isalnum() or written[at].is_fixed
            written[at] = written[at]._replace(gap=" " * (is_spaced and touches))
        written[at:at] = added
    return written, is_certain


def _place(words: Sequence[Word], cut: Cut) -> tuple[int, int]:
    """Find where the fewest words stand on the other side than in the source, and how many do."""
    if cut.is_first:
        return sum(word.is_fixed and (word.source or 0) < cut.start for word in words), 0
    if cut.is_last:
        at = len(words)
        while cut.is_marked and at and not words[at - 1].is_fixed and _is_mark(words[at - 1]):
            at -= 1
        return at, 0
    is_before = [word.source is not None and word.source < cut.start for word in words]
    # One word further, it stands before the place: which is right if it does so in the source.
    steps = (-1 if before else 1 for before in is_before)
    crossed = list(accumulate(steps, initial=sum(is_before)))
    return crossed.index(min(crossed)), min(crossed)


def _is_mark(word: Word) -> bool:
    return not any(map(str.isalnum, word.text))


def _as_words(sentence: str, cut: Cut) -> list[Word]:
    """Write a cut as words that nobody may change, each with the gap it has in the sentence."""
    span = cut.span
    outer = [
        (begin + start, begin + end)
        for begin, past in ((cut.start, span.start), (span.end, cut.end))
        for start, end in find_words(sentence[begin:past])
    ]
    ranges = sorted([*outer, (span.start, span.end)])
    before = len(sentence[: cut.start].rstrip())
    ends = [before, *(end for _, end in ranges)]
    return [
        Word(sentence[last:start], sentence[start:end], start, is_fixed=True)
        for last, (start, end) in zip(ends, ranges, strict=False)
    ]
