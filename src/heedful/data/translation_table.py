"""Which pieces translate which, learned from pairs alone: IBM model 1 (Brown et al., 1993)."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Ids = NDArray[np.int64]
_ROUNDS = 5


@dataclass(frozen=True)
class TranslationTable:
    """Couples of pieces that stand in the same pair, and how well they go together."""

    source: Ids
    target: Ids
    likelihood: NDArray[np.float64]
    """Of the target piece, given the source piece."""
    counts: NDArray[np.float64]
    """How often the one is expected to translate the other."""
    posterior: NDArray[np.float64]
    """How likely each link of the corpus is, among those of the same target position."""


def learn_translations(
    source: Ids,
    target: Ids,
    position: Ids,
    vocab_size: int,
    prior: NDArray[np.float64] | None = None,
) -> TranslationTable:
    """Learn from links: both of their pieces, and the number of the target's occurrence."""
    couples, couple = np.unique(source * vocab_size + target, return_inverse=True)
    from_piece, to_piece = np.divmod(couples, vocab_size)
    likelihood = np.ones(len(couples))
    for _ in range(_ROUNDS):
        posterior = likelihood[couple]
        if prior is not None:
            posterior *= prior
        posterior /= np.bincount(position, posterior)[position]
        counts = np.bincount(couple, posterior).astype(np.float64)
        likelihood = counts / np.bincount(from_piece, counts)[from_piece]
    return TranslationTable(from_piece, to_piece, likelihood, counts, posterior)
