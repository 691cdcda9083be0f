"""Convolutional sequence to sequence (Gehring et al., 2017), for table 2.

Gated linear units, residuals scaled by √½, attention in every layer of the decoder, learned
positions, weight normalisation. One matrix embeds and scores pieces, as in the Transformer that
stands beside it.
"""

import math
from dataclasses import dataclass

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn
from torch.nn import functional as F
from torch.nn.utils.parametrizations import weight_norm

from heedful.model.dropout import Dropout
from heedful.specials import PAD

_HALF = math.sqrt(0.5)


@dataclass(frozen=True, kw_only=True)
class ConvolutionalConfig:
    """Sizes of the convolutional network."""

    vocab_size: int
    d_model: int = 128
    num_layers: int = 4
    """In the encoder, and as many in the decoder."""
    kernel: int = 3
    dropout: float = 0.1
    max_length: int = 1_024
    """Learned positions; those beyond share the last."""


@dataclass(frozen=True)
class ConvolutionalState:
    """A batch of half-written translations, a row for each."""

    memory: Float[Tensor, "rows src d_model"]
    """z: the top of the encoder, which is compared."""
    offer: Float[Tensor, "rows src d_model"]
    """z + e: with the embeddings, which is gathered."""
    visible: Bool[Tensor, "rows src"]
    past: tuple[Tensor, ...]
    """What each layer of the decoder has read last, as much as its kernel reaches."""
    length: int

    def select(self, rows: Int[Tensor, " chosen"]) -> "ConvolutionalState":
        """Keep the given rows, in the given order."""
        past = tuple(layer[rows] for layer in self.past)
        return ConvolutionalState(
            self.memory[rows], self.offer[rows], self.visible[rows], past, self.length
        )


class Gated(nn.Module):
    """A convolution to twice the width, of which one half opens the other (GLU)."""

    def __init__(self, config: ConvolutionalConfig) -> None:
        super().__init__()
        self.dropout = Dropout(config.dropout)
        convolution = nn.Conv1d(config.d_model, 2 * config.d_model, config.kernel)
        keep = 1 - config.dropout
        nn.init.normal_(
            convolution.weight, std=math.sqrt(4 * keep / (config.kernel * config.d_model))
        )
        assert convolution.bias is not None
        nn.init.zeros_(convolution.bias)
        self.convolution: nn.Module = weight_norm(convolution, dim=0)

    def forward(
        self, x: Float[Tensor, "rows length d_model"]
    ) -> Float[Tensor, "rows shorter d_model"]:
        """Convolve as far as the kernel fits."""
        return F.glu(self.convolution(self.dropout(x).mT).mT, dim=-1)


class DecoderLayer(nn.Module):
    """A gated convolution that sees no future, and attention from it."""

    def __init__(self, config: ConvolutionalConfig) -> None:
        super().__init__()
        self.gated = Gated(config)
        self.inward = _linear(config)
        self.outward = _linear(config)

    def forward(
        self,
        x: Float[Tensor, "rows new d_model"],
        embedded: Float[Tensor, "rows new d_model"],
        past: Float[Tensor, "rows reach d_model"],
        state: ConvolutionalState,
    ) -> tuple[Float[Tensor, "rows new d_model"], Float[Tensor, "rows reach d_model"]]:
        """Refine the new positions; return them, and what comes before the next."""
        read = torch.cat([past, x], dim=1)
        h = self.gated(read)
        summary = (self.inward(h) + embedded) * _HALF
        scores = summary @ state.memory.mT
        weights = scores.masked_fill(~state.visible[:, None], -math.inf).softmax(dim=-1)
        # As many positions as are gathered from, so that the variance stays (section 3.5 there).
        scale = state.visible.sum(dim=1, keepdim=True)[:, None].sqrt()
        gathered = self.outward(weights @ state.offer * scale)
        return ((h + gathered) * _HALF + x) * _HALF, read[:, read.size(1) - past.size(1) :]


class ConvolutionalNetwork(nn.Module):
    """Source ids and target ids in, a score for every next piece out."""

    def __init__(self, config: ConvolutionalConfig) -> None:
        super().__init__()
        self.config = config
        width, layers = config.d_model, config.num_layers
        self.embedding = nn.Embedding(config.vocab_size, width)
        self.positions = nn.Parameter(torch.randn(2, config.max_length, width) * 0.1)
        self.dropout = Dropout(config.dropout)
        self.encoder = nn.ModuleList(Gated(config) for _ in range(layers))
        self.decoder = nn.ModuleList(DecoderLayer(config) for _ in range(layers))
        self.top = _linear(config)
        nn.init.normal_(self.embedding.weight, std=width**-0.5)

    def encode(self, source: Int[Tensor, "batch src"]) -> ConvolutionalState:
        """Read the source; padding is nothing."""
        visible = source != PAD
        real = visible[..., None]
        embedded = self._embed(source, side=0, start=0)
        x, reach = embedded, self.config.kernel - 1
        for layer in self.encoder:
            padded = F.pad(x * real, (0, 0, reach // 2, reach - reach // 2))
            x = (layer(padded) + x) * _HALF
        # The decoder looks here from every layer; the gradients of all of them come together.
        x = _with_gradient_of(x, 1 / (2 * len(self.decoder)))
        past = tuple(x.new_zeros(len(x), reach, x.size(2)) for _ in self.decoder)
        return ConvolutionalState(x, (x + embedded) * _HALF, visible, past, 0)

    def decode(
        self, target: Int[Tensor, "rows new"], state: ConvolutionalState
    ) -> tuple[Float[Tensor, "rows new d_model"], ConvolutionalState]:
        """Write `target` after the state."""
        embedded = self._embed(target, side=1, start=state.length)
        x, past = embedded, []
        for layer, before in zip(self.decoder, state.past, strict=True):
            x, last = layer(x, embedded, before, state)
            past.append(last)
        length = state.length + target.size(1)
        new = ConvolutionalState(state.memory, state.offer, state.visible, tuple(past), length)
        return self.dropout(self.top(x)), new

    def logits(self, x: Float[Tensor, "*batch d_model"]) -> Float[Tensor, "*batch vocab"]:
        """Score every piece by the matrix that also embeds it."""
        scores: Tensor = x @ self.output_matrix.T
        return scores

    @property
    def output_matrix(self) -> Tensor:
        """The matrix that embeds pieces, which also scores them."""
        matrix: Tensor = self.embedding.weight
        return matrix

    def _embed(
        self, ids: Int[Tensor, "rows length"], side: int, start: int
    ) -> Float[Tensor, "rows length d_model"]:
        places = torch.arange(start, start + ids.size(1), device=ids.device)
        places = places.clamp(max=self.config.max_length - 1)
        pieces = self.embedding(ids) * math.sqrt(self.config.d_model)
        embedded: Tensor = self.dropout(pieces + self.positions[side, places])
        return embedded


def _linear(config: ConvolutionalConfig) -> nn.Module:
    linear = nn.Linear(config.d_model, config.d_model)
    nn.init.normal_(linear.weight, std=math.sqrt((1 - config.dropout) / config.d_model))
    nn.init.zeros_(linear.bias)
    normed: nn.Module = weight_norm(linear, dim=0)
    return normed


def _with_gradient_of(x: Tensor, share: float) -> Tensor:
    """Return the same numbers, through which so much of the gradient goes back."""
    return x * share + x.detach() * (1 - share)
