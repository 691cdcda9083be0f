"""Keys and values kept: as many as there are positions, and nothing changes."""

import torch

from heedful.model.config import ModelConfig
from heedful.model.transformer import Transformer
from heedful.paper import cache
from heedful.paper.request import Request
from heedful.specials import EOS

SIZES = {"vocab_size": 20, "num_layers": 2, "d_model": 16, "d_ff": 16, "num_heads": 2}


def test_a_step_keeps_one_key_and_one_value_more_a_head():
    model, source = Transformer(ModelConfig(**SIZES)), torch.tensor([[5, 6, EOS]])

    kept = [it for it, _ in cache.decoded(model, source, 5)]

    assert [it.numbers_a_head for it in kept] == [16, 32, 48, 64, 80]  # 8 + 8 for each step
    # 4 bytes, keys and values of width 16, 2 layers, 3 source positions and one target position.
    assert kept[0].num_bytes == 4 * 2 * 16 * 2 * (3 + 1)


def test_the_scores_are_the_same_with_nothing_kept():
    model, source = Transformer(ModelConfig(**SIZES)), torch.tensor([[5, 6, 7, EOS]])

    assert cache.difference(model, source, 6) < 1e-4


def test_the_table_shows_ones_own_sentence(model_folder):
    (result,) = cache.run(Request(name="cache", model=model_folder.path, text="a b c"))

    assert "alone: a b c" in result.scale
    assert result.tables[0].rows[0][0] == 1
    assert result.claims[0].verdict == "holds"
