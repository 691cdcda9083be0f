"""Piece dropout: show a word now whole, now in parts, so that a small corpus teaches more.

It does to ids what BPE-dropout (Provilkov et al., 2020) does while it cuts the text: some merges
are left undone. No text is needed, and the same random numbers always give the same pieces.
"""

from collections.abc import Sequence
from random import Random

from heedful.text.tokenizer import Tokenizer


class PieceDropout:
    """Breaks each piece with probability `rate` into the two that it was merged from."""

    def __init__(self, tokenizer: Tokenizer, rate: float) -> None:
        self.rate = rate
        self.halves = piece_halves(tokenizer) if rate else {}

    def __call__(self, ids: Sequence[int], random: Random) -> list[int]:
        """Break some pieces of a sentence, and some of the parts in turn."""
        kept, waiting = [], list(reversed(ids))
        while waiting:
            piece = waiting.pop()
            if piece in self.halves and random.random() < self.rate:
                waiting += self.halves[piece]
            else:
                kept.append(piece)
        return kept


def piece_halves(tokenizer: Tokenizer) -> dict[int, tuple[int, int]]:
    """Return the right and the left half of every piece that was merged from two.

    Of the halves that are pieces themselves, those are taken that BPE learned first.
    """
    pieces = tokenizer.pieces(range(tokenizer.vocab_size))
    ids = {piece: id for id, piece in enumerate(pieces)}

    def learned_last(right: int, left: int) -> int:
        return max((id for id in (right, left) if len(pieces[id]) > 1), default=0)

    halves = {}
    for id in tokenizer.merged_ids:
        piece = pieces[id]
        splits = [
            (ids[piece[cut:]], ids[piece[:cut]])
            for cut in range(1, len(piece))
            if piece[:cut] in ids and piece[cut:] in ids
        ]
        if splits:
            halves[id] = min(splits, key=lambda split: learned_last(*split))
    return halves
