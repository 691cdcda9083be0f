"""The mean of the last checkpoints (section 6.1)."""

from collections.abc import Iterable

import torch
from torch import Tensor


def mean_weights(checkpoints: Iterable[dict[str, Tensor]]) -> dict[str, Tensor]:
    """Average weights by name, holding one mean and one checkpoint in memory at a time."""
    mean: dict[str, Tensor] = {}
    for count, weights in enumerate(checkpoints, start=1):
        for name, tensor in weights.items():
            before = mean.get(name, torch.zeros((), dtype=torch.float64))
            mean[name] = before + (tensor - before) / count
    return {name: tensor.float() for name, tensor in mean.items()}
