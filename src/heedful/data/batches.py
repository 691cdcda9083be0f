"""Batches of similar length under a token budget (section 5.1)."""

from collections.abc import Iterator
from itertools import count, islice

import numpy as np
from numpy.typing import NDArray

from heedful.data.pair_ids import PairIds
from heedful.model.batch import Batch, make_batch


def training_batches(
    pairs: PairIds, *, batch_tokens: int, seed: int, skip: int = 0
) -> Iterator[Batch]:
    """Yield batches without end, each epoch in an order of its own fixed by the seed.

    The first `skip` batches are left out without being read, to go on where a run stopped.
    """
    for rows in islice(_endless_plans(pairs.lengths, batch_tokens, seed), skip, None):
        yield _read(pairs, rows)


def ordered_batches(pairs: PairIds, *, batch_tokens: int) -> Iterator[Batch]:
    """Yield every pair once, the same batches each time."""
    for rows in plan_batches(pairs.lengths, batch_tokens):
        yield _read(pairs, rows)


def largest_batch(pairs: PairIds, *, batch_tokens: int) -> Batch:
    """Return the batch with the most positions, padding included: it needs the most memory."""
    lengths = pairs.lengths
    longest_first = lengths.sum(axis=1).argsort()[::-1]

    def positions(rows: NDArray[np.int64]) -> int:
        return len(rows) * int(lengths[rows].max(axis=0).sum() + 2)  # EOS on either side

    plans = plan_batches(lengths[longest_first], batch_tokens)
    return _read(pairs, max((longest_first[plan] for plan in plans), key=positions))


def plan_batches(lengths: NDArray[np.int64], batch_tokens: int) -> list[NDArray[np.int64]]:
    """Cut rows, sorted by length, where either padded side would exceed the budget.

    A pair that is longer than the budget by itself becomes a batch of one.
    """
    order = _by_likeness(lengths)
    widths = lengths[order].max(axis=1) + 1  # EOS
    batches, start, widest = [], 0, 0
    for position, width in enumerate(widths.tolist()):
        widest = max(widest, width)
        if (position + 1 - start) * widest > batch_tokens and position > start:
            batches.append(order[start:position])
            start, widest = position, width
    if start < len(order):
        batches.append(order[start:])
    return batches


def _by_likeness(lengths: NDArray[np.int64]) -> NDArray[np.int64]:
    """Sort by the longer side, and there by how much longer it is, to and fro.

    So neighbours are alike on both sides, also where the longer side changes.
    """
    longer, difference = lengths.max(axis=1), lengths[:, 0] - lengths[:, 1]
    return np.lexsort((np.where(longer % 2, difference, -difference), longer))


def _endless_plans(
    lengths: NDArray[np.int64], batch_tokens: int, seed: int
) -> Iterator[NDArray[np.int64]]:
    for epoch in count():
        random = np.random.default_rng([seed, epoch])
        order = random.permutation(len(lengths))
        batches = plan_batches(lengths[order], batch_tokens)
        for index in random.permutation(len(batches)):
            yield order[batches[index]]


def _read(pairs: PairIds, rows: NDArray[np.int64]) -> Batch:
    return make_batch([pairs[row] for row in rows.tolist()])
