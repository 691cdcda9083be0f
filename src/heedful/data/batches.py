"""Batches of similar length under a token budget (section 5.1)."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import count, islice
from random import Random

import numpy as np
import torch
from numpy.typing import NDArray

from heedful.data.pair_ids import PairIds
from heedful.model.batch import Batch, make_batch

BreakPieces = Callable[[Sequence[int], Random], list[int]]
"""Shows a sentence in other pieces, as `PieceDropout` does."""


def training_batches(
    pairs: PairIds,
    *,
    batch_tokens: int,
    seed: int,
    skip: int = 0,
    joined: float = 0.0,
    break_pieces: BreakPieces | None = None,
) -> Iterator[Batch]:
    """Yield batches without end, each epoch in an order of its own fixed by the seed.

    The first `skip` batches are left out without being read, to go on where a run stopped. So
    large a share of the pairs is `joined`, each with another one, to a pair of longer texts; pairs
    that have weights stay alone.
    """
    assert pairs.weights is None or not joined
    plans = enumerate(_endless_plans(pairs.lengths, batch_tokens, seed, joined))
    for number, texts in islice(plans, skip, None):
        chosen = [_read(pairs, rows) for rows in texts.tolist()]
        if break_pieces:
            random = Random(f"{seed} {number}")
            chosen = [
                (break_pieces(source, random), break_pieces(target, random))
                for source, target in chosen
            ]
        batch = make_batch(chosen)
        if pairs.weights is not None:
            batch = replace(batch, weights=torch.from_numpy(pairs.weights[texts[:, 0]]))
        yield batch


def ordered_batches(pairs: PairIds, *, batch_tokens: int) -> Iterator[Batch]:
    """Yield every pair once, the same batches each time."""
    for rows in plan_batches(pairs.lengths, batch_tokens):
        yield make_batch([pairs[row] for row in rows.tolist()])


def largest_batch(pairs: PairIds, *, batch_tokens: int, joined: float = 0.0) -> Batch:
    """Return the batch with the most positions, padding included: it needs the most memory.

    Where pairs are joined, those count as well that are joined with one as long as they are.
    """
    lengths = pairs.lengths
    longest_first = lengths.sum(axis=1).argsort()[::-1]
    kinds = [_texts(longest_first, 0)]
    if joined:
        kinds.append(longest_first[: len(lengths) // 2 * 2].reshape(-1, 2))
    candidates = []
    for texts in kinds:
        text_lengths = _text_lengths(texts, lengths)
        for plan in plan_batches(text_lengths, batch_tokens):
            width = text_lengths[plan].max(axis=0).sum() + 2  # EOS on either side
            candidates.append((len(plan) * width, texts[plan]))
    _, largest = max(candidates, key=lambda candidate: candidate[0])
    return make_batch([_read(pairs, rows) for rows in largest.tolist()])


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
    lengths: NDArray[np.int64], batch_tokens: int, seed: int, joined: float
) -> Iterator[NDArray[np.int64]]:
    for epoch in count():
        random = np.random.default_rng([seed, epoch])
        order = random.permutation(len(lengths))
        texts = _texts(order, int(joined * len(order) / 2))
        batches = plan_batches(_text_lengths(texts, lengths), batch_tokens)
        for index in random.permutation(len(batches)):
            yield texts[batches[index]]


def _texts(order: NDArray[np.int64], num_twos: int) -> NDArray[np.int64]:
    """Make texts of two rows, and of the other rows alone, whose second row is past the last."""
    texts = np.full((len(order) - num_twos, 2), len(order))
    texts[:, 0], texts[:num_twos, 1] = order[num_twos:], order[:num_twos]
    return texts


def _text_lengths(texts: NDArray[np.int64], lengths: NDArray[np.int64]) -> NDArray[np.int64]:
    with_none = np.concatenate([lengths, np.zeros_like(lengths[:1])])
    total: NDArray[np.int64] = with_none[texts].sum(axis=1)
    return total


def _read(pairs: PairIds, rows: list[int]) -> tuple[list[int], list[int]]:
    """Read a text of one row or two."""
    (source, target), *others = [pairs[row] for row in rows if row < len(pairs)]
    for more_source, more_target in others:
        source, target = source + more_source, target + more_target
    return source, target
