import pytest

from heedful.errors import ConfigError
from heedful.model.config import ModelConfig, preset


def test_the_defaults_are_the_base_model_of_table_3():
    config = ModelConfig(vocab_size=37_000)

    assert (config.num_layers, config.d_model, config.d_ff, config.num_heads) == (6, 512, 2048, 8)
    assert (config.d_k, config.d_v, config.dropout) == (64, 64, 0.1)


@pytest.mark.parametrize(
    ("name", "sizes"),
    [
        ("tiny", (4, 128, 256, 4)),
        ("small", (6, 256, 1024, 4)),
        ("base", (6, 512, 2048, 8)),
        ("big", (6, 1024, 4096, 16)),
    ],
)
def test_presets_have_their_sizes(name, sizes):
    config = preset(name, vocab_size=100)

    assert (config.num_layers, config.d_model, config.d_ff, config.num_heads) == sizes


def test_a_misspelt_preset_is_refused_with_its_nearest_neighbour():
    with pytest.raises(ConfigError, match=r"unknown preset 'tinny'; did you mean 'tiny'\?"):
        preset("tinny", vocab_size=100)


@pytest.mark.parametrize(
    ("sizes", "message"),
    [
        ({"num_heads": 7}, r"num_heads must divide d_model, but 512 / 7 leaves 1; or give d_k"),
        ({"num_layers": 0}, r"num_layers must be at least 1, got 0"),
        ({"num_layers": 10**9}, r"num_layers must be at most 1,000, got 1,000,000,000"),
        ({"d_ff": 10**18}, r"d_ff must be at most 1,048,576, got 1,000,000,000,000,000,000"),
        ({"d_model": 9, "num_heads": 3}, r"d_model must be even to pair sines with cosines, got 9"),
        ({"d_k": -1}, r"d_k must not be negative, got -1"),
        ({"dropout": 1.0}, r"dropout must be from 0 to 0.99, got 1.0"),
        ({"normalisation": "both"}, r"normalisation must be one of 'post', 'pre', got 'both'"),
        ({"positions": "none"}, r"positions must be one of .*'learned', got 'none'"),
    ],
)
def test_sizes_that_cannot_work_are_refused(sizes, message):
    with pytest.raises(ConfigError, match=message):
        ModelConfig(vocab_size=10, **sizes)


def test_heads_need_not_divide_the_width_when_theirs_is_given():
    config = ModelConfig(vocab_size=10, num_heads=7, d_k=64, d_v=64)

    assert config.d_k == 64
