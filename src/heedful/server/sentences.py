"""A text cut into sentences, which wait and are translated one by one, and put together again."""

from collections.abc import Iterable, Sequence
from itertools import chain

from heedful.text.sentences import Range, cut_text
from heedful.translation.details import join_details
from heedful.translation.sentence import Candidate
from heedful.translation.translator import Translation


def cut(text: str) -> list[Range]:
    """Find the sentences of a text."""
    return cut_text(text)


def assembled(text: str, ranges: Sequence[Range], parts: Sequence[Translation]) -> Translation:
    """Write translated sentences between what stood between them."""
    if len(parts) == 1 and ranges[0] == (0, len(text)):
        return parts[0]
    most = max((len(part.alternatives) for part in parts), default=0)
    details = [part.details for part in parts if part.details]
    return Translation(
        source=text,
        text=_put_in(text, ranges, [part.text for part in parts]),
        score=_mean([part.score for part in parts]),
        alternatives=tuple(_alternative(text, ranges, parts, number) for number in range(most)),
        flags=_distinct(part.flags for part in parts),
        details=join_details(details) if details else None,
        sentences=tuple(chain(*(part.sentences for part in parts))),
        direction=parts[0].direction,
    )


def _alternative(
    text: str, ranges: Sequence[Range], parts: Sequence[Translation], number: int
) -> Candidate:
    """Put the n-th candidates together; a sentence that has fewer stays with its last."""
    ways = [[Candidate(it.text, it.score, it.flags), *it.alternatives] for it in parts]
    chosen = [candidates[min(number + 1, len(candidates) - 1)] for candidates in ways]
    return Candidate(
        text=_put_in(text, ranges, [candidate.text for candidate in chosen]),
        score=_mean([candidate.score for candidate in chosen]),
        flags=_distinct(candidate.flags for candidate in chosen),
    )


def _distinct(flags: Iterable[tuple[str, ...]]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(chain(*flags)))


def _mean(scores: Sequence[float]) -> float:
    return sum(scores) / len(scores) if scores else 0.0


def _put_in(text: str, ranges: Sequence[Range], texts: Sequence[str]) -> str:
    written, at = [], 0
    for (start, end), sentence in zip(ranges, texts, strict=True):
        written += [text[at:start], sentence]
        at = end
    return "".join([*written, text[at:]])
