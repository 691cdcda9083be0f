"""Cutting a text into what is translated at once; all that lies between comes back as it was."""

import re
import unicodedata
from collections.abc import Iterable, Iterator
from functools import cache
from itertools import chain, pairwise

from heedful.text.invisible import AT_EDGES
from heedful.text.spans import find_copies, find_tags

Range = tuple[int, int]

LONG = 256  # bytes: what is longer is cut into sentences, for it is longer than most of training
LONGEST = 1_000  # bytes: a sentence longer than this is cut, wherever that can be done

_BLOCKS = (
    "address|article|aside|blockquote|body|br|caption|center|dd|div|dl|dt|figcaption|figure|footer|"
    "form|h[1-6]|head|header|hr|html|li|main|nav|ol|option|p|pre|section|table|tbody|td|tfoot|th|"
    "thead|title|tr|ul"
)
_SEPARATOR = rf"""(?i)(?=[<\s\x00-\x1f\x7f-\x9f])(?:
    <!--(?:(?!<!--).)*?--> | <[?!][^<>]*>
  | </?(?:{_BLOCKS})(?:\s(?:[^<>"']|"[^"<]*"|'[^'<]*')*+|/)?>   # tags between, not around, words
  | [\x00-\x1f\x7f-\x9f\u2028\u2029]+                             # controls: tabs, line ends, NUL
  | (?<=[.!?…])\s{{2,}} | \s{{3,}}                            # spacing that is layout
)"""
_STOP = r"""
    (?<![.!?…؟।॥])[.!?…؟।॥]++["'”’»)\]]*+(?=\s)                # a stop, closing quotes, a space
  | [。！？｡]+[」』”’）]*                                       # or a stop that needs no space
"""
_ABBREVIATION = r"""
  (?:^|[\s("'“‘«\[])(?:                                        # a word that is
    \d{1,2} | [^\W\d] | (?:\w\.)+\w                            # 3. Oktober, J. Bach, z.B. and e.g.
  | Mr|Mrs|Ms|Dr|Prof|St|Sr|Jr|Gen|Col|Capt|Lt|Sgt|Rev|Hon|Pres|Gov|Sen|Rep|Mt|Ft
  | vs|etc|cf|ca|approx|Fig|Figs|Eq|No|Nos|Vol|pp|ed|eds|Inc|Ltd|Co|Corp|Dept|Univ|Ave|Blvd
  | Hr|Hrn|Frl|Nr|Str|bzw|usw|vgl|Abb|Tab|Kap|Jh|geb|gest|Mio|Mrd|Mme|Mlle|MM|Sra|Srta|Sig|Dott
  )\.$
"""
_CLAUSE_END = r"[,;:،؛—–](?=\s)|[、，；：]"
_SPACES = " \t\n\v\f\r\x1c\x1d\x1e\x1f\x85\xa0\u1680\u2028\u2029\u202f\u205f\u3000"
_NOT_SEEN = _SPACES + "".join(map(chr, range(0x2000, 0x200B))) + AT_EDGES
_OPENING = "\"'“‘«([ \u00a0¿¡"
_ZERO_WIDTH_JOINER = "\u200d"
_JOINING = _ZERO_WIDTH_JOINER + "🏻🏼🏽🏾🏿"
_FLAG_LETTERS = "".join(map(chr, range(0x1F1E6, 0x1F200)))


def cut_text(text: str, longest: int = LONGEST) -> list[Range]:
    """Find the ranges to be translated one by one, in order; the rest comes back as it is.

    None has more than `longest` bytes, unless it must stay whole, as a character must.
    """
    long = min(LONG, longest)
    if text.isprintable() and "<" not in text and "  " not in text and _num_bytes(text) <= long:
        return list(_trimmed(text, [(0, len(text))]))  # a line like most others
    unbroken = _mark_insides(text)
    ranges: list[Range] = []
    for start, end in _between_separators(text, unbroken):
        if _num_bytes(text[start:end]) <= long:
            ranges.append((start, end))
        else:
            ranges += _cut_passage(text, start, end, unbroken, longest)
    return ranges


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.VERBOSE | re.DOTALL)


def _mark_insides(text: str) -> bytearray:
    """Mark the positions inside tags, addresses and placeholders, where nothing may be cut."""
    inside = bytearray(len(text) + 1)
    tags = (match.span() for match in find_tags(text))
    copies = ((copy.start, copy.end) for copy in find_copies(text))
    for start, end in chain(tags, copies):
        inside[start + 1 : end] = b"\1" * (end - start - 1)
    return inside


def _between_separators(text: str, unbroken: bytearray) -> Iterator[Range]:
    """Give what lies between controls, layout and the tags of blocks, without outer spaces."""
    found = (match.span() for match in _compiled(_SEPARATOR).finditer(text))
    separators = [(start, end) for start, end in found if not unbroken[start]]
    ends = [0, *chain(*separators), len(text)]
    return _trimmed(text, zip(ends[::2], ends[1::2], strict=True))


def _cut_passage(
    text: str, start: int, end: int, unbroken: bytearray, longest: int
) -> Iterator[Range]:
    """Cut a long passage into sentences, and sentences that are too long into parts."""
    stops = [
        match.end()
        for match in _compiled(_STOP).finditer(text, start, end)
        if _ends_sentence(text, match) and not unbroken[match.end()]
    ]
    for first, last in _trimmed(text, pairwise([start, *stops, end])):
        yield from _trimmed(text, _cut_sentence(text, first, last, unbroken, longest))


def _ends_sentence(text: str, stop: re.Match[str]) -> bool:
    """Tell the end of a sentence from an abbreviation, by what stands on both sides."""
    following = text[stop.end() : stop.end() + 20].lstrip(_OPENING)[:1]
    if following.islower() or stop.group() != ".":
        return not following.islower()
    before = text[max(stop.start() - 12, 0) : stop.end()]
    return not _compiled(_ABBREVIATION).search(before)


def _cut_sentence(
    text: str, start: int, end: int, unbroken: bytearray, longest: int
) -> Iterator[Range]:
    """Cut after clauses, else between words, else anywhere but inside what must stay whole."""
    while _num_bytes(window := text[start : min(end, start + longest)]) > longest or (
        start + longest < end
    ):
        fitting = _in_bytes(window)[:longest].decode(errors="ignore") or window[0]
        cut = _last_break(text, start, start + len(fitting))
        before, after = unbroken.rfind(0, start, cut + 1), unbroken.find(0, cut)
        cut = min(before if before > start else after, end)
        yield start, cut
        start = cut
    yield start, end


def _last_break(text: str, start: int, end: int) -> int:
    """Find the best place to cut in the second half of a range."""
    middle = (start + end) // 2
    clauses = [match.end() for match in _compiled(_CLAUSE_END).finditer(text, middle, end)]
    if clauses:
        return clauses[-1]
    space = text.rfind(" ", max(middle, start + 1), end)
    if space > 0:
        return space
    breaks = (at for at in range(end, middle, -1) if not _is_joined(text, at))
    return next(breaks, end)


def _is_joined(text: str, at: int) -> bool:
    """Whether the characters on both sides are seen as one: accents, flags, families."""
    before, after = text[at - 1], text[at : at + 1]
    return (
        unicodedata.category(after or " ")[0] == "M"
        or after in _JOINING
        or before == _ZERO_WIDTH_JOINER
        or (before in _FLAG_LETTERS and after in _FLAG_LETTERS)
    )


def _num_bytes(text: str) -> int:
    return len(_in_bytes(text))


def _in_bytes(text: str) -> bytes:
    return text.encode(errors="replace")  # what is no text is refused later


def _trimmed(text: str, ranges: Iterable[Range]) -> Iterator[Range]:
    """Take off both ends of ranges what is not seen, and leave out those that are nothing else."""
    for start, end in ranges:
        part = text[start:end]
        if content := part.strip(_NOT_SEEN):
            start += len(part) - len(part.lstrip(_NOT_SEEN))
            yield start, start + len(content)
