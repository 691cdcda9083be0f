"""Which language a text is in, told by its letters: how common runs of them are in each language.

A classifier of the plainest kind (naive Bayes on runs of letters), counted on the training text of
a model. It knows the languages of the model alone, and tells when a text seems to be in none.
"""

import math
import re
import unicodedata
from base64 import b64decode, b64encode
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from heapq import nlargest
from itertools import islice
from typing import NamedTuple

from heedful.errors import ConfigError

_WORD = re.compile(r"[^\W\d_]+")
_SIZES = (2, 3, 4, 5)  # letters of a run, word ends counted as letters; whole words are runs too
_MOST_RUNS = 16_000  # those that tell most; more tell hardly more
_MOST_COUNTED = 60_000  # sentences of each language
_UNSEEN = 0.1  # times that a run counts as seen that never was
_PLAIN_SHARE = 4  # one sentence in so many is counted without accents too, as people type
_STEPS = 16  # of a weight, for each factor of e
_RAREST = 255 / _STEPS
_MOST_READ = 2_000  # characters; more tell no more
_SURELY = 0.995  # of the sentences of a language are found to be like it
_ROUNDING = 1e-3
_LIKELY = 1e-4  # probability below which a language is not named


class Guess(NamedTuple):
    """A language, and how likely it is among those that are known."""

    language: str
    probability: float


@dataclass(frozen=True, kw_only=True)
class LanguageTable:
    """How common runs of letters are in some languages."""

    languages: list[str]
    runs: str
    """All runs, with a line end after each."""
    weights: str
    """For each run a byte a language, in base64: how rare it is there, in sixteenths of a nat."""
    usual: float
    """How rare the runs of a sentence are in its own language, on the mean."""
    slack: float
    """How much rarer they may be, over the root of their number."""

    def __post_init__(self) -> None:
        if not self.languages or len(self._weights) != len(self._lines) * len(self.languages):
            raise ConfigError("the weights are not as many as runs and languages")

    def guess(self, text: str) -> list[Guess]:
        """Tell which languages a text may be in, likeliest first; none if it is like none."""
        runs = list(islice(_runs_of(text), _MOST_READ))
        if not runs:
            return []
        if not any(run in self._rows for run in runs):
            return []
        rareness = self._rareness(runs)
        if min(rareness) / len(runs) > self.usual + self.slack / math.sqrt(len(runs)):
            return []
        return self._ranked(rareness)

    def rank(self, text: str) -> list[Guess]:
        """Rank all languages for a text that is taken to be in one of them."""
        runs = list(islice(_runs_of(text), _MOST_READ))
        return self._ranked(self._rareness(runs)) if runs else []

    def _ranked(self, rareness: Sequence[float]) -> list[Guess]:
        likeliest = min(rareness)
        shares = [math.exp(likeliest - rare) for rare in rareness]
        found = [
            Guess(language, share / sum(shares))
            for language, share in zip(self.languages, shares, strict=True)
        ]
        likely = (guess for guess in found if guess.probability >= _LIKELY)
        return sorted(likely, key=lambda guess: -guess.probability)

    def _rareness(self, runs: Sequence[str]) -> list[float]:
        """Add up how rare runs are in each language."""
        many = len(self.languages)
        sums = [0] * many
        for run in runs:
            at = self._rows.get(run, -1) * many
            for number in range(many):
                sums[number] += self._weights[at + number] if at >= 0 else 255
        return [each / _STEPS for each in sums]

    @cached_property
    def _lines(self) -> list[str]:
        return self.runs.split("\n")[:-1]

    @cached_property
    def _rows(self) -> dict[str, int]:
        return {run: row for row, run in enumerate(self._lines)}

    @cached_property
    def _weights(self) -> bytes:
        try:
            return b64decode(self.weights, validate=True)
        except ValueError as error:
            raise ConfigError(f"the weights cannot be read, {error}") from error


def learn_languages(
    texts: Mapping[str, Iterable[str]], judged: Iterable[tuple[str, str]]
) -> LanguageTable:
    """Count the runs of letters in texts of each language.

    From `judged`, languages and sentences of theirs, it is learned how far these may be from usual.
    """
    counts = {language: _counted(islice(some, _MOST_COUNTED)) for language, some in texts.items()}
    languages = sorted(counts)
    totals = [max(counts[language].total(), 1) for language in languages]

    def shares(run: str) -> list[float]:
        return [
            (counts[language][run] + _UNSEEN) / total
            for language, total in zip(languages, totals, strict=True)
        ]

    known = {run for found in counts.values() for run, count in found.items()}
    runs = sorted(nlargest(_MOST_RUNS, sorted(known), key=lambda run: _telling(shares(run))))
    weights = bytes(
        round(_STEPS * min(-math.log(share), _RAREST)) for run in runs for share in shares(run)
    )
    table = LanguageTable(
        languages=languages,
        runs="".join(f"{run}\n" for run in runs),
        weights=b64encode(weights).decode("ascii"),
        usual=0.0,
        slack=0.0,
    )
    return _calibrated(table, judged)


def _calibrated(table: LanguageTable, judged: Iterable[tuple[str, str]]) -> LanguageTable:
    """Set how rare the runs of a text may be, so that nearly all sentences are found to be like."""
    means, numbers = [], []
    for language, text in judged:
        if runs := list(_runs_of(text)):
            own = table.languages.index(language)
            means.append(table._rareness(runs)[own] / len(runs))
            numbers.append(len(runs))
    if not means:
        return table
    usual = sum(means) / len(means)
    beyond = sorted(
        (mean - usual) * math.sqrt(number) for mean, number in zip(means, numbers, strict=True)
    )
    return LanguageTable(
        languages=table.languages,
        runs=table.runs,
        weights=table.weights,
        usual=round(usual, 4),
        slack=round(max(beyond[math.ceil(_SURELY * len(beyond)) - 1], 0.0) + _ROUNDING, 4),
    )


def _counted(texts: Iterable[str]) -> Counter[str]:
    counts: Counter[str] = Counter()
    for number, text in enumerate(texts):
        counts.update(_runs_of(text))
        if number % _PLAIN_SHARE == 0 and not text.isascii():
            counts.update(_runs_of(_without_accents(text)))
    return counts


def _telling(shares: Sequence[float]) -> float:
    """Return how much a run tells of the language, by how common it is in each."""
    mean = sum(shares) / len(shares)
    return sum(share * math.log(share / mean) for share in shares)


def _without_accents(text: str) -> str:
    letters = unicodedata.normalize("NFD", text)
    return "".join(letter for letter in letters if not unicodedata.combining(letter))


def _runs_of(text: str) -> Iterator[str]:
    """Cut the words of a text into runs of letters, those that are alike in capitals or not."""
    for word in _WORD.findall(text[:_MOST_READ].lower()):
        whole = f" {word} "
        for size in _SIZES:
            for start in range(len(whole) - size + 1):
                yield whole[start : start + size]
        if len(whole) > _SIZES[-1]:
            yield whole
