"""Translating sentences faithfully: search, look at what was found, and try another way."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import chain, islice
from threading import Lock
from typing import NamedTuple

from heedful.decoding.engine import Engine
from heedful.decoding.hypothesis import Hypothesis, SearchConfig
from heedful.storage.habits import Habits
from heedful.text.glossary import Glossary
from heedful.text.normalise import normalise
from heedful.text.spans import Span
from heedful.text.tokenizer import Tokenizer
from heedful.text.words import Word, find_words, join_words
from heedful.translation.apart import Cut, find_cuts, put_in, take_out
from heedful.translation.draft import Draft, drafts_of
from heedful.translation.guard import NO_REPEAT, USUAL_HABITS, Alarm, alarm, has_score
from heedful.translation.links import link_words
from heedful.translation.restore import find_missing

# Chunks of lines are prepared in several threads, of which Python runs one at a time. Taking turns
# at every line, all would be ready late; one after another, the engine can begin with the first.
_preparing = Lock()
_AT_ONCE = 4_096  # sentences that are held ready: a line of a megabyte can have half a million
_CERTAIN = -0.005  # score of a translation than which the model is surer of none
_FAR = 4  # times the score of the other
_CONTROLS = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")


class Candidate(NamedTuple):
    """One way to translate."""

    text: str
    score: float
    """Log-probability over the length penalty: higher is better, 0 is certain."""
    flags: tuple[str, ...] = ()
    """What a reader should look at, such as "repetition"; see `Translation.flags`."""


class _Found(NamedTuple):
    """What the search found for a source."""

    source: list[int]
    hypothesis: Hypothesis
    text: str
    score: float
    flags: tuple[str, ...]


class SentenceTranslator:
    """Translates sentence by sentence, and keeps in each what has to be kept."""

    def __init__(
        self,
        tokenizer: Tokenizer,
        engine: Engine,
        engine_of_parts: Engine | None = None,
        habits: Habits = USUAL_HABITS,
    ) -> None:
        self.tokenizer, self.habits = tokenizer, habits
        self.engine = engine
        self.engine_of_parts = engine_of_parts or engine

    def translate(
        self, sentences: Iterable[str], config: SearchConfig, glossary: Glossary
    ) -> list[list[Candidate]]:
        """Return the candidates of every sentence, best first."""
        rest = iter(sentences)
        groups = iter(lambda: list(islice(rest, _AT_ONCE)), [])
        return list(chain(*(self._translate(group, config, glossary) for group in groups)))

    def _translate(
        self, sentences: Sequence[str], config: SearchConfig, glossary: Glossary
    ) -> list[list[Candidate]]:
        with _preparing:
            drafts = [(text, drafts_of(text, self.tokenizer, glossary)) for text in sentences]
            flat = list(chain(*(ways for _, ways in drafts)))
            sources = [self.tokenizer.encode(draft.shown) for draft in flat]
        found = self._search(self.engine, sources, config)
        candidates = iter(self._made_good(flat, found, config))
        return [
            max((next(candidates) for _ in ways), key=_worth)
            if ways
            else [Candidate(text=text, score=0.0)]
            for text, ways in drafts
        ]

    def finish(
        self, draft: Draft, hypothesis: Hypothesis, config: SearchConfig
    ) -> Candidate | None:
        """Make good what was found for a draft; None if that cannot be.

        It was told how to begin, so it cannot be searched otherwise; what it lost is added to it.
        """
        found = self._found(self.tokenizer.encode(draft.shown), hypothesis, config, ())
        ((candidate,),) = self._finished([draft], [[found]])
        if candidate or not found.text:
            return candidate
        (words,) = self._linked([found])
        lost = [span for span in find_missing(found.text, draft.spans) if span.kind != "term"]
        return _put_together(draft, found, words, find_cuts(draft.bare, lost))

    def _search(
        self, engine: Engine, sources: list[list[int]], config: SearchConfig
    ) -> list[list[_Found]]:
        """Search for every source, and once more where that went wrong."""
        if not sources:
            return []
        hypotheses = engine.search(sources, config)
        alarms = self._search_again_where_needed(engine, sources, hypotheses, config)
        return [
            [
                self._found(source, hypothesis, config, (alarms[index],) if index in alarms else ())
                for hypothesis in hypotheses[index]
            ]
            for index, source in enumerate(sources)
        ]

    def _search_again_where_needed(
        self,
        engine: Engine,
        sources: list[list[int]],
        hypotheses: list[list[Hypothesis]],
        config: SearchConfig,
    ) -> dict[int, Alarm]:
        """Search once more where that ended in a loop, or at once, or not at all.

        What is forbidden to a second try makes all else likelier, so it is scored as it reads.
        """
        alarms = {
            index: flag
            for index, source in enumerate(sources)
            if (flag := alarm(source, hypotheses[index][0], self.habits))
        }
        if not alarms:
            return alarms
        rung = [sources[index] for index in alarms]
        again = engine.search(rung, config, no_repeat=NO_REPEAT)
        for index, source, seconds in zip(alarms, rung, again, strict=True):
            first, second = hypotheses[index][0], seconds[0]
            if alarm(source, second, self.habits):
                continue
            if has_score(first):
                (reading,) = engine.read([source], [second.pieces])
                second = replace(second, log_probability=sum(reading.log_probabilities))
            if not has_score(first) or second.score(config.alpha) > first.score(config.alpha):
                hypotheses[index] = [second, *seconds[1:]]
        return alarms

    def _found(
        self,
        source: list[int],
        hypothesis: Hypothesis,
        config: SearchConfig,
        flags: tuple[str, ...],
    ) -> _Found:
        text = normalise(_CONTROLS.sub(" ", self.tokenizer.decode(hypothesis.pieces)))
        return _Found(source, hypothesis, text, hypothesis.score(config.alpha), flags)

    def _linked(self, found: Sequence[_Found]) -> Iterator[list[Word]]:
        """Tell which word translates which; of where the model looked no more is kept."""
        if not found:
            return
        looks = self.engine.look(
            [each.source for each in found], [each.hypothesis.pieces for each in found]
        )
        for each, attention in zip(found, looks, strict=True):
            spelt = self.tokenizer.spell(each.hypothesis.pieces)
            written = [_CONTROLS.sub(" ", piece) for piece in spelt]
            yield link_words(self.tokenizer.spell(each.source), written, attention)

    def _made_good(
        self, drafts: Sequence[Draft], found: list[list[_Found]], config: SearchConfig
    ) -> list[list[Candidate]]:
        """Make good what was found, or else translate without what is to stay, or in parts."""
        good = self._finished(drafts, found)
        self._leave_out(_copies, drafts, good, found, config)
        self._leave_out(_number_at_an_end, drafts, good, found, config)
        self._leave_out(_lost_numbers, drafts, good, found, config)
        broken = [index for index, (best, *_) in enumerate(good) if best is None]
        parts = self._in_parts([(drafts[index], found[index][0]) for index in broken], config)
        for index, candidate in zip(broken, parts, strict=True):
            flags = dict.fromkeys((*found[index][0].flags, *candidate.flags))
            good[index] = [candidate._replace(flags=tuple(flags))]
        return [_distinct(filter(None, candidates))[: config.n_best] for candidates in good]

    def _leave_out(
        self,
        choose: Callable[[Draft, str, Candidate | None], Iterator[list[Span]]],
        drafts: Sequence[Draft],
        good: list[list[Candidate | None]],
        found: list[list[_Found]],
        config: SearchConfig,
    ) -> None:
        """Translate without spans that are chosen, put them in, and keep what is better so."""
        tries = [
            (index, drafts[index], spans)
            for index, (best, *_) in enumerate(good)
            for spans in choose(drafts[index], found[index][0].text, best)
        ]
        candidates = self._without([(draft, spans) for _, draft, spans in tries], config)
        for (index, draft, spans), candidate in zip(tries, candidates, strict=True):
            best = good[index][0]
            is_apart = _stands_apart(draft, spans)
            if candidate and (best is None or _is_better(candidate, best, is_apart=is_apart)):
                flags = dict.fromkeys((*found[index][0].flags, *candidate.flags))
                good[index] = [candidate._replace(flags=tuple(flags))]

    def _finished(
        self, drafts: Sequence[Draft], found: list[list[_Found]]
    ) -> list[list[Candidate | None]]:
        """Put back what was to be kept; None where there is no telling how.

        Only where something is lost, or has to go around words, is it asked where the model looked.
        """
        unclear = [
            each
            for draft, ways in zip(drafts, found, strict=True)
            for each in ways
            if each.text and draft.needs_links(each.text)
        ]
        linked = self._linked(unclear)
        return [
            [
                _candidate(
                    draft,
                    each,
                    next(linked)
                    if each.text and draft.needs_links(each.text)
                    else as_words(each.text),
                )
                for each in ways
            ]
            for draft, ways in zip(drafts, found, strict=True)
        ]

    def _without(
        self, tries: Sequence[tuple[Draft, list[Span]]], config: SearchConfig
    ) -> list[Candidate | None]:
        """Translate without some spans, and put them in where the words around them are."""
        cuts = [find_cuts(draft.bare, spans) for draft, spans in tries]
        rests = [take_out(draft.shown, cut) for (draft, _), cut in zip(tries, cuts, strict=True)]
        sources = [self.tokenizer.encode(rest.text) for rest in rests]
        best = [ways[0] for ways in self._search(self.engine, sources, config)]
        return [
            _put_together(draft, each, list(map(rest.in_sentence, words)), cut)
            for (draft, _), each, words, rest, cut in zip(
                tries, best, self._linked(best), rests, cuts, strict=True
            )
        ]

    def _in_parts(
        self, broken: Sequence[tuple[Draft, _Found]], config: SearchConfig
    ) -> list[Candidate]:
        """Translate what stands between the spans, and leave the spans where they were."""
        sources = [
            self.tokenizer.encode(draft.shown[start:end])
            for draft, _ in broken
            for start, end in _between(draft)
        ]
        best = [ways[0] for ways in self._search(self.engine_of_parts, sources, config)]
        found = iter(zip(best, self._linked(best), strict=True))
        return [
            _from_parts(draft, each.score, {start: next(found) for start, _ in _between(draft)})
            for draft, each in broken
        ]


def _worth(candidates: Sequence[Candidate]) -> tuple[bool, float]:
    """Rank by the score of the best, but below all others what was left untranslated."""
    best, *_ = candidates
    return "untranslated" not in best.flags, best.score


def _put_together(
    draft: Draft, found: _Found, words: Sequence[Word], cuts: Sequence[Cut]
) -> Candidate | None:
    """Add to a translation what was left out, and say so if its place is not certain."""
    written, is_certain = put_in(words, cuts, draft.bare)
    flags = found.flags if is_certain else (*found.flags, "placed")
    return _candidate(draft, found._replace(flags=flags), written)


def _copies(draft: Draft, text: str, best: Candidate | None) -> Iterator[list[Span]]:
    """Choose all copies of a sentence that was not kept, for they often lead a model astray."""
    copies = [span for span in draft.spans if span.kind == "copy"]
    if best is None and copies and _has_words_without(draft, copies):
        yield copies


def _number_at_an_end(draft: Draft, text: str, best: Candidate | None) -> Iterator[list[Span]]:
    """Choose a number that begins or ends a sentence, for a model may write it over a word."""
    if best is not None and best.score > _CERTAIN:
        return
    for span in draft.spans:
        if span.kind == "number" and _has_words_without(draft, [span]):
            (cut,) = find_cuts(draft.bare, [span])
            if cut.is_first or cut.is_last:
                yield [span]


def _lost_numbers(draft: Draft, text: str, best: Candidate | None) -> Iterator[list[Span]]:
    """Choose copies and the numbers that a sentence lost; a term stays, as it needs its words."""
    lost = [span for span in find_missing(text, draft.spans) if span.kind == "number"]
    left_out = [span for span in draft.spans if span.kind == "copy" or span in lost]
    if best is None and lost and _has_words_without(draft, left_out):
        yield left_out


def _has_words_without(draft: Draft, spans: Sequence[Span]) -> bool:
    return any(map(str.isalnum, take_out(draft.shown, find_cuts(draft.bare, spans)).text))


def _stands_apart(draft: Draft, spans: Sequence[Span]) -> bool:
    """Whether a mark and a space divide a span at an end from the rest, so no word governs it."""
    cut = find_cuts(draft.bare, spans)[-1]
    before, after = draft.bare[: cut.span.start], draft.bare[cut.span.end : cut.end]
    return (
        before[-1:].isspace() and not before.rstrip()[-1:].isalnum() if cut.is_last else bool(after)
    )


def _is_better(candidate: Candidate, best: Candidate, *, is_apart: bool) -> bool:
    """Whether the model is surer of it, and it has words that the best lost to what is to stay.

    What the best has instead may belong to that, as "in" to "in 1984", unless that stands apart, or
    the model is far surer.
    """
    ours, theirs = _words(candidate.text), _words(best.text)
    is_far_surer = candidate.score > best.score / _FAR
    is_fuller = bool(ours - theirs) and (is_apart or is_far_surer or not theirs - ours)
    return candidate.score > best.score and is_fuller


def _words(text: str) -> Counter[str]:
    found = (text[start:end].casefold() for start, end in find_words(text))
    return Counter(filter(str.isalnum, found))


def _candidate(draft: Draft, found: _Found, words: Sequence[Word]) -> Candidate | None:
    """Make good what was found for a draft; None if there is no telling how."""
    text = (found.text if draft.is_plain else draft.finish(words)) if found.text else None
    if not text:
        return None
    flags = (*found.flags, "letters") if draft.has_lost_letters(text) else found.flags
    return Candidate(text=text, score=found.score, flags=flags)


def _distinct(candidates: Iterable[Candidate]) -> list[Candidate]:
    """Keep the best of those that read the same, which were found in other pieces."""
    best: dict[str, Candidate] = {}
    for candidate in candidates:
        best.setdefault(candidate.text, candidate)
    return list(best.values())


def _between(draft: Draft) -> list[tuple[int, int]]:
    """Find what there is to translate before, between and after the spans of a sentence."""
    edges = [0, *chain(*((span.start, span.end) for span in draft.spans)), len(draft.shown)]
    return [
        (start, end)
        for start, end in zip(edges[::2], edges[1::2], strict=True)
        if any(map(str.isalpha, draft.shown[start:end]))
    ]


def _from_parts(
    draft: Draft, score: float, found: dict[int, tuple[_Found, list[Word]]]
) -> Candidate:
    """Put parts and spans one after another; parts that bring a span of their own stay as read."""
    translated = {start: words for start, (_, words) in found.items() if words}
    words = _woven(draft, translated)
    if not translated or find_missing(join_words(words), draft.spans):
        text = draft._replace(case=None).write(_woven(draft, {}))
        return Candidate(text=text, score=score, flags=("untranslated",))
    flags = ("parts", *chain(*(part.flags for part, _ in found.values())))
    return Candidate(text=draft.write(words), score=score, flags=flags)


def _woven(draft: Draft, translated: dict[int, list[Word]]) -> list[Word]:
    """Write the words of the parts, by where they start, between the spans."""
    words: list[Word] = []
    at = 0
    for span in (*draft.spans, None):
        between = draft.bare[at : span.start if span else None]
        content = between.strip()
        begin = at + between.find(content)
        part = translated.get(at) or as_words(content)
        words += (
            word._replace(
                gap=word.gap if index else between[: begin - at],
                source=begin + (word.source or 0),
            )
            for index, word in enumerate(part)
        )
        if span:
            gap = between[begin - at + len(content) :] if part else between
            words.append(Word(gap, span.text, span.start, is_fixed=True))
            at = span.end
    return words


def as_words(text: str) -> list[Word]:
    """Write a text as words that stand for themselves."""
    ranges = find_words(text)
    ends = [0, *(end for _, end in ranges)]
    return [
        Word(text[last:start], text[start:end], start)
        for last, (start, end) in zip(ends, ranges, strict=False)
    ]
