"""A small model must learn to copy and to reverse: if it cannot, something is broken."""

import random

import pytest

from heedful.decoding.hypothesis import SearchConfig
from heedful.decoding.pytorch_engine import PyTorchEngine
from heedful.model.batch import make_batch
from heedful.model.config import ModelConfig
from heedful.model.transformer import Transformer
from heedful.training.config import TrainingConfig
from heedful.training.trainer import Trainer

VOCAB = 20


def sequences(seed: int):
    numbers = random.Random(seed)
    while True:
        yield [numbers.randrange(4, VOCAB) for _ in range(numbers.randint(1, 8))]


def batches(transform):
    rows = sequences(seed=1)
    while True:
        yield make_batch([(row, transform(row)) for row in (next(rows) for _ in range(64))])


@pytest.mark.slow
@pytest.mark.parametrize(
    ("transform", "normalisation"),
    [(lambda row: row, "post"), (lambda row: row[::-1], "pre")],
    ids=["copy, post-norm", "reverse, pre-norm"],
)
def test_a_small_model_learns(transform, normalisation):
    config = ModelConfig(
        vocab_size=VOCAB, num_layers=2, d_model=64, d_ff=128, num_heads=4, dropout=0.0,
        normalisation=normalisation,
    )  # fmt: skip
    model = Transformer(config)
    settings = TrainingConfig(
        steps=900, warmup_steps=100, schedule="linear", peak_rate=2e-3, label_smoothing=0.0
    )

    for _ in Trainer(model, settings).steps(batches(transform)):
        pass

    unseen = sequences(seed=2)
    sources = [next(unseen) for _ in range(1_000)]
    found = PyTorchEngine(model).search(sources, SearchConfig(beam_size=1))
    right = sum(
        list(best.pieces) == transform(source)
        for source, (best,) in zip(sources, found, strict=True)
    )
    assert right / len(sources) > 0.99
