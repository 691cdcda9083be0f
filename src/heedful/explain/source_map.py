"""Which source pieces a translation looked at, as a table of numbers or of shades."""

from dataclasses import dataclass

import torch
from jaxtyping import Float
from rich.table import Table
from rich.text import Text
from torch import Tensor

from heedful.explain.record import record_attention
from heedful.model.transformer import Transformer
from heedful.specials import BOS, EOS
from heedful.text.tokenizer import Tokenizer

_SHADES = " ░▒▓█"


@dataclass(frozen=True)
class SourceAttention:
    """The attention of every target piece over the source pieces, in one layer."""

    source: list[str]
    target: list[str]
    weights: Float[Tensor, "target source"]
    """The mean over the heads; each row sums to one."""


@torch.no_grad()
def source_attention(
    model: Transformer, tokenizer: Tokenizer, source: str, target: str
) -> SourceAttention:
    """Read `target` as a translation of `source` and return the most decided layer's attention."""
    source_ids = [*tokenizer.encode(source), EOS]
    target_ids = [*tokenizer.encode(target), EOS]
    model.eval()
    with record_attention(model) as maps:
        model(torch.tensor([source_ids]), torch.tensor([[BOS, *target_ids[:-1]]]))
    layers = [
        weights[0].mean(dim=0)
        for name, (weights,) in maps.items()
        if name.endswith("source_attention")
    ]
    sharpest = max(layers, key=lambda weights: weights.max(dim=1).values.mean().item())
    return SourceAttention(tokenizer.pieces(source_ids), tokenizer.pieces(target_ids), sharpest)


def attention_table(attention: SourceAttention) -> Table:
    """Draw target pieces down, source pieces across; the darker, the more it was looked at."""
    table = Table(box=None, padding=(0, 0), pad_edge=False, show_header=False)
    table.add_column(justify="right", no_wrap=True)
    for _ in attention.source:
        table.add_column(no_wrap=True)
    for piece, row in zip(attention.target, attention.weights.tolist(), strict=True):
        cells = [
            _shade(weight, width=len(source) + 1)
            for weight, source in zip(row, attention.source, strict=True)
        ]
        table.add_row(Text(f"{piece} ", style="bold"), *cells)
    table.add_row("", *(Text(f"{piece} ", style="cyan") for piece in attention.source))
    return table


def _shade(weight: float, width: int) -> str:
    level = min(int(weight * len(_SHADES)), len(_SHADES) - 1)
    return _SHADES[level] * (width - 1) + " "
