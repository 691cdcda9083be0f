"""A batch: what a model reads, and what it should say."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Int
from torch import Tensor

from heedful.specials import BOS, EOS, PAD


@dataclass(frozen=True)
class Batch:
    """Sentence pairs as padded ids; each source ends in EOS, each target runs from BOS to EOS."""

    source: Int[Tensor, "batch src"]
    target: Int[Tensor, "batch tgt"]

    @property
    def given(self) -> Int[Tensor, "batch steps"]:
        """What the decoder is shown: the target without its last position."""
        return self.target[:, :-1]

    @property
    def wanted(self) -> Int[Tensor, "batch steps"]:
        """What the decoder should say: the target without BOS, one piece ahead of `given`."""
        return self.target[:, 1:]

    @property
    def num_wanted(self) -> int:
        """Pieces to predict, padding aside."""
        return int((self.wanted != PAD).sum())

    def part(self, index: int, num: int) -> "Batch":
        """Return every `num`th pair from `index` on, in no more columns than they need."""
        rows = slice(index, None, num)
        source, target = self.source[rows], self.target[rows]
        return Batch(_without_empty_columns(source), _without_empty_columns(target))

    def to(self, device: torch.device) -> "Batch":
        """Return the same pairs where a model can read them."""
        return Batch(self.source.to(device), self.target.to(device))

    def __len__(self) -> int:
        """Count the pairs."""
        return self.source.size(0)


def make_batch(rows: Sequence[tuple[list[int], list[int]]]) -> Batch:
    """Pad pairs of ids to a batch, adding BOS and EOS."""
    return Batch(
        pad([[*source, EOS] for source, _ in rows]),
        pad([[BOS, *target, EOS] for _, target in rows]),
    )


def pad(rows: Sequence[Sequence[int]]) -> Int[Tensor, "batch longest"]:
    """Fill rows of ids to the length of the longest."""
    longest = max(map(len, rows))
    padded = np.full((len(rows), longest), PAD, dtype=np.int64)
    for row, ids in zip(padded, rows, strict=True):
        row[: len(ids)] = ids
    return torch.from_numpy(padded)


def _without_empty_columns(ids: Int[Tensor, "batch length"]) -> Int[Tensor, "batch longest"]:
    return ids[:, (ids != PAD).any(dim=0)]
