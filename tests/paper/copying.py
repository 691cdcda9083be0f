"""A task that every network of table 2 must learn: to say what it has read."""

from random import Random

from heedful.decoding.hypothesis import SearchConfig
from heedful.model.batch import make_batch
from heedful.paper.laboratory import search
from heedful.training.config import TrainingConfig
from heedful.training.trainer import Trainer


def batches():
    draw = Random(5)
    while True:
        length = draw.randint(2, 7)
        rows = [draw.choices(range(4, 12), k=length) for _ in range(16)]
        yield make_batch([(row, row) for row in rows])


def copies_after_training(network, steps: int) -> bool:
    """Train by the trainer of the house, and look whether the search says what was read."""
    config = TrainingConfig(
        steps=steps, batch_tokens=64, warmup_steps=50, peak_rate=5e-3, schedule="linear",
        label_smoothing=0.0,
    )  # fmt: skip
    for _ in Trainer(network, config).steps(batches()):
        pass
    draw = Random(6)
    sources = [draw.choices(range(4, 12), k=length) for length in (2, 3, 5, 7, 4, 6)]
    found = search(network, sources, SearchConfig(beam_size=2))
    unseen = [list(hypothesis.pieces) for hypothesis in found]
    return unseen == sources
