"""A statistical aligner: which pieces translate which, learned from pairs alone.

IBM model 1 (Brown et al. 1993) with the diagonal prior of fast_align (Dyer et al. 2013), the
steepness of which is fixed.
"""

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

_ROUNDS = 5
_STEEPNESS = 2.0  # half of what fast_align begins with, so that words may also change places

Pair = tuple[Sequence[int], Sequence[int]]


def align_pieces(pairs: Sequence[Pair], vocab_size: int) -> Iterator[NDArray[np.float64]]:
    """Return for each pair how likely each target piece (row) translates each source piece."""
    shapes = [(len(target), len(source)) for source, target in pairs]
    prior = np.concatenate([_diagonal(*shape).ravel() for shape in shapes])
    names = np.concatenate([np.add.outer(t, np.multiply(s, vocab_size)).ravel() for s, t in pairs])
    couples, couple = np.unique(names, return_inverse=True)
    source_piece = couples // vocab_size
    widths = np.concatenate([np.full(rows, columns) for rows, columns in shapes])
    row = np.repeat(np.arange(len(widths)), widths)
    likelihood = np.ones(len(couples))
    for _ in range(_ROUNDS):
        joint = likelihood[couple] * prior
        posterior = joint / np.bincount(row, joint)[row]
        counts = np.bincount(couple, posterior)
        likelihood = counts / np.bincount(source_piece, counts)[source_piece]
    ends = np.cumsum([rows * columns for rows, columns in shapes])
    parts = np.split(posterior, ends[:-1])
    return (part.reshape(shape) for part, shape in zip(parts, shapes, strict=True))


def _diagonal(rows: int, columns: int) -> NDArray[np.float64]:
    """Expect a piece about as far into the target as what it translates is into the source."""
    places = np.subtract.outer((np.arange(rows) + 0.5) / rows, (np.arange(columns) + 0.5) / columns)
    return np.exp(-_STEEPNESS * np.abs(places))
