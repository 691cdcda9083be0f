"""Cross-entropy with label smoothing (section 5.4), without keeping the logits."""

from collections.abc import Iterable
from typing import Any

import torch
from jaxtyping import Float, Int
from torch import Tensor

from heedful.machine.cores import num_cores, side_by_side
from heedful.model.batch import Batch
from heedful.model.sequence_to_sequence import SequenceToSequence
from heedful.specials import PAD
from heedful.training.rivals import Rivals

_CHUNK = 128  # positions scored at a time, so that their logits stay in the cache


def batch_loss(
    model: SequenceToSequence, batch: Batch, smoothing: float, rivals: Rivals | None = None
) -> tuple[Float[Tensor, ""], Float[Tensor, ""]]:
    """Sum the smoothed and the plain cross-entropy over the wanted pieces, padding aside."""
    weight = model.output_matrix
    batch = batch.to(weight.device)
    x, _ = model.decode(batch.given, model.encode(batch.source))
    is_real = batch.wanted != PAD
    return smoothed_cross_entropy(x[is_real], weight, batch.wanted[is_real], smoothing, rivals)


def validation_loss(model: SequenceToSequence, batches: Iterable[Batch]) -> float:
    """Return the cross-entropy per target piece, without smoothing or dropout."""
    model.eval()
    batches = list(batches)

    @torch.no_grad()
    def surprise(batch: Batch) -> float:
        return batch_loss(model, batch, smoothing=0.0)[1].item()

    cores = num_cores(next(model.parameters()).device)
    total = sum(side_by_side(surprise, batches, at_once=cores))
    return total / sum(batch.num_wanted for batch in batches)


def smoothed_cross_entropy(
    x: Float[Tensor, "pieces d_model"],
    weight: Float[Tensor, "vocab d_model"],
    wanted: Int[Tensor, " pieces"],
    smoothing: float,
    rivals: Rivals | None = None,
) -> tuple[Float[Tensor, ""], Float[Tensor, ""]]:
    """Score `x` against every row of `weight` and sum the smoothed and the plain cross-entropy.

    The wanted piece has 1 - ε of the target distribution, and ε is shared evenly by all pieces.
    Where there are rivals, only their rows are scored, and stand for all (sampled softmax).
    Only the first of the two sums can be differentiated.
    """
    with torch.autocast(x.device.type, enabled=False):  # the loss is worth all its digits
        x, log_count = x.to(weight.dtype), None
        # What smoothing asks of all pieces alike needs only their mean, not their logits.
        of_all = smoothing * (x.sum(dim=0) @ weight.mean(dim=0))
        if rivals is not None:
            weight, wanted, log_count = weight[rivals.ids], rivals.places(wanted), rivals.log_count
        of_gold, plain = _CrossEntropy.apply(
            *(x, weight, wanted, 1 - smoothing, log_count),
            torch.is_grad_enabled(),  # which it is not inside
        )
    return of_gold - of_all, plain


class _CrossEntropy(torch.autograd.Function):
    """Finds the gradient on the way forward, chunk by chunk, while the logits are at hand.

    The first of its sums counts the logit of the wanted piece by its share of the distribution.
    """

    @staticmethod
    def forward(
        context: Any,
        x: Tensor,
        weight: Tensor,
        wanted: Tensor,
        share: float,
        log_count: Tensor | None,
        is_training: bool,
    ) -> tuple[Tensor, Tensor]:
        x_gradient, weight_gradient = torch.empty_like(x), torch.zeros_like(weight)
        normalisers, gold_logits = x.new_empty(len(x), 1), x.new_empty(len(x), 1)
        room = x.new_empty(min(_CHUNK, len(x)), len(weight))
        for start in range(0, len(x), _CHUNK):
            rows = slice(start, start + _CHUNK)
            gold = wanted[rows, None]
            logits = torch.mm(x[rows], weight.T, out=room[: len(gold)])
            if log_count is not None:
                logits += log_count
            gold_logits[rows], top_logit = logits.gather(1, gold), logits.amax(1, keepdim=True)
            probabilities = torch.softmax(logits, dim=1, out=logits)
            # The likeliest piece's probability cannot underflow, however unlikely the gold one is.
            normalisers[rows] = top_logit - probabilities.amax(1, keepdim=True).log()
            if is_training:
                gradient = probabilities.scatter_add_(1, gold, torch.full_like(top_logit, -share))
                torch.mm(gradient, weight, out=x_gradient[rows])
                weight_gradient.addmm_(gradient.T, x[rows])
        context.save_for_backward(x_gradient, weight_gradient)
        plain = (normalisers - gold_logits).sum()
        context.mark_non_differentiable(plain)
        return plain + (1 - share) * gold_logits.sum(), plain

    @staticmethod
    def backward(context: Any, *gradients: Any) -> Any:
        found = (gradient * gradients[0] for gradient in context.saved_tensors)
        return *found, None, None, None, None
