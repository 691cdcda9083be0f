"""The pieces that a translation of a text is likely to need, learned from pairs alone.

IBM model 1 (Brown et al., 1993) tells which target pieces a source piece is translated by; with
the most common pieces added, these are all that need to be scored.
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from heedful.specials import EOS
from heedful.text.pair_ids import PairIds

_COMMON = 200  # target pieces that are never left out
_TRANSLATIONS = 20  # of a source piece, at most
_LEAST_COUNT = 1.0  # expected occurrences of a translation, else it is chance
_MOST_LINKS = 10_000_000  # about: looked at, in some 600 MB and seconds
_ROUNDS = 5


@dataclass(frozen=True)
class Shortlist:
    """Target pieces for any source, and those that each source piece calls for."""

    common: list[int]
    translations: dict[int, list[int]]


def learn_shortlist(pairs: PairIds, vocab_size: int) -> Shortlist:
    """Learn which pieces translate which, from every n-th pair where all would be too many."""
    source, target, position = _links(pairs)
    couples, couple = np.unique(source * vocab_size + target, return_inverse=True)
    from_piece, to_piece = np.divmod(couples, vocab_size)
    likelihood = np.ones(len(couples))
    for _ in range(_ROUNDS):
        share = likelihood[couple]
        share /= np.bincount(position, share)[position]
        counts = np.bincount(couple, share)
        likelihood = counts / np.bincount(from_piece, counts)[from_piece]
    translations: dict[int, list[int]] = {}
    (usual,) = np.nonzero(counts >= _LEAST_COUNT)
    for index in usual[np.argsort(-likelihood[usual])]:
        found = translations.setdefault(int(from_piece[index]), [])
        if len(found) < _TRANSLATIONS:
            found.append(int(to_piece[index]))
    frequency = np.bincount(to_piece, counts)
    return Shortlist(np.argsort(-frequency)[:_COMMON].tolist(), translations)


def _links(pairs: PairIds) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Link each target piece to each source piece of its pair, and to EOS as to no piece.

    Returns both ends of the links, and the number of the target's occurrence.
    """
    sources, targets, positions = [], [], []
    num_targets = 0
    num_links = int(pairs.lengths.prod(axis=1).sum())
    for row in range(0, len(pairs), math.ceil(num_links / _MOST_LINKS)):
        source, target = pairs[row]
        source.append(EOS)
        sources.append(np.tile(source, len(target)))
        targets.append(np.repeat(target, len(source)))
        numbers = np.arange(num_targets, num_targets + len(target))
        positions.append(np.repeat(numbers, len(source)))
        num_targets += len(target)
    return np.concatenate(sources), np.concatenate(targets), np.concatenate(positions)
