"""The mean of the last checkpoints (section 6.1)."""

from collections.abc import Iterable, Iterator

import torch
from torch import Tensor


def running_means(checkpoints: Iterable[dict[str, Tensor]]) -> Iterator[dict[str, Tensor]]:
    """Yield the first weights, the mean of the first two, and so on, holding one checkpoint."""
    mean: dict[str, Tensor] = {}
    for count, weights in enumerate(checkpoints, start=1):
        for name, tensor in weights.items():
            before = mean.get(name, torch.zeros_like(tensor, dtype=torch.float64))
            mean[name] = before + (tensor - before) / count
        yield {name: tensor.float() for name, tensor in mean.items()}
