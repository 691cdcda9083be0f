"""The pieces that a translation of a text is likely to need, learned from pairs alone.

Those that translate its pieces, with the most common ones added, are all that need to be scored.
"""

import math
from dataclasses import dataclass

import numpy as np

from heedful.data.pair_ids import PairIds
from heedful.data.translation_table import Ids, learn_translations
from heedful.specials import EOS

COMMON = 200  # target pieces that are never left out
TRANSLATIONS = 20  # of a source piece, at most
_LEAST_COUNT = 1.0  # expected occurrences of a translation, else it is chance
MOST_LINKS = 10_000_000  # about: looked at, in some 600 MB and seconds


@dataclass(frozen=True)
class Shortlist:
    """Target pieces for any source, and those that each source piece calls for."""

    common: list[int]
    translations: dict[int, list[int]]


def learn_shortlist(pairs: PairIds, vocab_size: int) -> Shortlist:
    """Learn which pieces translate which, from every n-th pair where all would be too many."""
    table = learn_translations(*_links(pairs), vocab_size)
    translations: dict[int, list[int]] = {}
    (usual,) = np.nonzero(table.counts >= _LEAST_COUNT)
    for index in usual[np.argsort(-table.likelihood[usual])]:
        found = translations.setdefault(int(table.source[index]), [])
        if len(found) < TRANSLATIONS:
            found.append(int(table.target[index]))
    frequency = np.bincount(table.target, table.counts)
    return Shortlist(np.argsort(-frequency)[:COMMON].tolist(), translations)


def _links(pairs: PairIds) -> tuple[Ids, Ids, Ids]:
    """Link each target piece to each source piece of its pair, and to EOS as to no piece.

    Returns both ends of the links, and the number of the target's occurrence.
    """
    sources, targets, positions = [], [], []
    num_targets = 0
    num_links = int(pairs.lengths.prod(axis=1).sum())
    for row in range(0, len(pairs), math.ceil(num_links / MOST_LINKS)):
        source, target = pairs[row]
        source.append(EOS)
        sources.append(np.tile(source, len(target)))
        targets.append(np.repeat(target, len(source)))
        numbers = np.arange(num_targets, num_targets + len(target))
        positions.append(np.repeat(numbers, len(source)))
        num_targets += len(target)
    return np.concatenate(sources), np.concatenate(targets), np.concatenate(positions)
