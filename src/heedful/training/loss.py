"""Cross-entropy with label smoothing (section 5.4), without keeping the logits."""

from typing import Any

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from heedful.model.batch import Batch
from heedful.model.transformer import Transformer
from heedful.specials import PAD
from heedful.training.rivals import Rivals

_CHUNK = 128  # positions scored at a time, so that their logits stay in the cache


def batch_loss(
    model: Transformer,
    batch: Batch,
    smoothing: float,
    agreement: float = 0.0,
    rivals: Rivals | None = None,
) -> tuple[Float[Tensor, ""], Float[Tensor, ""]]:
    """Sum the smoothed and the plain cross-entropy over the wanted pieces, padding aside.

    Where there is agreement to reach, every pair is seen twice, each time under other dropout.
    """
    batch = batch.to(model.embedding.weight.device)
    sights = 2 if agreement else 1
    source, target = (ids.repeat_interleave(sights, dim=0) for ids in (batch.source, batch.target))
    shown = Batch(source, target)
    x, _ = model.decode(shown.given, model.encode(shown.source))
    smoothed, plain = smoothed_cross_entropy(
        _neighbours(x, shown.wanted != PAD, sights),
        model.embedding.weight,
        _neighbours(shown.wanted, shown.wanted != PAD, sights),
        smoothing,
        agreement,
        rivals,
        _of_pieces(batch, sights),
    )
    return smoothed / sights, plain / sights


def _of_pieces(batch: Batch, sights: int) -> Float[Tensor, " pieces"] | None:
    """Give every sight of every wanted piece the weight of its pair, if pairs have weights."""
    if batch.weights is None:
        return None
    return batch.weights.repeat_interleave(sights * (batch.wanted != PAD).sum(dim=1))


def _neighbours(rows: Tensor, is_real: Bool[Tensor, "batch steps"], sights: int) -> Tensor:
    """Leave out padding, and put the sights of each piece next to each other."""
    pairs = rows.unflatten(0, (-1, sights)).transpose(1, 2)
    return torch.flatten(pairs[is_real[::sights]], 0, 1)


def smoothed_cross_entropy(
    x: Float[Tensor, "pieces d_model"],
    weight: Float[Tensor, "vocab d_model"],
    wanted: Int[Tensor, " pieces"],
    smoothing: float,
    agreement: float = 0.0,
    rivals: Rivals | None = None,
    weights: Float[Tensor, " pieces"] | None = None,
) -> tuple[Float[Tensor, ""], Float[Tensor, ""]]:
    """Score `x` against every row of `weight` and sum the smoothed and the plain cross-entropy.

    The wanted piece has 1 - ε of the target distribution, and ε is shared evenly by all pieces.
    Where there is agreement to reach, each two neighbours are sights of the same piece, and so
    many times the divergence between them is added (R-Drop, Liang et al., 2021).
    Where there are rivals, only their rows are scored, and stand for all.
    Where there are weights, each piece counts by its own in the smoothed sum; agreement does not.
    Only the first of the two sums can be differentiated.
    """
    with torch.autocast(x.device.type, enabled=False):  # the loss is worth all its digits
        smoothed, plain = _SmoothedCrossEntropy.apply(
            *(x.to(weight.dtype), weight, wanted, smoothing, agreement, rivals, weights),
            torch.is_grad_enabled(),  # which it is not inside
        )
    return smoothed, plain


class _SmoothedCrossEntropy(torch.autograd.Function):
    """Finds the gradient on the way forward, chunk by chunk, while the logits are at hand."""

    @staticmethod
    def forward(
        context: Any,
        x: Tensor,
        weight: Tensor,
        wanted: Tensor,
        smoothing: float,
        agreement: float,
        rivals: Rivals | None,
        weights: Tensor | None,
        is_training: bool,
    ) -> tuple[Tensor, Tensor]:
        is_weighted = weights is not None
        scored = weight if rivals is None else weight[rivals.ids]
        wanted = wanted if rivals is None else rivals.places(wanted)
        x_gradient, scored_gradient = torch.empty_like(x), torch.zeros_like(scored)
        weights = x.new_ones(len(x)) if weights is None else weights
        plain, disagreement = x.new_empty(len(x)), x.new_zeros(())
        gold_logits = x.new_empty(len(x))
        room = x.new_empty(min(_CHUNK, x.size(0)), scored.size(0))
        for start in range(0, x.size(0), _CHUNK):
            rows = slice(start, start + _CHUNK)
            gold = wanted[rows, None]
            logits = torch.mm(x[rows], scored.T, out=room[: len(gold)])
            if rivals is not None:
                logits += rivals.log_count
            gold_logit = logits.gather(1, gold)
            top_logit = logits.amax(dim=1, keepdim=True)
            difference = logits[::2] - logits[1::2] if agreement else None
            probabilities = torch.softmax(logits, dim=1, out=logits)
            # The likeliest piece's probability cannot underflow, however unlikely the gold one is.
            normaliser = top_logit - probabilities.amax(dim=1, keepdim=True).log()
            plain[rows] = (normaliser - gold_logit)[:, 0]
            gold_logits[rows] = gold_logit[:, 0]
            if difference is not None:
                divergence, pull = _divergence(probabilities, difference)
                disagreement += agreement * divergence
            if is_training:
                gradient = probabilities.scatter_add_(
                    1, gold, torch.full_like(gold_logit, smoothing - 1)
                )
                if is_weighted:
                    gradient *= weights[rows, None]
                if difference is not None:
                    gradient.add_(pull, alpha=agreement)
                torch.mm(gradient, scored, out=x_gradient[rows])
                scored_gradient.addmm_(gradient.T, x[rows])
        # What smoothing asks of all pieces alike needs only their mean, not their logits.
        mean_weight, sum_x = weight.mean(dim=0), weights @ x
        smoothed = weights @ plain + smoothing * (weights @ gold_logits - sum_x @ mean_weight)
        smoothed = smoothed + disagreement
        weight_gradient = scored_gradient
        if is_training:
            if rivals is not None:
                weight_gradient = torch.zeros_like(weight)
                weight_gradient[rivals.ids] = scored_gradient
            x_gradient.addr_(weights, mean_weight, alpha=-smoothing)
            weight_gradient -= smoothing / weight.size(0) * sum_x
        context.save_for_backward(x_gradient, weight_gradient)
        surprise = plain.sum()
        context.mark_non_differentiable(surprise)
        return smoothed, surprise

    @staticmethod
    def backward(context: Any, *gradients: Any) -> Any:
        found = (gradient * gradients[0] for gradient in context.saved_tensors)
        return *found, None, None, None, None, None, None


def _divergence(
    probabilities: Float[Tensor, "rows vocab"], difference: Float[Tensor, "pairs vocab"]
) -> tuple[Float[Tensor, ""], Float[Tensor, "rows vocab"]]:
    """Sum KL(p||q) and KL(q||p), halved, over neighbours p, q; also return its gradient by logits.

    The normalisers cancel, and (p - q) times the difference of their logits is left.
    """
    gap = probabilities[::2] - probabilities[1::2]
    pull = torch.empty_like(probabilities)
    torch.sub(difference, (probabilities[::2] * difference).sum(1, keepdim=True), out=pull[::2])
    torch.sub((probabilities[1::2] * difference).sum(1, keepdim=True), difference, out=pull[1::2])
    pull *= probabilities
    pull[::2] += gap
    pull[1::2] -= gap
    return (gap * difference).sum() / 2, pull / 2
