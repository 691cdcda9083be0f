"""Learning from the parts of a batch side by side, one copy of the model for each part."""

import copy
from collections.abc import Sequence

import torch

from heedful.cores import num_cores, side_by_side
from heedful.model.dropout import Dropout
from heedful.model.transformer import Transformer
from heedful.text.batches import Batch
from heedful.training.loss import batch_loss

_SMALLEST_PART = 512  # tokens; below, what a step costs besides its tokens weighs more


class Replicas:
    """A model and copies that share its weights, but neither gradients nor random numbers."""

    def __init__(self, model: Transformer, *, batch_tokens: int) -> None:
        device = next(model.parameters()).device
        self.num = max(min(num_cores(device), batch_tokens // _SMALLEST_PART), 1)
        self.models = [model, *(_sharing_weights(model) for _ in range(self.num - 1))]
        self.generators = [_random_numbers_of(replica, device) for replica in self.models]

    def learn(self, batches: Sequence[Batch], smoothing: float, seed: int) -> tuple[float, float]:
        """Leave the gradient per target piece in the model; return the loss, smoothed and plain."""
        num_pieces = sum(batch.num_wanted for batch in batches)

        def learn_part(index: int) -> tuple[float, float]:
            model, smoothed, plain = self.models[index], 0.0, 0.0
            self.generators[index].manual_seed(seed * self.num + index)
            model.train()
            for batch in batches:
                if part := batch.part(index, self.num):
                    loss, surprise = batch_loss(model, part, smoothing)
                    (loss / num_pieces).backward()
                    smoothed, plain = smoothed + loss.item(), plain + surprise.item()
            return smoothed, plain

        losses = side_by_side(learn_part, range(self.num), at_once=self.num)
        self._sum_gradients()
        smoothed, plain = (sum(column) / num_pieces for column in zip(*losses, strict=True))
        return smoothed, plain

    def _sum_gradients(self) -> None:
        for parameter, *others in zip(*(m.parameters() for m in self.models), strict=True):
            for other in others:
                if other.grad is not None and parameter.grad is not None:
                    parameter.grad += other.grad
                other.grad = None


def _sharing_weights(model: Transformer) -> Transformer:
    replica = copy.deepcopy(model)
    for ours, theirs in zip(replica.parameters(), model.parameters(), strict=True):
        ours.data = theirs.data
    return replica


def _random_numbers_of(model: Transformer, device: torch.device) -> torch.Generator:
    generator = torch.Generator(device)
    for module in model.modules():
        if isinstance(module, Dropout):
            module.generator = generator
    return generator
