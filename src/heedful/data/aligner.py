"""A statistical aligner: which pieces translate which, learned from pairs alone.

IBM model 1 (Brown et al. 1993) with the diagonal prior of fast_align (Dyer et al. 2013), the
steepness of which is fixed.
"""

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from heedful.data.translation_table import learn_translations

_STEEPNESS = 2.0  # half of what fast_align begins with, so that words may also change places

Pair = tuple[Sequence[int], Sequence[int]]


def align_pieces(pairs: Sequence[Pair], vocab_size: int) -> Iterator[NDArray[np.float64]]:
    """Return for each pair how likely each target piece (row) translates each source piece."""
    shapes = [(len(target), len(source)) for source, target in pairs]
    widths = np.concatenate([np.full(rows, columns) for rows, columns in shapes])
    table = learn_translations(
        np.concatenate([np.tile(source, len(target)) for source, target in pairs]),
        np.concatenate([np.repeat(target, len(source)) for source, target in pairs]),
        np.repeat(np.arange(len(widths)), widths),
        vocab_size,
        prior=np.concatenate([_diagonal(*shape).ravel() for shape in shapes]),
    )
    ends = np.cumsum([rows * columns for rows, columns in shapes])
    parts = np.split(table.posterior, ends[:-1])
    return (part.reshape(shape) for part, shape in zip(parts, shapes, strict=True))


def _diagonal(rows: int, columns: int) -> NDArray[np.float64]:
    """Expect a piece about as far into the target as what it translates is into the source."""
    places = np.subtract.outer((np.arange(rows) + 0.5) / rows, (np.arange(columns) + 0.5) / columns)
    return np.exp(-_STEEPNESS * np.abs(places))
