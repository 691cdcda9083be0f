"""Translating sentences faithfully: search, look at what was found, and try another way."""

import re
from collections.abc import Iterable, Sequence
from itertools import chain
from threading import Lock
from typing import NamedTuple

from heedful.decoding.engine import Engine
from heedful.decoding.hypothesis import Hypothesis, SearchConfig
from heedful.text.glossary import Glossary
from heedful.text.normalise import normalise
from heedful.text.tokenizer import Tokenizer
from heedful.text.words import Word, find_words, join_words
from heedful.translation.draft import Draft, drafts_of
from heedful.translation.guard import NO_REPEAT, Alarm, alarm
from heedful.translation.links import link_words
from heedful.translation.restore import find_missing

# Chunks of lines are prepared in several threads, of which Python runs one at a time. Taking turns
# at every line, all would be ready late; one after another, the engine can begin with the first.
_preparing = Lock()
_CONTROLS = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")


class Candidate(NamedTuple):
    """One way to translate."""

    text: str
    score: float
    """Log-probability over the length penalty: higher is better, 0 is certain."""
    flags: tuple[str, ...] = ()
    """What a reader should look at, such as "repetition"; see `Translation.flags`."""


class _Found(NamedTuple):
    """A candidate as the search found it."""

    text: str
    words: list[Word] | None
    """Its words and what they translate, if that was asked for."""
    score: float
    flags: tuple[str, ...]


class SentenceTranslator:
    """Translates sentence by sentence, and keeps in each what has to be kept."""

    def __init__(
        self, tokenizer: Tokenizer, engine: Engine, engine_of_parts: Engine | None = None
    ) -> None:
        self.tokenizer = tokenizer
        self.engine = engine
        self.engine_of_parts = engine_of_parts or engine

    def translate(
        self, sentences: Iterable[str], config: SearchConfig, glossary: Glossary
    ) -> list[list[Candidate]]:
        """Return the candidates of every sentence, best first."""
        with _preparing:
            drafts = [(text, drafts_of(text, self.tokenizer, glossary)) for text in sentences]
            flat = list(chain(*(ways for _, ways in drafts)))
            sources = [self.tokenizer.encode(draft.shown) for draft in flat]
        found = self._search(self.engine, sources, config, [draft.needs_links for draft in flat])
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
        """Make good what was found for a draft; None if there is no telling how."""
        source = self.tokenizer.encode(draft.shown)
        return _candidate(draft, self._spelt(source, hypothesis, config, ()))

    def _search(
        self,
        engine: Engine,
        sources: list[list[int]],
        config: SearchConfig,
        needs_links: Sequence[bool],
    ) -> list[list[_Found]]:
        """Search for every source, and see which word translates which where that is needed."""
        if not sources:
            return []
        hypotheses, alarms = _search_again_where_needed(engine, sources, config, needs_links)
        return [
            [
                self._spelt(source, hypothesis, config, (alarms[index],) if index in alarms else ())
                for hypothesis in hypotheses[index]
            ]
            for index, source in enumerate(sources)
        ]

    def _spelt(
        self,
        source: list[int],
        hypothesis: Hypothesis,
        config: SearchConfig,
        flags: tuple[str, ...],
    ) -> _Found:
        """Write a hypothesis as text, or as words where it is known where the model looked."""
        score = hypothesis.score(config.alpha)
        if hypothesis.attention is None:
            text = _CONTROLS.sub(" ", self.tokenizer.decode(hypothesis.pieces))
            return _Found(normalise(text), None, score, flags)
        spelt = [_CONTROLS.sub(" ", piece) for piece in self.tokenizer.spell(hypothesis.pieces)]
        words = link_words(self.tokenizer.spell(source), spelt, hypothesis.attention)
        return _Found(join_words(words), words, score, flags)

    def _made_good(
        self, drafts: Sequence[Draft], found: list[list[_Found]], config: SearchConfig
    ) -> list[list[Candidate]]:
        """Make good what was found; a sentence whose best cannot be is translated in parts."""
        good = [
            [_candidate(draft, each) for each in found_for_it]
            for draft, found_for_it in zip(drafts, found, strict=True)
        ]
        broken = [index for index, (best, *_) in enumerate(good) if best is None]
        parts = self._in_parts([drafts[index] for index in broken], config)
        for index, candidate in zip(broken, parts, strict=True):
            score, flags = found[index][0].score, (*found[index][0].flags, *candidate.flags)
            good[index] = [candidate._replace(score=score, flags=tuple(dict.fromkeys(flags)))]
        return [_distinct(filter(None, candidates))[: config.n_best] for candidates in good]

    def _in_parts(self, drafts: Sequence[Draft], config: SearchConfig) -> list[Candidate]:
        """Translate what stands between the spans, and leave the spans where they were."""
        sources = [
            self.tokenizer.encode(draft.shown[start:end])
            for draft in drafts
            for start, end in _between(draft)
        ]
        is_linked = [True] * len(sources)
        found = iter(self._search(self.engine_of_parts, sources, config, is_linked))
        return [
            _from_parts(draft, {start: next(found)[0] for start, _ in _between(draft)})
            for draft in drafts
        ]


def _search_again_where_needed(
    engine: Engine, sources: list[list[int]], config: SearchConfig, needs_links: Sequence[bool]
) -> tuple[list[list[Hypothesis]], dict[int, Alarm]]:
    """Search, and once more where that ended in a loop, or at once, or not at all."""
    hypotheses = engine.search(sources, config, attention=needs_links)
    alarms = {
        index: flag
        for index, source in enumerate(sources)
        if (flag := alarm(source, hypotheses[index][0]))
    }
    if alarms:
        again = engine.search(
            [sources[index] for index in alarms],
            config,
            attention=[needs_links[index] for index in alarms],
            no_repeat=NO_REPEAT,
        )
        for index, others in zip(alarms, again, strict=True):
            if not alarm(sources[index], others[0]):
                hypotheses[index] = others
    return hypotheses, alarms


def _worth(candidates: Sequence[Candidate]) -> tuple[bool, float]:
    """Rank by the score of the best, but below all others what was left untranslated."""
    best, *_ = candidates
    return "untranslated" not in best.flags, best.score


def _candidate(draft: Draft, found: _Found) -> Candidate | None:
    """Make good what was found for a draft; None if there is no telling how."""
    text: str | None = found.text or None
    if text and not draft.is_plain:
        text = draft.finish(found.words if found.words is not None else as_words(found.text))
    if text is None:
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


def _from_parts(draft: Draft, found: dict[int, _Found]) -> Candidate:
    """Put parts and spans one after another; parts that bring a span of their own stay as read."""
    translated = {start: part.words for start, part in found.items() if part.words}
    words = _woven(draft, translated)
    if not translated or find_missing(join_words(words), draft.spans):
        text = draft._replace(case=None).write(_woven(draft, {}))
        return Candidate(text=text, score=0.0, flags=("untranslated",))
    flags = ("parts", *chain(*(part.flags for part in found.values())))
    return Candidate(text=draft.write(words), score=0.0, flags=flags)


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
