"""The Transformer (section 3): encoder and decoder stacks under one shared embedding."""

import math
from dataclasses import dataclass

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from heedful.errors import ConfigError
from heedful.model.attention import KeyValue, MultiHeadAttention
from heedful.model.config import ModelConfig
from heedful.model.dropout import Dropout
from heedful.specials import PAD

LAYER_NORM_EPSILON = 1e-6  # not in the paper; that of the first public code


class FeedForward(nn.Sequential):
    """Equation 2, FFN(x) = max(0, xW₁ + b₁)W₂ + b₂, the same at every position (section 3.3)."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__(
            nn.Linear(config.d_model, config.d_ff),
            nn.ReLU(),
            nn.Linear(config.d_ff, config.d_model),
        )


class Residual(nn.Module):
    """LayerNorm(x + Dropout(Sublayer(x))) around every sub-layer (sections 3.1 and 5.4).

    With normalisation "pre" it is x + Dropout(Sublayer(LayerNorm(x))).
    """

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.is_pre = config.normalisation == "pre"
        self.norm = _layer_norm(config)
        self.dropout = Dropout(config.dropout)

    def before(
        self, x: Float[Tensor, "batch length d_model"]
    ) -> Float[Tensor, "batch length d_model"]:
        """Make `x` ready for the sub-layer."""
        return self.norm(x) if self.is_pre else x

    def after(
        self,
        x: Float[Tensor, "batch length d_model"],
        change: Float[Tensor, "batch length d_model"],
    ) -> Float[Tensor, "batch length d_model"]:
        """Add what the sub-layer made of `x` back onto `x`."""
        x = x + self.dropout(change)
        return x if self.is_pre else self.norm(x)


class EncoderLayer(nn.Module):
    """Self-attention, then feed-forward (figure 1, left)."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.self_attention = MultiHeadAttention(config)
        self.feed_forward = FeedForward(config)
        self.around_self_attention = Residual(config)
        self.around_feed_forward = Residual(config)

    def forward(
        self, x: Float[Tensor, "batch src d_model"], visible: Bool[Tensor, "batch 1 1 src"]
    ) -> Float[Tensor, "batch src d_model"]:
        """Refine every source position in the light of the others."""
        ready = self.around_self_attention.before(x)
        change = self.self_attention(ready, self.self_attention.offer(ready), visible)
        x = self.around_self_attention.after(x, change)
        change = self.feed_forward(self.around_feed_forward.before(x))
        return self.around_feed_forward.after(x, change)


class DecoderLayer(nn.Module):
    """Masked self-attention, attention over the source, feed-forward (figure 1, right)."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.self_attention = MultiHeadAttention(config)
        self.source_attention = MultiHeadAttention(config)
        self.feed_forward = FeedForward(config)
        self.around_self_attention = Residual(config)
        self.around_source_attention = Residual(config)
        self.around_feed_forward = Residual(config)

    def forward(
        self,
        x: Float[Tensor, "batch new d_model"],
        source: KeyValue,
        source_visible: Bool[Tensor, "sentence 1 1 src"],
        past: KeyValue,
        past_visible: Bool[Tensor, "1 1 new seen"],
    ) -> tuple[Float[Tensor, "batch new d_model"], KeyValue]:
        """Refine the new target positions; return them, and all that is now past."""
        ready = self.around_self_attention.before(x)
        past = past.append(self.self_attention.offer(ready))
        change = self.self_attention(ready, past, past_visible)
        x = self.around_self_attention.after(x, change)
        ready = self.around_source_attention.before(x)
        # In beam search several rows have one source; they look at it as positions of one row.
        together = ready.unflatten(0, (source_visible.size(0), -1)).flatten(1, 2)
        change = self.source_attention(together, source, source_visible).view_as(ready)
        x = self.around_source_attention.after(x, change)
        change = self.feed_forward(self.around_feed_forward.before(x))
        return self.around_feed_forward.after(x, change), past


@dataclass(frozen=True)
class DecoderState:
    """A batch of half-written translations, and their sources, one for each beam of rows."""

    source_visible: Bool[Tensor, "sentence 1 1 src"]
    source: tuple[KeyValue, ...]
    past: tuple[KeyValue, ...]

    @property
    def length(self) -> int:
        """Target positions decoded so far."""
        return self.past[0].key.size(2)

    def select(self, rows: Int[Tensor, " chosen"]) -> "DecoderState":
        """Keep the given rows, in the given order, as many of every sentence that is kept."""
        rows = rows.to(self.source_visible.device)
        num_rows, num_sentences = self.past[0].key.size(0), self.source_visible.size(0)
        if torch.equal(rows, torch.arange(num_rows, device=rows.device)):
            return self
        rows_each = num_rows // num_sentences
        sentences = (rows // rows_each).unique_consecutive()
        visible, source = self.source_visible, self.source
        if not torch.equal(sentences, torch.arange(num_sentences, device=rows.device)):
            visible = visible[sentences]
            source = tuple(layer.select(sentences) for layer in source)
        return DecoderState(visible, source, tuple(layer.select(rows) for layer in self.past))


class Transformer(nn.Module):
    """Source ids and target ids in, a score for every next piece out (figure 1)."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.config = config
        self.embedding = nn.Embedding(config.vocab_size, config.d_model)
        self.positions = Positions(config)
        self.dropout = Dropout(config.dropout)
        self.encoder = nn.ModuleList(EncoderLayer(config) for _ in range(config.num_layers))
        self.decoder = nn.ModuleList(DecoderLayer(config) for _ in range(config.num_layers))
        is_pre = config.normalisation == "pre"  # then nothing has normalised the top of a stack
        self.encoder_norm = _layer_norm(config) if is_pre else nn.Identity()
        self.decoder_norm = _layer_norm(config) if is_pre else nn.Identity()
        self._initialise()

    def forward(
        self, source: Int[Tensor, "batch src"], target: Int[Tensor, "batch tgt"]
    ) -> Float[Tensor, "batch tgt vocab"]:
        """Score every next piece after every prefix of `target` (teacher forcing)."""
        x, _ = self.decode(target, self.encode(source))
        return self.logits(x)

    def encode(self, source: Int[Tensor, "batch src"]) -> DecoderState:
        """Read the source once; the state can then be decoded any number of times."""
        visible = (source != PAD)[:, None, None, :]
        x = self._embed(source, start=0)
        for layer in self.encoder:
            x = layer(x, visible)
        x = self.encoder_norm(x)
        offers = tuple(layer.source_attention.offer(x) for layer in self.decoder)
        return DecoderState(visible, offers, past=tuple(offer.nothing() for offer in offers))

    def decode(
        self, target: Int[Tensor, "batch new"], state: DecoderState
    ) -> tuple[Float[Tensor, "batch new d_model"], DecoderState]:
        """Write `target` after the state: all of it in training, one position in search."""
        seen, new = state.length, target.size(1)
        # Position i sees positions 0..i. Padding needs no mask: it comes after every real piece.
        visible = torch.ones(1, 1, new, seen + new, dtype=torch.bool, device=target.device)
        visible = visible.tril(diagonal=seen)
        x = self._embed(target, start=seen)
        past = []
        for layer, source, layer_past in zip(self.decoder, state.source, state.past, strict=True):
            x, layer_past = layer(x, source, state.source_visible, layer_past, visible)
            past.append(layer_past)
        x = self.decoder_norm(x)
        return x, DecoderState(state.source_visible, state.source, tuple(past))

    def logits(self, x: Float[Tensor, "*batch d_model"]) -> Float[Tensor, "*batch vocab"]:
        """Score every piece by the matrix that also embeds it (section 3.4)."""
        return x @ self.output_matrix.T

    @property
    def output_matrix(self) -> Tensor:
        """The matrix that embeds pieces, which also scores them."""
        return self.embedding.weight

    @property
    def num_parameters(self) -> int:
        """Count what is learned, as table 3 does."""
        return sum(parameter.numel() for parameter in self.parameters())

    def _embed(
        self, ids: Int[Tensor, "batch length"], start: int
    ) -> Float[Tensor, "batch length d_model"]:
        pieces = self.embedding(ids) * math.sqrt(self.config.d_model)
        return self.dropout(pieces + self.positions(start, ids.size(1)))

    def _initialise(self) -> None:
        for parameter in self.parameters():
            if parameter.dim() > 1:
                nn.init.xavier_uniform_(parameter)
        nn.init.normal_(self.embedding.weight, std=self.config.d_model**-0.5)


class Positions(nn.Module):
    """One vector per position, by formula or learned (section 3.5 and table 3, row E)."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.config = config
        if config.positions == "learned":
            self.learned = nn.Parameter(torch.empty(config.max_length, config.d_model))
        else:
            self.table: Tensor
            self.register_buffer("table", self.sinusoids(torch.arange(256)), persistent=False)

    def forward(self, start: int, length: int) -> Float[Tensor, "length d_model"]:
        """Encode the positions from `start` on."""
        end = start + length
        if self.config.positions == "learned":
            if end > self.config.max_length:
                raise ConfigError(
                    f"learned positions end at max_length = {self.config.max_length}, "
                    f"but the text has {end} pieces; split it, or use sinusoids"
                )
            return self.learned[start:end]
        if end > self.table.size(0):
            with torch.inference_mode(False):  # a search may come first, and training after it
                self.table = self.sinusoids(torch.arange(2 * end)).to(self.table)
        return self.table[start:end]

    def sinusoids(self, positions: Int[Tensor, " length"]) -> Float[Tensor, "length d_model"]:
        """Encode any positions by the formula of this model."""
        encode = interleaved_sinusoids if self.config.positions == "interleaved" else half_sinusoids
        return encode(positions, self.config.d_model)


def interleaved_sinusoids(
    positions: Int[Tensor, " length"], d_model: int
) -> Float[Tensor, "length {d_model}"]:
    """PE(pos, 2i) = sin(pos / 10000^(2i/d_model)) and PE(pos, 2i+1) its cosine (section 3.5)."""
    even = torch.arange(0, d_model, 2)
    angles = positions[:, None] / 10_000 ** (even / d_model)
    return torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(1)


def half_sinusoids(
    positions: Int[Tensor, " length"], d_model: int
) -> Float[Tensor, "length {d_model}"]:
    """All sines, then all cosines, with exponent i / (d_model/2 - 1): the first public code."""
    half = torch.arange(d_model // 2)
    angles = positions[:, None] / 10_000 ** (half / max(d_model // 2 - 1, 1))
    return torch.cat([angles.sin(), angles.cos()], dim=-1)


def _layer_norm(config: ModelConfig) -> nn.LayerNorm:
    return nn.LayerNorm(config.d_model, eps=LAYER_NORM_EPSILON)
