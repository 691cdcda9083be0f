"""Seeing to it that what must stand in a translation stands there."""

import re
from collections import Counter
from collections.abc import Sequence

from heedful.text.numbers import missing_numbers
from heedful.text.spans import Span
from heedful.text.words import Word, best_run, join_words, whole_words

_LIKE = 0.5  # how much of what a word and a span have they share, if the one is the other garbled


def find_missing(text: str, spans: Sequence[Span]) -> list[Span]:
    """List the spans that a translation lacks, or of which it has more than the source."""
    wanted = Counter((span.kind, span.text) for span in spans)
    numbers = missing_numbers(text, spans)
    copies, terms = _written(text, spans)
    return [
        span
        for span in spans
        if span in numbers
        or (span.kind == "copy" and copies[span.text] != wanted["copy", span.text])
        or (span.kind == "term" and terms[span.text] < wanted["term", span.text])
    ]


def _written(text: str, spans: Sequence[Span]) -> tuple[Counter[str], Counter[str]]:
    """Count the copies and terms that are wanted in a text.

    What is part of a longer copy, or of a longer word, does not count.
    """
    copies = sorted({span.text for span in spans if span.kind == "copy"}, key=len, reverse=True)
    terms = {span.text for span in spans if span.kind == "term"}
    return (
        Counter(re.findall("|".join(map(re.escape, copies)), text) if copies else ()),
        Counter(whole_words(terms).findall(text) if terms else ()),
    )


def restore(words: Sequence[Word], spans: Sequence[Span], source: str) -> list[Word] | None:
    """Write what is missing over the words that are it, garbled; None if there are none."""
    restored: list[Word] = list(words)
    lacking = find_missing(join_words(words), spans)
    for span in spans:
        run = (
            _rendering(restored, span, spans)
            if span in lacking
            else _words_that_spell(restored, span.text)
        )
        if run is not None:
            gap = restored[run[0]].gap
            restored[slice(*run)] = [Word(gap, span.text, span.start, is_fixed=True)]
            if span in lacking:
                _set_apart(restored, run[0], source[: span.start], source[span.end :])
    return None if find_missing(join_words(restored), spans) else restored


def _set_apart(words: list[Word], at: int, before: str, after: str) -> None:
    """Write a space between a word and its neighbours, where the source has one too."""
    for index, is_spaced in (at, before.endswith(" ")), (at + 1, after.startswith(" ")):
        if 0 < index < len(words) and is_spaced and not words[index].gap:
            left, right = words[index - 1], words[index]
            outer = (left.text[-1], left) if index == at else (right.text[0], right)
            if outer[0].isalnum() or outer[1].is_fixed:
                words[index] = right._replace(gap=" ")


def _rendering(words: Sequence[Word], span: Span, spans: Sequence[Span]) -> tuple[int, int] | None:
    """Find what is written for a span: the term as the model has it, or else the span, garbled.

    A word that merely looked at the span translates something else, and is not written over.
    """
    run = _words_linked_to(words, span)
    if run is None or span.kind == "term":
        return run
    start, end = run
    text = join_words(words[start:end]).strip()
    if span.kind == "copy":
        return run if _is_like(text, span.text) else None
    numbers = [other for other in spans if other.kind == "number"]
    is_garbled = text[:1].isdigit() and text[-1:].isdigit() and not any(map(str.isalpha, text))
    return run if is_garbled and missing_numbers(text, numbers) == numbers else None


def _is_like(text: str, other: str) -> bool:
    """Whether two texts share most of their letters, in order."""
    from difflib import SequenceMatcher  # seldom needed

    return SequenceMatcher(None, text.casefold(), other.casefold()).ratio() > _LIKE


def _words_linked_to(words: Sequence[Word], span: Span) -> tuple[int, int] | None:
    """Find the one run of words that looked at a span, or else that it was looked at by."""
    inside = range(span.start, span.end)
    free = [word if not word.is_fixed else Word("", "") for word in words]
    return _only_run([word.source in inside for word in free]) or _only_run(
        [any(begin in inside for begin in word.looked_at) for word in free]
    )


def _only_run(is_linked: Sequence[bool]) -> tuple[int, int] | None:
    start, end = best_run([1.0 if linked else -1.0 for linked in is_linked])
    return (start, end) if start < end and sum(is_linked) == sum(is_linked[start:end]) else None


def _words_that_spell(words: Sequence[Word], text: str) -> tuple[int, int] | None:
    """Find the first run of words, not fixed yet, that reads like this."""
    for start in range(len(words)):
        spelt = ""
        for end in range(start, len(words)):
            if words[end].is_fixed:
                break
            spelt = words[start].text if end == start else spelt + words[end].gap + words[end].text
            if spelt == text:
                return start, end + 1
            if not text.startswith(spelt):
                break
    return None
