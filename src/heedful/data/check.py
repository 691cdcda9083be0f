"""What is odd about a corpus, told without training: by the rules of cleaning, and by language."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from statistics import median
from typing import NamedTuple

from heedful.data.corpus import DROPPED, NOTED, CleaningConfig, Judged, Pair, judge_pairs
from heedful.text.language_table import LanguageTable, learn_languages

EXAMPLES = 2  # of each oddity
_FEWEST_WORDS = 3  # of a sentence whose language is judged
_SURELY = 0.99

REASONS = {
    **{reason: f"{why} (dropped)" for reason, why in DROPPED.items()},
    **NOTED,
    "language": "in the language of the other side",
}


@dataclass
class Findings:
    """What was found in a corpus."""

    read: int = 0
    kept: int = 0
    counts: dict[str, int] = field(default_factory=lambda: dict.fromkeys(REASONS, 0))
    examples: dict[str, list[Pair]] = field(default_factory=lambda: {it: [] for it in REASONS})
    lengths: list[tuple[int, int]] = field(default_factory=list)
    """Words of both sides, of the pairs that are kept."""
    distinct_sources: int = 0

    def add(self, odd: "Odd") -> None:
        """Take a pair into account."""
        self.read += 1
        judged = odd.judged
        for reason in odd.reasons:
            self.counts[reason] += 1
            if len(self.examples[reason]) < EXAMPLES:
                self.examples[reason].append((judged.source, judged.target))
        if not judged.is_dropped:
            self.kept += 1
            self.lengths.append((len(judged.source.split()), len(judged.target.split())))

    @property
    def typical_words(self) -> tuple[float, float]:
        """The median number of words of each side."""
        sources, targets = zip(*(self.lengths or [(0, 0)]), strict=True)
        return float(median(sources)), float(median(targets))


class Odd(NamedTuple):
    """A pair and all that is odd about it."""

    judged: Judged
    reasons: tuple[str, ...]


def check_pairs(pairs: Iterable[Pair], cleaning: CleaningConfig) -> Iterator[Odd]:
    """Judge every pair, by its language too, which is learned from all of them."""
    judged = list(judge_pairs(pairs, cleaning))
    table = _languages(judged)
    for each in judged:
        is_strange = not each.is_dropped and table and _is_exchanged(each, table)
        yield Odd(each, (*each.reasons, "language") if is_strange else each.reasons)


def find(odd: Iterable[Odd]) -> Findings:
    """Sum up what was found."""
    findings, sources = Findings(), set()
    for each in odd:
        findings.add(each)
        sources.add(each.judged.source)
    findings.distinct_sources = len(sources)
    return findings


def _languages(judged: Iterable[Judged]) -> LanguageTable | None:
    kept = [each for each in judged if not each.is_dropped]
    if not kept:
        return None
    texts = {"source": [it.source for it in kept], "target": [it.target for it in kept]}
    return learn_languages(texts, ())


def _is_exchanged(pair: Judged, table: LanguageTable) -> bool:
    """Whether a side seems to be in the language of the other."""
    sides = (("source", pair.source), ("target", pair.target))
    return pair.source != pair.target and any(
        len(text.split()) >= _FEWEST_WORDS and _seems(text, table, not_in=own)
        for own, text in sides
    )


def _seems(text: str, table: LanguageTable, *, not_in: str) -> bool:
    ranked = table.rank(text)
    return bool(ranked) and ranked[0].language != not_in and ranked[0].probability > _SURELY
