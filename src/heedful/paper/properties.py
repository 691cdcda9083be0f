"""What the paper and its explanations say of the network itself, tried on a small one."""

from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F
from torch.utils.flop_counter import FlopCounterMode

from heedful.model.attention import MultiHeadAttention
from heedful.model.config import ModelConfig
from heedful.model.transformer import EncoderLayer, Transformer
from heedful.paper.request import Request
from heedful.paper.result import Claim, Events, Result, Table, claim
from heedful.specials import BOS, EOS

_SIZES: dict[str, Any] = {
    "vocab_size": 30,
    "num_layers": 2,
    "d_model": 32,
    "d_ff": 64,
    "num_heads": 4,
}
_NEAR = 1e-4


def run(request: Request) -> Events:
    """Try each of them."""
    torch.manual_seed(2017)
    model = Transformer(ModelConfig(**_SIZES)).eval()
    with torch.no_grad():
        claims = (*_of_order(model), *_of_decoding(model), *_of_parts(model), *_of_cost())
    yield Result(
        name=request.name,
        title="The network itself",
        tables=(
            Table(
                title="What is said, and what is measured",
                columns=("claim", "measured", "verdict"),
                rows=tuple((it.text, it.measured, it.verdict) for it in claims),
            ),
        ),
        scale="Untrained networks of width 32, or of the paper's base sizes where that is said. "
        "None of this depends on size or training.",
        claims=claims,
    )


def _of_order(model: Transformer) -> Iterator[Claim]:
    layer = model.encoder[0]
    x, order = torch.randn(1, 7, 32), torch.randperm(7)
    visible = torch.ones(1, 1, 1, 7, dtype=torch.bool)
    moved = distance(layer(x[:, order], visible), layer(x, visible)[:, order])
    yield claim(
        "Without positions self-attention knows no order: words in another order give the same "
        "vectors in that order",
        "section 3.5, explanations",
        holds=moved < _NEAR,
        measured=f"they differ by {moved:.0e}",
    )
    source = torch.tensor([[5, 6, 7, 8, EOS]])
    swapped = torch.tensor([[6, 5, 7, 8, EOS]])
    target = torch.tensor([[BOS]])
    changed = distance(model(source, target), model(swapped, target))
    yield claim(
        "With positions the order of words matters",
        "section 3.5, explanations",
        holds=changed > 100 * _NEAR,
        measured=f"two words exchanged change scores by {changed:.2f}",
    )


def _of_decoding(model: Transformer) -> Iterator[Claim]:
    source = torch.tensor([[5, 6, 7, EOS]])
    target, other = torch.tensor([[BOS, 9, 10, 11]]), torch.tensor([[BOS, 9, 10, 12]])
    before, after = model(source, target), model(source, other)
    yield claim(
        "No target position sees those after it",
        "section 3.2.3",
        holds=torch.equal(before[:, :3], after[:, :3]) and not torch.equal(before, after),
        measured="a changed last word changes nothing before it",
    )
    state, steps = model.encode(source), []
    for piece in target.T:
        x, state = model.decode(piece[:, None], state)
        steps.append(model.logits(x))
    apart = distance(torch.cat(steps, dim=1), before)
    yield claim(
        "Training reads all target positions at once, and that is the same as one after the other",
        "section 3.2.3, explanations of teacher forcing",
        holds=apart < _NEAR,
        measured=f"they differ by {apart:.0e}",
    )


def _of_parts(model: Transformer) -> Iterator[Claim]:
    layer: EncoderLayer = model.encoder[0]  # type: ignore[assignment]
    x = 3 * torch.randn(1, 6, 32) + 1
    first, second = layer.feed_forward[0], layer.feed_forward[2]
    convolved = F.conv1d(x.mT, first.weight[..., None], first.bias).relu()  # type: ignore[index, arg-type]
    convolved = F.conv1d(convolved, second.weight[..., None], second.bias).mT  # type: ignore[index, arg-type]
    apart = distance(layer.feed_forward(x), convolved)
    yield claim(
        "The feed-forward network is two convolutions of kernel size 1, the same at every position",
        "section 3.3",
        holds=apart < _NEAR,
        measured=f"they differ by {apart:.0e}",
    )
    normed = layer.around_feed_forward.norm(x)
    mean, deviation = normed.mean(-1).abs().max().item(), normed.std(-1, unbiased=False)
    yield claim(
        "Layer normalisation gives every position mean 0 and deviation 1",
        "explanations of section 3.1",
        holds=mean < _NEAR and distance(deviation, torch.ones_like(deviation)) < 1e-3,
        measured=f"means within {mean:.0e} of 0",
    )
    base = ModelConfig(vocab_size=1)
    yield claim(
        "Each of 8 heads is 512 / 8 = 64 wide, and together they are as wide as the model",
        "section 3.2.2, explanations",
        holds=(base.d_k, base.d_v, base.num_heads * base.d_v) == (64, 64, base.d_model),
        printed="64",
        measured=f"d_k = {base.d_k}, d_v = {base.d_v}, {base.num_heads} x {base.d_v} = 512",
    )


def _of_cost() -> Iterator[Claim]:
    eight, one = (operations(ModelConfig(vocab_size=1, num_heads=heads)) for heads in (8, 1))
    yield claim(
        "Eight narrow heads cost about as much as one of full width",
        "section 3.2.2",
        holds=abs(eight / one - 1) < 0.01,
        printed="similar",
        measured=f"{eight:,} operations against {one:,}, for 50 positions of the base model",
    )


def operations(config: ModelConfig) -> int:
    """Count the operations of multi-head attention over 50 positions."""
    with torch.device("meta"):
        attention = MultiHeadAttention(config)
        x = torch.empty(1, 50, config.d_model)
        visible = torch.ones(1, 1, 1, 50, dtype=torch.bool)
        with FlopCounterMode(display=False) as counter:
            attention(x, attention.offer(x), visible)
    return int(counter.get_total_flops())


def distance(left: Tensor, right: Tensor) -> float:
    """Return how far two tensors are apart at most."""
    return (left - right).abs().max().item()
