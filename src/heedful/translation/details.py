"""A translation word by word: how sure the model is of each, and what it translates."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate, chain

from heedful.decoding.engine import Engine
from heedful.decoding.hypothesis import Reading
from heedful.text.tokenizer import Tokenizer
from heedful.text.word_pieces import best_links, word_pieces
from heedful.text.words import find_words
from heedful.translation.draft import as_read, without_tags


@dataclass(frozen=True, kw_only=True)
class Details:
    """The words of a text and of its translation."""

    source_words: tuple[str, ...] = ()
    words: tuple[str, ...] = ()
    confidences: tuple[float, ...] = ()
    """The probability of each word, given the source and the words before it."""
    alignment: tuple[tuple[int, int], ...] = ()
    """Source word and word that belong together, counted from 0, in the order of the words."""

    @property
    def confidence(self) -> float:
        """The geometric mean over the words."""
        if not self.words:
            return 1.0
        total = sum(math.log(max(value, 1e-30)) for value in self.confidences)
        return math.exp(total / len(self.words))


def read_details(
    tokenizer: Tokenizer, engine: Engine, pairs: Sequence[tuple[str, str]]
) -> list[Details]:
    """Read sentences with their translations, whoever made these; tags are no words of them."""
    bare = [tuple(map(without_tags, pair)) for pair in pairs]
    ids = [tuple(tokenizer.encode(as_read(text, tokenizer)) for text in pair) for pair in bare]
    written = [
        index
        for index, (source, target) in enumerate(ids)
        if source and max(len(source), len(target)) < engine.most_pieces - 1  # else it was copied
    ]
    readings = engine.read(
        [ids[index][0] for index in written], [ids[index][1] for index in written]
    )
    details = [Details()] * len(pairs)
    for index, reading in zip(written, readings, strict=True):
        details[index] = _details(tokenizer, bare[index], ids[index], reading)
    return details


def join_details(parts: Sequence[Details]) -> Details:
    """Put the details of sentences one after another."""
    source_starts = accumulate((len(part.source_words) for part in parts), initial=0)
    starts = accumulate((len(part.words) for part in parts), initial=0)
    return Details(
        source_words=tuple(chain(*(part.source_words for part in parts))),
        words=tuple(chain(*(part.words for part in parts))),
        confidences=tuple(chain(*(part.confidences for part in parts))),
        alignment=tuple(
            (source_start + source, start + word)
            for part, source_start, start in zip(parts, source_starts, starts, strict=False)
            for source, word in part.alignment
        ),
    )


def through(first: Details, second: Details) -> Details:
    """Link the words of a text to those of a translation of its translation."""
    links = {
        (source, word)
        for source, between in first.alignment
        for other, word in second.alignment
        if between == other
    }
    return Details(
        source_words=first.source_words,
        words=second.words,
        confidences=second.confidences,
        alignment=tuple(sorted(links, key=lambda link: (link[1], link[0]))),
    )


def _details(
    tokenizer: Tokenizer,
    texts: Sequence[str],
    ids: Sequence[Sequence[int]],
    reading: Reading,
) -> Details:
    sources, targets = (word_pieces(tokenizer.spell(side)) for side in ids)
    source_words, words = (tuple(text[a:b] for a, b in find_words(text)) for text in texts)
    has_both = source_words and words
    links = best_links(reading.attention, sources, targets) if has_both else []
    return Details(
        source_words=source_words,
        words=words,
        confidences=tuple(
            math.exp(sum(reading.log_probabilities[piece] for piece in word))
            for word in targets.pieces
        ),
        alignment=tuple((source_word, word) for word, source_word in enumerate(links)),
    )
