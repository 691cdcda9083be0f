"""How sure a difference is: intervals by resampling, and the paired bootstrap."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from sacrebleu.metrics.bleu import BLEU

RESAMPLES = 1_000
_SEED = 2017


@dataclass(frozen=True)
class BleuCounts:
    """What BLEU is computed from, sentence by sentence, so that samples cost a sum each."""

    counts: NDArray[np.int64]
    """A row a sentence: matches of 1 to 4 words, their totals, length, reference's length."""

    @classmethod
    def of(cls, translations: Sequence[str], references: Sequence[str]) -> "BleuCounts":
        """Count the n-grams of every sentence, as sacrebleu does."""
        metric = BLEU(force=True)
        scores = [
            metric.sentence_score(translation, [reference])
            for translation, reference in zip(translations, references, strict=True)
        ]
        rows = [[*it.counts, *it.totals, it.sys_len, it.ref_len] for it in scores]
        return cls(np.array(rows, dtype=np.int64).reshape(-1, 10))

    def bleu(self, chosen: NDArray[np.int64] | None = None) -> float:
        """Return BLEU over all sentences, or over a sample."""
        rows = self.counts if chosen is None else self.counts[chosen]
        sums = rows.sum(axis=0).tolist()
        return float(BLEU.compute_bleu(sums[:4], sums[4:8], sys_len=sums[8], ref_len=sums[9]).score)

    def interval(self) -> tuple[float, float]:
        """Return between what 95 % of samples of as many sentences lie."""
        samples = sorted(self.bleu(chosen) for chosen in _samples(len(self.counts)))
        return _middle(samples)


def chance_of_no_gain(ours: BleuCounts, others: BleuCounts) -> float:
    """Return p: how often resampling turns round which of two is better (Koehn, 2004)."""
    difference = ours.bleu() - others.bleu()
    turned = sum(
        (ours.bleu(chosen) - others.bleu(chosen)) * difference <= 0
        for chosen in _samples(len(ours.counts))
    )
    return turned / RESAMPLES


def mean_interval(values: Sequence[float]) -> tuple[float, float]:
    """Return between what 95 % of resampled means lie."""
    random = np.random.default_rng(_SEED)
    array = np.array(values)
    means = array[random.integers(0, len(array), (RESAMPLES, len(array)))].mean(axis=1)
    return _middle(sorted(means.tolist()))


def _samples(size: int) -> NDArray[np.int64]:
    return np.random.default_rng(_SEED).integers(0, size, (RESAMPLES, size))


def _middle(samples: Sequence[float]) -> tuple[float, float]:
    return samples[RESAMPLES // 40], samples[-RESAMPLES // 40 - 1]
