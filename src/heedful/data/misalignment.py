"""Whether line n of the target belongs to line n of the source, told from the pieces alone.

From half of the lines it is learned which pieces come together; on the other half, the target of
each line competes with a stranger as long as itself. Without a relation between the sides, the
own target wins half of the time; in real corpora it wins nearly always.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from heedful.data.pair_ids import PairIds

_PASSAGES = 20
_LINES = 200  # of each passage, at most
_FEWEST_LINES = 20  # of each passage, else nothing can be said
_ENOUGH_LINES = 50  # to judge a passage by itself
_ENOUGH_PAIRS = 1_000  # to call two sides unrelated
_PIECES = 1_000  # the most common ones of a side are looked at
_OFFSETS = (1, -1, 2, -2, 3, -3)  # lines lost or added are seldom more

# Own targets that win. Real corpora are above 0.97, and shuffled ones within 0.03 of a half.
_BELONGING = 0.85
_STRANGE = 0.6
_UNRELATED_LENGTHS = 0.1  # the correlation that real corpora far exceed


@dataclass(frozen=True, kw_only=True)
class Misalignment:
    """Where lines do not belong together."""

    share: float
    """Lines whose own target fits better than a stranger; 0.5 is chance."""
    first_pair: int
    """About where it begins."""
    offset: int
    """Lines further down at which the targets would fit; 0 where none was found."""
    share_at_offset: float


@dataclass(frozen=True)
class _Passage:
    """Lines in a row: which of the common pieces occur in each of them."""

    first_pair: int
    sources: NDArray[np.float32]
    targets: NDArray[np.float32]

    def halves(self) -> tuple["_Passage", "_Passage"]:
        middle = len(self.sources) // 2
        return (
            _Passage(self.first_pair, self.sources[:middle], self.targets[:middle]),
            _Passage(self.first_pair + middle, self.sources[middle:], self.targets[middle:]),
        )

    def moved(self, offset: int) -> "_Passage":
        """Pair each source with the target so many lines further down."""
        if offset >= 0:
            sources, targets = self.sources[: len(self.sources) - offset], self.targets[offset:]
        else:
            sources, targets = self.sources[-offset:], self.targets[:offset]
        return _Passage(self.first_pair, sources, targets)


def find_misalignment(pairs: PairIds, vocab_size: int) -> Misalignment | None:
    """Look for lines that do not belong together; be silent when in doubt."""
    if len(pairs) < _PASSAGES * _FEWEST_LINES:
        return None
    halves = [passage.halves() for passage in _passages(pairs, vocab_size)]
    known, judged = [half for half, _ in halves], [half for _, half in halves]
    association = _associate(_join(known))
    share = _own_share(association, _join(judged))
    if share > _STRANGE:
        return _find_drift(association, judged)
    for offset in _OFFSETS:
        association = _associate(_join([half.moved(offset) for half in known]))
        moved = _own_share(association, _join([half.moved(offset) for half in judged]))
        if moved >= _BELONGING:
            return Misalignment(share=share, first_pair=0, offset=offset, share_at_offset=moved)
    with np.errstate(invalid="ignore"):  # where all lines are equally long, it is not a number
        correlation = np.corrcoef(np.log1p(pairs.lengths).T)[0, 1]
    if len(pairs) >= _ENOUGH_PAIRS and correlation < _UNRELATED_LENGTHS:
        return Misalignment(share=share, first_pair=0, offset=0, share_at_offset=share)
    return None


def _find_drift(association: NDArray[np.float32], judged: list[_Passage]) -> Misalignment | None:
    """Look for a part of the corpus where the targets have moved."""
    for passage in judged:
        if len(passage.sources) < _ENOUGH_LINES:
            return None
        share = _own_share(association, passage)
        if share <= _STRANGE:
            for offset in _OFFSETS:
                moved = _own_share(association, passage.moved(offset))
                if moved >= _BELONGING:
                    return Misalignment(
                        share=share,
                        first_pair=passage.first_pair,
                        offset=offset,
                        share_at_offset=moved,
                    )
    return None


def _passages(pairs: PairIds, vocab_size: int) -> list[_Passage]:
    """Take passages that are spread over the whole corpus."""
    size = min(_LINES, len(pairs) // _PASSAGES)
    columns = [_columns(counts) for counts in pairs.piece_counts(vocab_size)]
    starts = np.linspace(0, len(pairs) - size, _PASSAGES, dtype=int).tolist()
    passages = []
    for start in starts:
        sides = zip(*(pairs[row] for row in range(start, start + size)), strict=True)
        passages.append(
            _Passage(start, *(_occurrences(*side) for side in zip(sides, columns, strict=True)))
        )
    return passages


def _columns(counts: NDArray[np.int64]) -> NDArray[np.int64]:
    """Give each of the most common pieces a column, and all others the last one."""
    columns = np.full(len(counts), _PIECES)
    common = np.argsort(-counts, kind="stable")[:_PIECES]
    columns[common] = np.arange(len(common))
    return columns


def _occurrences(lines: tuple[list[int], ...], columns: NDArray[np.int64]) -> NDArray[np.float32]:
    occurs = np.zeros((len(lines), _PIECES + 1), dtype=np.float32)
    for row, ids in zip(occurs, lines, strict=True):
        row[columns[ids]] = 1
    return occurs[:, :_PIECES]


def _join(passages: list[_Passage]) -> _Passage:
    sources = np.concatenate([passage.sources for passage in passages])
    return _Passage(0, sources, np.concatenate([passage.targets for passage in passages]))


def _associate(passage: _Passage) -> NDArray[np.float32]:
    """Measure how much more often than by chance each two pieces share a line."""
    sources, targets = passage.sources, passage.targets
    product = np.outer(sources.sum(axis=0), targets.sum(axis=0))
    together: NDArray[np.float32] = sources.T @ targets
    surplus = (together - product / len(sources)) / np.sqrt(np.maximum(product, 1))
    return np.asarray(surplus, dtype=np.float32)


def _own_share(association: NDArray[np.float32], passage: _Passage) -> float:
    """Return the share of lines whose own target fits better than a stranger; ties are halves."""
    by_length = np.argsort(passage.targets.sum(axis=1), kind="stable")
    strangers = np.empty_like(by_length)
    strangers[by_length] = np.roll(by_length, 1)
    wanted = passage.sources @ association
    own = (wanted * passage.targets).sum(axis=1)
    other = (wanted * passage.targets[strangers]).sum(axis=1)
    return float(np.mean((own > other) + (own == other) / 2))
