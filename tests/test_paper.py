"""Numbers printed in the paper."""

import pytest
import torch

from heedful.model.config import ModelConfig
from heedful.model.transformer import Transformer
from heedful.training.config import TrainingConfig
from heedful.training.schedule import noam_rate

# The conventions under which the printed counts come out (docs/departures.md).
ROWS = 40_960
TARGET_SPACE_ROWS = 32

TABLE_3 = {
    "base": ({}, 65),
    "(B) d_k 16": ({"d_k": 16}, 58),
    "(B) d_k 32": ({"d_k": 32}, 60),
    "(C) N 2": ({"num_layers": 2}, 36),
    "(C) N 4": ({"num_layers": 4}, 50),
    "(C) N 8": ({"num_layers": 8}, 80),
    "(C) d_model 256": ({"d_model": 256, "d_k": 32, "d_v": 32}, 28),
    "(C) d_model 1024": ({"d_model": 1024, "d_k": 128, "d_v": 128}, 168),
    "(C) d_ff 1024": ({"d_ff": 1024}, 53),
    "(C) d_ff 4096": ({"d_ff": 4096}, 90),
}


def count_parameters(config: ModelConfig) -> int:
    with torch.device("meta"):
        model = Transformer(config)
    return sum(parameter.numel() for parameter in model.parameters())


@pytest.mark.parametrize(("changes", "millions"), TABLE_3.values(), ids=TABLE_3)
def test_parameters_come_out_to_the_million_printed_in_table_3(changes, millions):
    config = ModelConfig(vocab_size=ROWS, **changes)

    total = count_parameters(config) + TARGET_SPACE_ROWS * config.d_model

    assert round(total / 1e6) == millions


def test_row_b_keeps_the_width_of_values():
    config = ModelConfig(vocab_size=ROWS, d_k=16)

    assert (config.d_k, config.d_v) == (16, 64)


def test_the_rate_of_equation_3_peaks_where_the_warm_up_ends():
    rates = [noam_rate(step, d_model=512, warmup_steps=4000) for step in range(1, 9000)]

    assert rates.index(max(rates)) + 1 == 4000
    assert max(rates) == pytest.approx((512 * 4000) ** -0.5)


def test_training_defaults_are_those_of_section_5():
    config = TrainingConfig()

    assert (config.steps, config.warmup_steps, config.batch_tokens) == (100_000, 4_000, 25_000)
    assert (config.label_smoothing, config.average_last, config.schedule) == (0.1, 5, "noam")
