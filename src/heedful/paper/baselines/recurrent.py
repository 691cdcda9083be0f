"""LSTMs with global attention (Luong et al., 2015), for table 2.

The encoder reads both ways, and the decoder starts from its last states (Bahdanau et al., 2015).
Attention is Luong's "general" score and attentional vector. His input feeding is left out, as in
most of his paper, so that a sentence trains in one pass. One matrix embeds and scores pieces, as
in the Transformer that stands beside it.
"""

import math
from dataclasses import dataclass

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from heedful.model.dropout import Dropout
from heedful.specials import PAD


@dataclass(frozen=True, kw_only=True)
class RecurrentConfig:
    """Sizes of the recurrent network."""

    vocab_size: int
    d_model: int = 128
    """Width of embeddings, states and attentional vectors."""
    num_layers: int = 2
    dropout: float = 0.1


@dataclass(frozen=True)
class RecurrentState:
    """A batch of half-written translations, a row for each."""

    memory: Float[Tensor, "rows src d_model"]
    visible: Bool[Tensor, "rows src"]
    hidden: Float[Tensor, "layers rows d_model"]
    cell: Float[Tensor, "layers rows d_model"]

    def select(self, rows: Int[Tensor, " chosen"]) -> "RecurrentState":
        """Keep the given rows, in the given order."""
        return RecurrentState(
            self.memory[rows], self.visible[rows], self.hidden[:, rows], self.cell[:, rows]
        )


class RecurrentNetwork(nn.Module):
    """Source ids and target ids in, a score for every next piece out."""

    def __init__(self, config: RecurrentConfig) -> None:
        super().__init__()
        self.config = config
        width, layers = config.d_model, config.num_layers
        self.embedding = nn.Embedding(config.vocab_size, width)
        self.dropout = Dropout(config.dropout)
        self.encoder = nn.ModuleList(
            nn.LSTM(width, width // 2, batch_first=True, bidirectional=True) for _ in range(layers)
        )
        self.decoder = nn.ModuleList(nn.LSTM(width, width, batch_first=True) for _ in range(layers))
        self.score = nn.Linear(width, width, bias=False)  # W_a, Luong's "general"
        self.combine = nn.Linear(2 * width, width, bias=False)  # W_c
        nn.init.normal_(self.embedding.weight, std=width**-0.5)

    def encode(self, source: Int[Tensor, "batch src"]) -> RecurrentState:
        """Read the source both ways; padding is not read."""
        visible = source != PAD
        lengths = visible.sum(dim=1).cpu()
        x, hidden, cell = self._embed(source), [], []
        for layer in self.encoder:
            packed = pack_padded_sequence(x, lengths, batch_first=True, enforce_sorted=False)
            found, (last, last_cell) = layer(packed)
            x, _ = pad_packed_sequence(found, batch_first=True, total_length=source.size(1))
            x = self.dropout(x)
            hidden.append(torch.cat([last[0], last[1]], dim=-1))
            cell.append(torch.cat([last_cell[0], last_cell[1]], dim=-1))
        return RecurrentState(x, visible, torch.stack(hidden), torch.stack(cell))

    def decode(
        self, target: Int[Tensor, "rows new"], state: RecurrentState
    ) -> tuple[Float[Tensor, "rows new d_model"], RecurrentState]:
        """Write `target` after the state."""
        x, hidden, cell = self._embed(target), [], []
        for number, layer in enumerate(self.decoder):
            before = state.hidden[number][None], state.cell[number][None]
            x, (last, last_cell) = layer(x, before)
            x = self.dropout(x)
            hidden.append(last[0])
            cell.append(last_cell[0])
        scores = x @ self.score(state.memory).mT
        weights = scores.masked_fill(~state.visible[:, None], -math.inf).softmax(dim=-1)
        x = torch.tanh(self.combine(torch.cat([weights @ state.memory, x], dim=-1)))
        new = RecurrentState(state.memory, state.visible, torch.stack(hidden), torch.stack(cell))
        return self.dropout(x), new

    def logits(self, x: Float[Tensor, "*batch d_model"]) -> Float[Tensor, "*batch vocab"]:
        """Score every piece by the matrix that also embeds it."""
        scores: Tensor = x @ self.output_matrix.T
        return scores

    @property
    def output_matrix(self) -> Tensor:
        """The matrix that embeds pieces, which also scores them."""
        matrix: Tensor = self.embedding.weight
        return matrix

    def _embed(self, ids: Int[Tensor, "rows length"]) -> Float[Tensor, "rows length d_model"]:
        embedded: Tensor = self.dropout(self.embedding(ids) * math.sqrt(self.config.d_model))
        return embedded
