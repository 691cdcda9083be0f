"""Telling a search how to begin, and what else could stand in a place.

The field calls it prefix-constrained decoding, as interactive translation needs it.
"""

import math
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from heedful.decoding.engine import Engine
from heedful.decoding.hypothesis import (
    Attention,
    Hypothesis,
    Reading,
    Sampling,
    SearchConfig,
)
from heedful.errors import ConfigError
from heedful.specials import BOS, EOS, PAD, UNK
from heedful.text.glossary import Glossary
from heedful.text.normalise import normalise
from heedful.text.tokenizer import Tokenizer
from heedful.text.word_pieces import word_pieces
from heedful.translation.draft import as_read, drafts_of, without_tags
from heedful.translation.sentence import Candidate, SentenceTranslator


class Steering(NamedTuple):
    """How a text is to begin, and whether to draw it by chance."""

    prefix: str = ""
    sampling: Sampling | None = None

    def engine(self, engine: Engine, tokenizer: Tokenizer) -> Engine:
        """Return an engine that is steered so."""
        if not self.prefix and self.sampling is None:
            return engine
        num_pieces, most = len(tokenizer.encode(self.prefix)), engine.most_pieces - 2
        if num_pieces > most:
            raise ConfigError(
                f"the prefix has {num_pieces:,} pieces, and the model writes {most:,} at most; "
                "take a shorter one"
            )
        return _SteeredEngine(engine, tokenizer, self)

    def checked(self, candidate: Candidate) -> Candidate:
        """Flag what does not begin as it is told."""
        if without_tags(candidate.text).startswith(normalise(self.prefix)):
            return candidate
        return candidate._replace(flags=(*candidate.flags, "prefix"))


class _SteeredEngine:
    """An engine that begins as it is told, or draws by chance."""

    def __init__(self, engine: Engine, tokenizer: Tokenizer, steering: Steering) -> None:
        self.engine = engine
        self.tokenizer = tokenizer
        self.steering = steering

    @property
    def most_pieces(self) -> int:
        """As long as the engine can."""
        return self.engine.most_pieces

    def search(
        self, sources: Sequence[list[int]], config: SearchConfig, **options: Any
    ) -> list[list[Hypothesis]]:
        """Find hypotheses that begin with the prefix."""
        prefixes = [
            prefix_pieces(self.engine, self.tokenizer, source, self.steering.prefix)
            for source in sources
        ]
        return self.engine.search(
            sources, config, prefixes=prefixes, sampling=self.steering.sampling, **options
        )

    def read(
        self, sources: Sequence[Sequence[int]], targets: Sequence[Sequence[int]]
    ) -> Iterator[Reading]:
        """Read as the engine does."""
        return self.engine.read(sources, targets)

    def look(
        self, sources: Sequence[Sequence[int]], targets: Sequence[Sequence[int]]
    ) -> Iterator[Attention]:
        """Look where the engine does."""
        return self.engine.look(sources, targets)

    def next_pieces(self, source: Sequence[int], prefix: Sequence[int]) -> list[float]:
        """Expect what the engine does."""
        return self.engine.next_pieces(source, prefix)


class Alternative(NamedTuple):
    """Another word in a place, and the translation that goes on from it."""

    word: str
    text: str
    """All of it, with all that a translation has to keep."""
    score: float
    """Log-probability from that word on, over the length penalty."""


def prefix_pieces(
    engine: Engine, tokenizer: Tokenizer, source: Sequence[int], prefix: str
) -> list[int]:
    """Choose the pieces that spell a prefix, the last word of which may be unfinished.

    A word is seldom cut where the user stopped. So its pieces are not forced, but the likeliest
    piece that begins like it, unless the word as far as it goes is likelier.
    """
    ids = tokenizer.encode(prefix)
    if not ids:
        return []
    start = _start_of_word(tokenizer, ids, -1)
    whole, last = ids[:start], ids[start:]
    if prefix[-1].isspace():
        whole, last = ids, []
    wanted = "".join(tokenizer.pieces(last)) or "▁"
    likely = engine.next_pieces(source, whole)
    spelt = zip(tokenizer.learned_ids, tokenizer.pieces(tokenizer.learned_ids), strict=True)
    matching = [id for id, piece in spelt if piece.startswith(wanted)]
    best = max(matching, key=likely.__getitem__, default=None)
    if best is None or (last and _likelihood(engine, source, whole, last) > likely[best]):
        return ids
    return [*whole, best]


def find_alternatives(
    engine: Engine,
    tokenizer: Tokenizer,
    source: str,
    text: str,
    word: int,
    config: SearchConfig,
    glossary: Glossary,
    count: int,
) -> list[Alternative]:
    """Find other words for one of a sentence, likeliest first, and go on from each."""
    if not (drafts := drafts_of(source, tokenizer, glossary)):
        return []
    draft, ids = drafts[0], tokenizer.encode(as_read(without_tags(text), tokenizer))
    source_ids = tokenizer.encode(draft.shown)
    words = word_pieces(tokenizer.spell(ids)).words
    before = ids[: _start_of_word(tokenizer, ids, word)]
    likely = engine.next_pieces(source_ids, before)
    said = set(range(len(likely))) - {PAD, UNK, BOS, EOS}
    first = sorted(said, key=likely.__getitem__, reverse=True)[: 2 * count]
    found = engine.search(
        [source_ids] * len(first),
        config,
        prefixes=[[*before, piece] for piece in first],
    )
    finish = SentenceTranslator(tokenizer, engine).finish
    others: dict[str, Alternative] = {}
    for piece, (best, *_) in zip(first, found, strict=True):
        new_words = word_pieces(tokenizer.spell(best.pieces)).words
        new = new_words[word] if word < len(new_words) else ""
        is_new = new != words[word] and new_words[:word] == words[:word]
        whole = Hypothesis(best.pieces, best.log_probability + likely[piece], best.is_finished)
        if is_new and new not in others and (written := finish(draft, best, config)):
            others[new] = Alternative(word=new, text=written.text, score=whole.score(config.alpha))
    return list(others.values())[:count]


def _start_of_word(tokenizer: Tokenizer, ids: Sequence[int], word: int) -> int:
    pieces = word_pieces(tokenizer.spell(ids)).pieces
    return pieces[word][0] if pieces else 0


def _likelihood(
    engine: Engine, source: Sequence[int], whole: Sequence[int], last: Sequence[int]
) -> float:
    (reading,) = engine.read([list(source)], [[*whole, *last]])
    return math.fsum(reading.log_probabilities[len(whole) : -1])
