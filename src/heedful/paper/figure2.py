"""Figure 2: scaled dot-product and multi-head attention, with the numbers of a real head."""

import math
from dataclasses import dataclass
from typing import Any, cast

import torch
from jaxtyping import Float
from torch import Tensor

from heedful.errors import ConfigError
from heedful.model.attention import exact_attention
from heedful.model.transformer import EncoderLayer, Transformer
from heedful.paper.request import Request
from heedful.paper.result import Events, Picture, Result, Table, claim
from heedful.specials import EOS
from heedful.storage.checkpoint import load_model
from heedful.storage.folder import ModelFolder
from heedful.text.normalise import refuse_halves

SENTENCE = "The animal didn't cross the street because it was too tired."
_MOST = 24  # pieces that are drawn


@dataclass(frozen=True)
class Head:
    """What the first head of the encoder computes of a sentence."""

    pieces: list[str]
    query: Float[Tensor, "length d_k"]
    key: Float[Tensor, "length d_k"]
    value: Float[Tensor, "length d_v"]
    weights: Float[Tensor, "length length"]
    output: Float[Tensor, "length d_v"]

    @property
    def scores(self) -> Tensor:
        """QKᵀ."""
        return self.query @ self.key.T


def run(request: Request) -> Events:
    """Show one head's way from queries and keys to what it gathers."""
    if request.model is None:
        raise ConfigError("figure2 needs --model; name a model folder")
    folder, text = ModelFolder(request.model), request.text or SENTENCE
    refuse_halves(text)
    model, tokenizer = load_model(folder), folder.tokenizer()
    ids = [*tokenizer.encode(text)[: _MOST - 1], EOS]
    head = first_head(model, ids, tokenizer.pieces(ids))
    everything = torch.ones(1, 1, 1, len(ids), dtype=torch.bool)
    query, key, value = (it[None, None] for it in (head.query, head.key, head.value))
    again, _ = exact_attention(query, key, value, everything)
    row = len(ids) // 2
    yield Result(
        name=request.name,
        title="Figure 2: attention, with the numbers of a head",
        tables=(_row_table(head, row), _shape_table(model, len(ids))),
        scale=f"Head 1 of layer 1 of the encoder of {request.model}, reading: {text}",
        pictures=(
            Picture(
                name="figure2", caption="MatMul, scale, softmax, MatMul of one head",
                draw=lambda: _draw(head),
            ),
        ),
        claims=(
            claim(
                "Attention(Q, K, V) = softmax(QKᵀ / √d_k) V",
                "equation 1, figure 2",
                holds=torch.allclose(again[0, 0], head.output, atol=1e-5),
                measured="what the head gathers is what the equation gives",
            ),
            claim(
                "The weights of every query sum to 1",
                "section 3.2.1",
                holds=torch.allclose(head.weights.sum(-1), torch.ones(len(ids)), atol=1e-5),
                measured=f"{len(ids)} rows",
            ),
        ),
    )  # fmt: skip


@torch.no_grad()
def first_head(model: Transformer, ids: list[int], pieces: list[str]) -> Head:
    """Look on as the first layer of the encoder attends."""
    seen: list[tuple[Tensor, ...]] = []

    def attend(query: Tensor, key: Tensor, value: Tensor, visible: Tensor) -> Tensor:
        output, weights = exact_attention(query, key, value, visible)
        seen.append(tuple(it[0, 0] for it in (query, key, value, weights, output)))
        return output

    model.eval()
    attention = cast(EncoderLayer, model.encoder[0]).self_attention
    before = attention.attend
    attention.attend = attend
    try:
        model.encode(torch.tensor([ids]))
    finally:
        attention.attend = before
    return Head(pieces, *seen[0])


def _row_table(head: Head, row: int) -> Table:
    d_k = head.query.size(1)
    return Table(
        title=f"The query of '{head.pieces[row]}' (d_k = {d_k})",
        columns=("key", "q·k", f"/ √{d_k}", "softmax"),
        rows=tuple(
            (piece, score, score / math.sqrt(d_k), weight)
            for piece, score, weight in zip(
                head.pieces, head.scores[row].tolist(), head.weights[row].tolist(), strict=True
            )
        ),
    )


def _shape_table(model: Transformer, length: int) -> Table:
    config = model.config
    heads, d_k, d_v = config.num_heads, config.d_k, config.d_v
    return Table(
        title="Multi-head attention, step by step",
        columns=("step", "shape"),
        rows=(
            ("x", f"{length} x {config.d_model}"),
            ("Q = x W^Q, K = x W^K, cut into heads", f"{heads} x {length} x {d_k}"),
            ("V = x W^V, cut into heads", f"{heads} x {length} x {d_v}"),
            ("QKᵀ / √d_k, softmax", f"{heads} x {length} x {length}"),
            ("weights · V", f"{heads} x {length} x {d_v}"),
            ("concatenated", f"{length} x {heads * d_v}"),
            ("times W^O", f"{length} x {config.d_model}"),
        ),
    )


def _draw(head: Head) -> Any:
    from heedful.paper import style

    figure, axes = style.panels(1, 4, width=9.6, height=3.4)
    scaled = head.scores / math.sqrt(head.query.size(1))
    steps = (
        ("MatMul: QKᵀ", head.scores),
        ("Scale: / √d_k", scaled),
        ("SoftMax", head.weights),
        ("MatMul: weights · V", head.output),
    )
    for panel, (title, values) in zip(axes, steps, strict=True):
        is_share = title == "SoftMax"
        most = 1.0 if is_share else float(values.abs().max())
        colours = style.WEIGHTS if is_share else style.SIGNED
        image = panel.imshow(
            values.numpy(), cmap=colours, vmin=0 if is_share else -most, vmax=most, aspect="auto"
        )
        panel.set_title(title, fontsize=8)
        is_square = values.size(0) == values.size(1)
        panel.set_xticks(*((range(len(head.pieces)), head.pieces) if is_square else ([], [])))
        panel.tick_params(axis="x", rotation=90, labelsize=6)
        panel.set_yticks(range(len(head.pieces)), head.pieces if panel is axes[0] else [])
        panel.tick_params(axis="y", labelsize=6)
        figure.colorbar(image, ax=panel, shrink=0.6).ax.tick_params(labelsize=6)
    return figure
