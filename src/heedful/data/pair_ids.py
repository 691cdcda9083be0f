"""Pairs of piece ids in a memory-mapped file, so that a corpus larger than memory trains."""

from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

ROWS_AT_ONCE = 100_000  # when all are counted, so that memory does not grow with them


class PairIds:
    """The ids of a corpus, read from disk only where they are looked at."""

    def __init__(self, folder: Path) -> None:
        (path,) = folder.glob("ids.*")  # the ending is the type: uint16 or uint32
        self._ids = np.memmap(path, dtype=path.suffix[1:], mode="r")
        # Row r runs from bounds[r, 0] over bounds[r, 1], where its target starts, to bounds[r, 2].
        ends = np.fromfile(folder / "ends.int64", dtype=np.int64).reshape(-1, 2)
        starts = np.concatenate([[0], ends[:-1, 1]])
        self._bounds = np.column_stack([starts, ends])

    def __len__(self) -> int:
        return len(self._bounds)

    def __getitem__(self, row: int) -> tuple[list[int], list[int]]:
        start, middle, end = self._bounds[row]
        return self._ids[start:middle].tolist(), self._ids[middle:end].tolist()

    def __iter__(self) -> Iterator[tuple[list[int], list[int]]]:
        return (self[row] for row in range(len(self)))

    @property
    def lengths(self) -> NDArray[np.int64]:
        """Pieces of source and target, one row per pair."""
        return np.diff(self._bounds, axis=1)

    def piece_counts(self, vocab_size: int) -> NDArray[np.int64]:
        """Count every piece in the sources (row 0) and in the targets (row 1)."""
        counts = np.zeros((2, vocab_size), dtype=np.int64)
        for first in range(0, len(self), ROWS_AT_ONCE):
            bounds = self._bounds[first : first + ROWS_AT_ONCE]
            ids = self._ids[bounds[0, 0] : bounds[-1, 2]]
            is_target = np.repeat(np.tile([False, True], len(bounds)), np.diff(bounds).ravel())
            counts[0] += np.bincount(ids[~is_target], minlength=vocab_size)
            counts[1] += np.bincount(ids[is_target], minlength=vocab_size)
        return counts


def write_pair_ids(
    folder: Path, pairs: Iterable[tuple[list[int], list[int]]], vocab_size: int
) -> PairIds:
    """Stream pairs into a new folder in the narrowest type that holds the vocabulary."""
    folder.mkdir(parents=True)
    kind = "uint16" if vocab_size <= 1 << 16 else "uint32"
    end = 0
    with (folder / f"ids.{kind}").open("wb") as ids, (folder / "ends.int64").open("wb") as ends:
        for source, target in pairs:
            ids.write(np.array(source + target, dtype=kind).tobytes())
            middle, end = end + len(source), end + len(source) + len(target)
            ends.write(np.array([middle, end], dtype=np.int64).tobytes())
    return PairIds(folder)
