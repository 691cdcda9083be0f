"""A translation word by word: how sure the model is of each, and what it translates."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate, chain

from heedful.decoding.hypothesis import Reading
from heedful.decoding.sentence import Engine
from heedful.text.tokenizer import Tokenizer


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
    """Read sentences with their translations, whoever made these."""
    sources = [tokenizer.encode(source) for source, _ in pairs]
    targets = [tokenizer.encode(target) for _, target in pairs]
    written = [index for index, source in enumerate(sources) if source]
    readings = engine.read(
        [sources[index] for index in written], [targets[index] for index in written]
    )
    found = dict(zip(written, readings, strict=True))
    return [
        _details(tokenizer, source, target, found[index]) if index in found else Details()
        for index, (source, target) in enumerate(zip(sources, targets, strict=True))
    ]


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


def _details(
    tokenizer: Tokenizer, source: Sequence[int], target: Sequence[int], reading: Reading
) -> Details:
    import numpy as np  # which takes longer than a translation

    from heedful.text.word_pieces import best_links, word_pieces

    sources, targets = word_pieces(tokenizer, source), word_pieces(tokenizer, target)
    likely = reading.log_probabilities[: len(target)]
    has_both = sources.words and targets.words
    links = best_links(np.array(reading.attention), sources, targets).tolist() if has_both else []
    return Details(
        source_words=sources.words,
        words=targets.words,
        confidences=tuple(
            math.exp(sum(value for value, is_part in zip(likely, parts, strict=True) if is_part))
            for parts in targets.membership
        ),
        alignment=tuple((source_word, word) for word, source_word in enumerate(links)),
    )
