"""What a step of training tells; read without torch."""

import math
from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Step:
    """What one optimiser step did."""

    number: int
    loss: float
    """Smoothed cross-entropy per target piece: what is made small."""
    perplexity: float
    """Of the target pieces, without smoothing."""
    learning_rate: float
    num_pieces: int
    """Target pieces learned from, padding aside."""
    seconds: float
    """From asking for its batches to updated weights."""


def perplexity(loss: float) -> float:
    """Return e to the cross-entropy, infinite where that overflows."""
    return math.exp(loss) if loss < 700 else math.inf
