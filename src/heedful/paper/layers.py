"""The layers of table 1, each written as plainly as it can be: positions in, positions out."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor
from torch.nn import functional as F

from heedful.model.attention import exact_attention

NEIGHBOURS = 16  # r of table 1
KERNEL = 3  # k of table 1

Positions = Float[Tensor, "batch n d"]
Weights = tuple[Tensor, ...]
Layer = Callable[[Tensor, Weights], Tensor]


@dataclass(frozen=True, kw_only=True)
class Kind:
    """A row of table 1."""

    name: str
    layer: Layer
    weights: Callable[[int], Weights]
    """What a layer of a width has learned."""
    printed: tuple[str, str, str]
    """Complexity, sequential operations, longest path."""
    powers: tuple[int, int]
    """Of n and d in the complexity."""
    sequential: int
    """The power of n in the sequential operations."""


def self_attention(x: Positions, weights: Weights) -> Positions:
    """Equation 1 with x as queries, keys and values: what table 1 counts, projections aside."""
    visible = torch.ones(1, 1, 1, x.size(1), dtype=torch.bool)
    output, _ = exact_attention(x[:, None], x[:, None], x[:, None], visible)
    return output[:, 0]


def restricted_attention(x: Positions, weights: Weights) -> Positions:
    """The same over the r positions around each: nothing else is computed or kept."""
    n, d = x.shape[1:]
    padded = F.pad(x, (0, 0, NEIGHBOURS // 2, NEIGHBOURS // 2 - 1))
    neighbours = padded.unfold(1, NEIGHBOURS, 1)  # [batch, n, d, r]
    scores = (x[:, :, None] @ neighbours) / math.sqrt(d)
    near = torch.arange(n)[:, None] + torch.arange(NEIGHBOURS) - NEIGHBOURS // 2
    there = (near >= 0) & (near < n)
    shares = scores.masked_fill(~there[:, None], -math.inf).softmax(-1)
    return (shares @ neighbours.mT)[:, :, 0]


def recurrent(x: Positions, weights: Weights) -> Positions:
    """h_t = tanh(W x_t + U h_{t-1}), one position after the other."""
    return torch.stack(recurrent_steps(x.unbind(1), weights), dim=1)


def recurrent_steps(positions: Sequence[Tensor], weights: Weights) -> list[Tensor]:
    """Return what is remembered after each position."""
    inward, onward = weights
    hidden, states = torch.zeros_like(positions[0]), []
    for x in positions:
        hidden = torch.tanh(x @ inward + hidden @ onward)
        states.append(hidden)
    return states


def convolutional(x: Positions, weights: Weights) -> Positions:
    """A convolution of kernel k over the positions around each."""
    return F.conv1d(x.mT, weights[0], padding=KERNEL // 2).mT


def dilated(x: Positions, weights: Weights, gap: int) -> Positions:
    """A convolution over each position and those one and two gaps before it."""
    padded = F.pad(x.mT, ((KERNEL - 1) * gap, 0))
    return F.conv1d(padded, weights[0], dilation=gap).mT


def _nothing(width: int) -> Weights:
    return ()


def _two_matrices(width: int) -> Weights:
    return tuple(torch.randn(width, width) / math.sqrt(2 * width) for _ in range(2))


def _kernel(width: int) -> Weights:
    return (torch.randn(width, width, KERNEL) / math.sqrt(KERNEL * width),)


KINDS = (
    Kind(
        name="self-attention", layer=self_attention, weights=_nothing,
        printed=("O(n²·d)", "O(1)", "O(1)"), powers=(2, 1), sequential=0,
    ),
    Kind(
        name="recurrent", layer=recurrent, weights=_two_matrices,
        printed=("O(n·d²)", "O(n)", "O(n)"), powers=(1, 2), sequential=1,
    ),
    Kind(
        name="convolutional", layer=convolutional, weights=_kernel,
        printed=("O(k·n·d²)", "O(1)", "O(log_k(n))"), powers=(1, 2), sequential=0,
    ),
    Kind(
        name="self-attention, restricted", layer=restricted_attention, weights=_nothing,
        printed=("O(r·n·d)", "O(1)", "O(n/r)"), powers=(1, 1), sequential=0,
    ),
)  # fmt: skip
