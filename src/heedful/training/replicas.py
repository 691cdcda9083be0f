"""Data parallel: the parts of a batch side by side, one copy of the model for each part."""

import copy
from collections.abc import Sequence

import torch

from heedful.machine.cores import num_cores, side_by_side
from heedful.machine.precision import products_in
from heedful.machine.processes import ALONE, Processes
from heedful.model.batch import Batch
from heedful.model.dropout import Dropout
from heedful.model.sequence_to_sequence import SequenceToSequence
from heedful.training.config import TrainingConfig
from heedful.training.loss import batch_loss
from heedful.training.rivals import Rivals, draw_rivals

_SMALLEST_PART = 512  # tokens; below, what a step costs besides its tokens weighs more


class Replicas:
    """A model and copies that share its weights, but neither gradients nor random numbers.

    Of several processes each has as many, and a batch has a part for every one of them all.
    """

    def __init__(
        self,
        model: SequenceToSequence,
        *,
        batch_tokens: int,
        precision: str = "float32",
        processes: Processes = ALONE,
    ) -> None:
        self.device = device = next(model.parameters()).device
        self.precision = precision
        most = batch_tokens // processes.num // _SMALLEST_PART
        self.processes = processes
        self.num = processes.by_first(lambda: max(min(num_cores(device), most), 1))
        self.models = [model, *(_sharing_weights(model) for _ in range(self.num - 1))]
        self.generators = [_random_numbers_of(replica, device) for replica in self.models]

    def learn(
        self, batches: Sequence[Batch], config: TrainingConfig, seed: int
    ) -> tuple[float, float]:
        """Leave the gradient per target piece in the model; return the loss, smoothed and plain."""
        num_pieces = sum(batch.num_wanted for batch in batches)
        ours, num_parts = self.processes.share(self.num), self.processes.num * self.num
        # For whole batches, so that it does not show how many parts they are cut into.
        rivals_of_batches = [
            self._rivals(batch, config.rivals, seed + index) for index, batch in enumerate(batches)
        ]

        def learn_part(replica: int) -> tuple[float, float]:
            model, smoothed, plain = self.models[replica], 0.0, 0.0
            self.generators[replica].manual_seed(seed * num_parts + ours[replica])
            model.train()
            for batch, rivals in zip(batches, rivals_of_batches, strict=True):
                if part := batch.part(ours[replica], num_parts):
                    with products_in(self.precision, self.device):
                        loss, surprise = batch_loss(model, part, config.label_smoothing, rivals)
                    (loss / num_pieces).backward()
                    smoothed, plain = smoothed + loss.item(), plain + surprise.item()
            return smoothed, plain

        losses = side_by_side(learn_part, range(self.num), at_once=self.num)
        self._sum_gradients()
        totals = torch.tensor(losses, dtype=torch.float64).sum(dim=0)
        self.processes.sum([totals])
        smoothed, plain = (totals / num_pieces).tolist()
        return smoothed, plain

    def _rivals(self, batch: Batch, share: float, seed: int) -> Rivals | None:
        if share == 1:
            return None
        return draw_rivals(
            batch.wanted,
            vocab_size=self.models[0].config.vocab_size,
            share=share,
            seed=seed,
            device=self.device,
        )

    def _sum_gradients(self) -> None:
        gradients = []
        for parameter, *others in zip(*(m.parameters() for m in self.models), strict=True):
            if parameter.grad is None:  # a batch of fewer pairs than parts
                parameter.grad = torch.zeros_like(parameter)
            for other in others:
                if other.grad is not None:
                    parameter.grad += other.grad
                other.grad = None
            gradients.append(parameter.grad)
        self.processes.sum(gradients)


def _sharing_weights(model: SequenceToSequence) -> SequenceToSequence:
    replica = copy.deepcopy(model)
    for ours, theirs in zip(replica.parameters(), model.parameters(), strict=True):
        ours.data = theirs.data
    return replica


def _random_numbers_of(model: SequenceToSequence, device: torch.device) -> torch.Generator:
    generator = torch.Generator(device)
    for module in model.modules():
        if isinstance(module, Dropout):
            module.generator = generator
    return generator
