"""Attention (section 3.2)."""

import math
from collections.abc import Callable
from dataclasses import dataclass

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn
from torch.nn import functional as F

from heedful.model.config import ModelConfig

Attend = Callable[[Tensor, Tensor, Tensor, Tensor], Tensor]


def exact_attention(
    query: Float[Tensor, "batch head query d_k"],
    key: Float[Tensor, "batch head key d_k"],
    value: Float[Tensor, "batch head key d_v"],
    visible: Bool[Tensor, "#batch 1 #query key"],
) -> tuple[Float[Tensor, "batch head query d_v"], Float[Tensor, "batch head query key"]]:
    """Equation 1, softmax(QKᵀ / √d_k)V over the visible keys; also returns the weights."""
    scores = query @ key.transpose(-2, -1) / math.sqrt(query.size(-1))
    weights = scores.masked_fill(~visible, -math.inf).softmax(dim=-1)
    return weights @ value, weights


def fused_attention(
    query: Float[Tensor, "batch head query d_k"],
    key: Float[Tensor, "batch head key d_k"],
    value: Float[Tensor, "batch head key d_v"],
    visible: Bool[Tensor, "#batch 1 #query key"],
) -> Float[Tensor, "batch head query d_v"]:
    """Equation 1 in one kernel, which is faster and keeps no weights."""
    return F.scaled_dot_product_attention(query, key, value, attn_mask=visible)


@dataclass(frozen=True)
class KeyValue:
    """What positions offer to the positions that look at them."""

    key: Float[Tensor, "batch head seen d_k"]
    value: Float[Tensor, "batch head seen d_v"]

    def append(self, newer: "KeyValue") -> "KeyValue":
        """Join the positions of `newer` after ours."""
        if self.key.size(2) == 0:
            return newer
        return KeyValue(
            torch.cat([self.key, newer.key], dim=2), torch.cat([self.value, newer.value], dim=2)
        )

    def select(self, rows: Int[Tensor, " chosen"]) -> "KeyValue":
        """Keep the given batch rows, in the given order."""
        return KeyValue(self.key.index_select(0, rows), self.value.index_select(0, rows))

    def nothing(self) -> "KeyValue":
        """Offer no position, in the same batch, heads and widths."""
        return KeyValue(self.key[:, :, :0], self.value[:, :, :0])


class MultiHeadAttention(nn.Module):
    """Attention in h subspaces at once (section 3.2.2, figure 2 right)."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.num_heads = config.num_heads
        self.query = nn.Linear(config.d_model, config.num_heads * config.d_k)  # W^Q, all heads
        self.key = nn.Linear(config.d_model, config.num_heads * config.d_k)  # W^K
        self.value = nn.Linear(config.d_model, config.num_heads * config.d_v)  # W^V
        self.output = nn.Linear(config.num_heads * config.d_v, config.d_model)  # W^O
        self.attend: Attend = fused_attention  # `record_attention` puts exact_attention here

    def offer(self, x: Float[Tensor, "batch seen d_model"]) -> KeyValue:
        """Project the positions that are to be looked at."""
        return KeyValue(self._split(self.key(x)), self._split(self.value(x)))

    def forward(
        self,
        x: Float[Tensor, "batch query d_model"],
        seen: KeyValue,
        visible: Bool[Tensor, "#batch 1 #query key"],
    ) -> Float[Tensor, "batch query d_model"]:
        """Let each position of `x` gather from the `seen` positions `visible` to it."""
        gathered = self.attend(self._split(self.query(x)), seen.key, seen.value, visible)
        return self.output(gathered.transpose(1, 2).flatten(2))

    def _split(
        self, x: Float[Tensor, "batch length heads_times_width"]
    ) -> Float[Tensor, "batch head length width"]:
        return x.unflatten(-1, (self.num_heads, -1)).transpose(1, 2)
