"""Sampled softmax: some pieces that stand for the whole vocabulary; not in the paper.

A softmax over the vocabulary is the dearest product of a small model, and nearly all of what it
scores is neither wanted nor likely. It needs one sum over all pieces. A sum over those that a
batch wants, and over a random share of the others, each counted for as many as it stands for, is
the same on average.
"""

import math
from dataclasses import dataclass

import torch
from jaxtyping import Float, Int
from torch import Tensor


@dataclass(frozen=True)
class Rivals:
    """The pieces that compete for being said."""

    ids: Int[Tensor, " rivals"]
    """In ascending order; each wanted piece is among them."""

    log_count: Float[Tensor, " rivals"]
    """Logarithm of how many pieces each stands for; a wanted one stands for itself alone."""

    def places(self, wanted: Int[Tensor, " pieces"]) -> Int[Tensor, " pieces"]:
        """Return where each wanted piece is among the rivals."""
        return torch.searchsorted(self.ids, wanted)


def draw_rivals(
    wanted: Int[Tensor, "*batch"],
    *,
    vocab_size: int,
    share: float,
    seed: int,
    device: torch.device | None = None,
) -> Rivals:
    """Take every wanted piece, and each of the others with a probability of `share`.

    They are drawn on the CPU, where the same seed draws the same for every device.
    """
    random = torch.Generator().manual_seed(seed)
    is_drawn = torch.rand(vocab_size, generator=random) < share
    is_wanted = torch.zeros(vocab_size, dtype=torch.bool)
    is_wanted[wanted.flatten()] = True
    (ids,) = (is_wanted | is_drawn).nonzero(as_tuple=True)
    log_count = torch.where(is_wanted[ids], 0.0, -math.log(share))
    return Rivals(ids.to(device), log_count.to(device))
