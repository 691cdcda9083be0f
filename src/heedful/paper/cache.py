"""Keys and values that are kept while one decodes: how large, and what time they save."""

import time
from collections.abc import Iterator
from typing import Any, NamedTuple

import torch
from torch import Tensor

from heedful.errors import ConfigError
from heedful.model.transformer import DecoderState, Transformer
from heedful.paper.request import Request
from heedful.paper.result import Events, Picture, Result, Table, claim
from heedful.paper.table1 import one_core
from heedful.specials import BOS, EOS
from heedful.storage.checkpoint import load_model
from heedful.storage.folder import ModelFolder
from heedful.text.normalise import refuse_halves

SENTENCE = "The animal didn't cross the street because it was too tired."
STEPS = 32


class Kept(NamedTuple):
    """One step of decoding."""

    step: int
    numbers_a_head: int
    """Keys and values of the target that one head keeps."""
    num_bytes: int
    """Of all heads and layers, source and target."""
    with_cache: float
    """Milliseconds."""
    without: float


def run(request: Request) -> Events:
    """Decode a sentence both ways."""
    if request.model is None:
        raise ConfigError("cache needs --model; name a model folder")
    folder, text = ModelFolder(request.model), request.text or SENTENCE
    refuse_halves(text)
    model, tokenizer = load_model(folder), folder.tokenizer()
    source = torch.tensor([[*tokenizer.encode(text), EOS]])
    with one_core():
        list(decoded(model, source, 4))  # warms up
        steps, furthest = list(decoded(model, source, STEPS)), difference(model, source, STEPS)
    kept = [it for it, _ in steps]
    saved = sum(it.without for it in kept) / sum(it.with_cache for it in kept)
    yield Result(
        name=request.name,
        title="Keys and values kept",
        tables=(
            Table(
                title=f"Greedy decoding of {STEPS} pieces",
                columns=("step", "numbers a head", "bytes in all", "ms with", "ms without"),
                rows=tuple(it for it in kept if it.step in (1, 2, 3, 4, 8, 16, 24, 32)),
            ),
        ),
        scale=f"The model in {request.model}, float32, one sentence of {source.size(1)} pieces, "
        f"alone: {text} Times are what one core of this machine spent.",
        pictures=(
            Picture(
                name="cache", caption="What is kept, and the time of a step with and without",
                draw=lambda: _draw(kept),
            ),
        ),
        claims=(
            claim(
                "Keeping keys and values changes nothing in what is said",
                "explanations of decoding",
                holds=furthest < 1e-3,
                measured=f"scores differ by {furthest:.1e} at most",
            ),
            claim(
                "It saves time, the more the longer the text",
                "explanations of decoding",
                holds=saved > 1,
                measured=f"{saved:.1f} times as fast over {STEPS} steps",
            ),
        ),
    )  # fmt: skip


@torch.inference_mode()
def decoded(model: Transformer, source: Tensor, steps: int) -> Iterator[tuple[Kept, Tensor]]:
    """Write the likeliest pieces, with what is kept and without; yield what each step took."""
    model.eval()
    start = model.encode(source)
    state, written = start, torch.tensor([[BOS]])
    for number in range(1, steps + 1):
        began = time.thread_time()
        x, state = model.decode(written[:, -1:], state)
        between = time.thread_time()
        model.decode(written, start)
        ended = time.thread_time()
        yield (
            Kept(
                number,
                state.past[0].key[0, 0].numel() + state.past[0].value[0, 0].numel(),
                num_bytes(state),
                1_000 * (between - began),
                1_000 * (ended - between),
            ),
            x,
        )
        scores = model.logits(x[:, -1])
        scores[:, EOS] = -torch.inf  # to go on for as long as is looked at
        written = torch.cat([written, scores.argmax(-1, keepdim=True)], dim=1)


@torch.inference_mode()
def difference(model: Transformer, source: Tensor, steps: int) -> float:
    """Return how much the scores of the last step differ at most with nothing kept."""
    model.eval()
    *_, (_, x) = decoded(model, source, steps)
    written = [BOS]
    state = start = model.encode(source)
    for _ in range(steps - 1):
        last, state = model.decode(torch.tensor([written[-1:]]), state)
        scores = model.logits(last[0, -1])
        scores[EOS] = -torch.inf
        written.append(int(scores.argmax()))
    whole, _ = model.decode(torch.tensor([written]), start)
    return float((model.logits(whole[:, -1]) - model.logits(x[:, -1])).abs().max())


def num_bytes(state: DecoderState) -> int:
    """Count what is kept of source and target."""
    tensors = [it for layer in (*state.past, *state.source) for it in (layer.key, layer.value)]
    return sum(it.numel() * it.element_size() for it in tensors)


def _draw(kept: list[Kept]) -> Any:
    from heedful.paper import style

    figure, (left, right) = style.panels(1, 2, height=3.0)
    steps = [it.step for it in kept]
    left.plot(steps, [it.num_bytes / 1_000 for it in kept], "o-", markersize=3)
    left.set_title("kilobytes kept")
    left.set_ylim(0)
    right.plot(steps, [it.with_cache for it in kept], label="with")
    right.plot(steps, [it.without for it in kept], label="without")
    right.set_title("milliseconds a step")
    right.set_ylim(0)
    right.legend()
    for axes in (left, right):
        axes.set_xlabel("step")
    return figure
