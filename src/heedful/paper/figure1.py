"""Figure 1: the network of a model folder, with its sizes, shapes and parameters."""

from collections.abc import Iterator
from typing import Any

import torch

from heedful.errors import ConfigError
from heedful.model.config import ModelConfig
from heedful.model.transformer import Transformer
from heedful.paper.request import Request
from heedful.paper.result import Events, Picture, Result, Table, claim
from heedful.storage.folder import ModelFolder

Block = tuple[str, str, int]
"""What it is, the shape of what leaves it, and its parameters."""


def run(request: Request) -> Events:
    """Count and draw a model's blocks."""
    if request.model is None:
        raise ConfigError("figure1 needs --model; name a model folder")
    config = ModelFolder(request.model).config()
    with torch.device("meta"):
        model = Transformer(config)
    blocks = list(blocks_of(model))
    total = sum(parameters for _, _, parameters in blocks)
    yield Result(
        name=request.name,
        title="Figure 1: the network",
        tables=(
            Table(
                title=f"{config.num_layers} + {config.num_layers} layers, {total:,} parameters",
                columns=("block", "shape", "parameters"),
                rows=tuple(blocks),
            ),
        ),
        scale=f"The model in {request.model}; n is the length of the source, m of the target. "
        "The paper's base model has 6 + 6 layers, d_model 512, d_ff 2,048, 8 heads of 64.",
        pictures=(
            Picture(
                name="figure1", caption="The network of this model",
                draw=lambda: _draw(config, model, total),
            ),
        ),
        claims=(
            claim(
                "All that is learned is in these blocks: embedding, layers, and their norms",
                "figure 1",
                holds=total == model.num_parameters,
                measured=f"{total:,} of {model.num_parameters:,} parameters",
            ),
            claim(
                "The same matrix embeds source and target, and scores the output",
                "section 3.4",
                holds=model.output_matrix is model.embedding.weight,
                measured=f"one matrix of {config.vocab_size:,} x {config.d_model}",
            ),
        ),
    )  # fmt: skip


def blocks_of(model: Transformer) -> Iterator[Block]:
    """Yield the blocks from bottom to top, a layer of each stack for all."""
    config = model.config
    yield "embedding, shared", f"{config.vocab_size:,} x {config.d_model}", _size(model.embedding)
    yield f"positions, {config.positions}", f"n x {config.d_model}", _size(model.positions)
    for stack, layers, length in (
        ("encoder", model.encoder, "n"),
        ("decoder", model.decoder, "m"),
    ):
        for name, part in layers[0].named_children():
            each = _size(part)
            label = f"{stack}, {len(layers)} x {name.replace('_', ' ')}"
            yield label, _shape(name, config, length), len(layers) * each
    if norms := _size(model.encoder_norm) + _size(model.decoder_norm):
        yield "norms on top of both stacks", f"n, m x {config.d_model}", norms
    yield "linear and softmax (the embedding again)", f"m x {config.vocab_size:,}", 0


def _shape(name: str, config: ModelConfig, length: str) -> str:
    if name.endswith("feed_forward") and not name.startswith("around"):
        return f"{length} x {config.d_model} -> {config.d_ff} -> {config.d_model}"
    if name.endswith("attention") and not name.startswith("around"):
        return f"{config.num_heads} heads of {config.d_k}, {config.d_v}"
    return f"{length} x {config.d_model}"


def _size(module: torch.nn.Module) -> int:
    return sum(parameter.numel() for parameter in module.parameters())


def _draw(config: ModelConfig, model: Transformer, total: int) -> Any:
    from heedful.paper import style

    figure, (axes,) = style.panels(width=7.2, height=7.2)
    style.bare(axes)
    axes.set_xlim(0.5, 10)
    axes.set_title(f"{total:,} parameters")
    width, heads = f"{config.d_model} wide", f"{config.num_heads} heads of {config.d_k}"
    kinds = {
        "norm": ("Add & Norm" if config.normalisation == "post" else "Norm (and add after)",
                 style.PALE),
        "ff": (f"Feed forward\n{config.d_model} to {config.d_ff:,} to {config.d_model}", "#bcd7f5"),
        "self": (f"Self-attention\n{heads}", "#f6cfae"),
        "masked": (f"Masked self-attention\n{heads}", "#f6cfae"),
        "source": (f"Attention to the source\n{heads}", "#f6cfae"),
    }  # fmt: skip
    tops = []
    is_post = config.normalisation == "post"
    for x, sublayers in (1.2, ("self", "ff")), (5.6, ("masked", "source", "ff")):
        _box(axes, x, 0.9, f"Embedding {config.vocab_size:,} x {config.d_model}", "#f3b9c0")
        y = _box(axes, x, 1.9, f"+ positions, {config.positions}", "#ffffff") + 0.5
        bottom = y
        for sublayer in sublayers:
            for part in (sublayer, "norm") if is_post else ("norm", sublayer):
                text, colour = kinds[part]
                if part == "source":
                    looked_from = y + 0.4
                y = _box(axes, x, y, text, colour)
        outline = _rectangle(x - 0.25, bottom - 0.2, 3.7, y - bottom + 0.25)
        axes.add_patch(outline)
        axes.text(x + 3.55, (bottom + y) / 2, f"x {config.num_layers}", fontsize=12, va="center")
        tops.append(y)
    axes.text(2.8, 0.45, "source", ha="center")
    axes.text(7.2, 0.45, "target, shifted right", ha="center")
    end = _box(axes, 5.6, tops[1] + 0.35, f"Linear, {config.vocab_size:,} pieces", "#cfe8d5")
    axes.set_ylim(0.2, _box(axes, 5.6, end, "Softmax", "#cfe8d5"))
    arrow = {"arrowstyle": "->", "color": style.INK}
    axes.annotate("", (5.52, looked_from), (4.48, tops[0] - 0.4), arrowprops=arrow)
    axes.text(4.2, tops[0] + 0.3, width, ha="center", color=style.GREY)
    return figure


def _rectangle(x: float, y: float, width: float, height: float) -> Any:
    from matplotlib.patches import FancyBboxPatch

    return FancyBboxPatch((x, y), width, height, boxstyle="round,pad=0.05", fill=False, lw=1.0)


def _box(axes: Any, x: float, y: float, text: str, colour: str) -> float:
    """Draw a box; return where the next may begin."""
    from matplotlib.patches import FancyBboxPatch

    height = 0.8 if "\n" in text else 0.5
    axes.add_patch(
        FancyBboxPatch(
            (x, y), 3.2, height, boxstyle="round,pad=0.05", facecolor=colour, edgecolor="#22303c",
            linewidth=0.8,
        )
    )  # fmt: skip
    axes.text(x + 1.6, y + height / 2, text, ha="center", va="center", fontsize=8)
    return y + height + 0.28
