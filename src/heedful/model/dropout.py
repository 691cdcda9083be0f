"""Dropout (section 5.4) at about half the cost: four decisions from every 64 random bits."""

import torch
from jaxtyping import Float
from torch import Tensor, nn

_LEVELS = 1 << 16  # a decision takes 16 bits, so the rate is exact to 1 / 65,536


class Dropout(nn.Module):
    """Zero each number with probability `rate` in training, and scale up what is left."""

    def __init__(self, rate: float) -> None:
        super().__init__()
        self.rate = rate
        self.generator: torch.Generator | None = None

    def forward(self, x: Float[Tensor, "*shape"]) -> Float[Tensor, "*shape"]:
        """Return `x` itself outside training."""
        num_dropped = round(self.rate * _LEVELS)
        if not self.training or not num_dropped:
            return x
        bits = torch.empty((x.numel() + 3) // 4, dtype=torch.int64, device=x.device)
        bits.random_(-(1 << 63), None, generator=self.generator)
        decisions = bits.view(torch.int16)[: x.numel()].view(x.shape)
        keep = (decisions >= num_dropped - _LEVELS // 2).to(x.dtype)
        return x * keep.mul_(_LEVELS / (_LEVELS - num_dropped))
