"""The systems that are trained side by side, each as its users would write it."""

import math
from collections.abc import Callable, Iterator
from importlib.util import find_spec

import torch
from torch import Tensor, nn

from heedful.machine.memory import keep_freed_memory
from heedful.model.batch import Batch
from heedful.model.config import ModelConfig
from heedful.model.transformer import Transformer, interleaved_sinusoids
from heedful.specials import BOS, EOS, PAD
from heedful.training.config import TrainingConfig
from heedful.training.trainer import ADAM_BETAS, ADAM_EPSILON, Trainer

LABEL_SMOOTHING = 0.1
LEARNING_RATE = 1e-4
MICRO_BATCH_TOKENS = 2_048  # the batch of the default recipe

System = Callable[[Batch], float]
"""Takes one optimiser step on a batch and returns its loss per target piece."""


def heedful_system(config: ModelConfig) -> System:
    """Train as `heedful train` does, with batches of the default recipe accumulated."""
    keep_freed_memory()
    training = TrainingConfig(accumulate=1_000, label_smoothing=LABEL_SMOOTHING)
    trainer = Trainer(Transformer(config), training)

    def step(batch: Batch) -> float:
        return next(trainer.steps(micro_batches(batch, MICRO_BATCH_TOKENS))).loss

    return step


def micro_batches(batch: Batch, tokens: int) -> Iterator[Batch]:
    """Cut a batch, whose pairs are sorted by length, as batches of about so many tokens are cut."""
    width = max(batch.source.size(1), batch.wanted.size(1))
    num_parts = min(math.ceil(len(batch) * width / tokens), len(batch))
    sides = zip(*(ids.tensor_split(num_parts) for ids in (batch.source, batch.target)), strict=True)
    return (Batch(*rows).part(0, 1) for rows in sides)


def torch_system(config: ModelConfig) -> System:
    """Train `torch.nn.Transformer` in a plain loop."""
    return _plain_loop(TorchTransformer(config))


class TorchTransformer(nn.Module):
    """`torch.nn.Transformer` with what it leaves to its user: embedding, positions, masks."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.embedding = nn.Embedding(config.vocab_size, config.d_model, padding_idx=PAD)
        nn.init.normal_(self.embedding.weight, std=config.d_model**-0.5)
        positions = interleaved_sinusoids(torch.arange(1_024), config.d_model)
        self.positions: Tensor
        self.register_buffer("positions", positions)
        self.dropout = nn.Dropout(config.dropout)
        self.transformer = nn.Transformer(
            config.d_model,
            config.num_heads,
            config.num_layers,
            config.num_layers,
            config.d_ff,
            config.dropout,
            batch_first=True,
        )

    def forward(self, source: Tensor, target: Tensor) -> Tensor:
        """Score every next piece after every prefix of `target`."""
        future = nn.Transformer.generate_square_subsequent_mask(target.size(1), dtype=torch.bool)
        x = self.transformer(
            self._embed(source),
            self._embed(target),
            tgt_mask=future,
            src_key_padding_mask=source == PAD,
            tgt_key_padding_mask=target == PAD,
            memory_key_padding_mask=source == PAD,
            tgt_is_causal=True,
        )
        return nn.functional.linear(x, self.embedding.weight)

    def _embed(self, ids: Tensor) -> Tensor:
        x = self.embedding(ids) * math.sqrt(self.embedding.embedding_dim)
        embedded: Tensor = self.dropout(x + self.positions[: ids.size(1)])
        return embedded


def marian_system(config: ModelConfig) -> System:
    """Train HuggingFace's `MarianMTModel` in a plain loop."""
    return _plain_loop(Marian(config))


class Marian(nn.Module):
    """HuggingFace's `MarianMTModel`, new, in the same sizes."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        from transformers import MarianConfig, MarianMTModel

        self.model = MarianMTModel(
            MarianConfig(
                vocab_size=config.vocab_size,
                d_model=config.d_model,
                encoder_layers=config.num_layers,
                decoder_layers=config.num_layers,
                encoder_ffn_dim=config.d_ff,
                decoder_ffn_dim=config.d_ff,
                encoder_attention_heads=config.num_heads,
                decoder_attention_heads=config.num_heads,
                dropout=config.dropout,
                activation_function="relu",
                scale_embedding=True,
                pad_token_id=PAD,
                eos_token_id=EOS,
                forced_eos_token_id=EOS,
                decoder_start_token_id=BOS,
            )
        )

    def forward(self, source: Tensor, target: Tensor) -> Tensor:
        """Score every next piece after every prefix of `target`."""
        logits: Tensor = self.model(
            input_ids=source,
            attention_mask=source != PAD,
            decoder_input_ids=target,
            decoder_attention_mask=target != PAD,
            use_cache=False,
        ).logits
        return logits


def _plain_loop(model: nn.Module) -> System:
    criterion = nn.CrossEntropyLoss(ignore_index=PAD, label_smoothing=LABEL_SMOOTHING)
    optimizer = torch.optim.Adam(
        model.parameters(), lr=LEARNING_RATE, betas=ADAM_BETAS, eps=ADAM_EPSILON
    )
    model.train()

    def step(batch: Batch) -> float:
        optimizer.zero_grad()
        logits = model(batch.source, batch.given)
        loss = criterion(logits.flatten(0, 1), batch.wanted.flatten())
        loss.backward()
        optimizer.step()
        return float(loss.item())

    return step


OURS = "heedful"
SYSTEMS: dict[str, Callable[[ModelConfig], System]] = {
    OURS: heedful_system,
    "torch.nn.Transformer loop": torch_system,
    "HuggingFace MarianMTModel loop": marian_system,
}


def installed_systems() -> list[str]:
    """Return the systems that can run here; MarianMTModel wants the extra `bench`."""
    return [name for name in SYSTEMS if "Marian" not in name or find_spec("transformers")]
