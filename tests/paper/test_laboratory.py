"""A cell of a table: a network trained by the trainer of the house, and scored."""

import pytest
import torch

from heedful.decoding.hypothesis import SearchConfig
from heedful.decoding.pytorch_engine import PyTorchEngine
from heedful.errors import TooShortError
from heedful.model.config import ModelConfig
from heedful.model.transformer import Transformer
from heedful.paper import laboratory
from heedful.paper.baselines.recurrent import RecurrentConfig, RecurrentNetwork
from heedful.paper.corpus import corpus_of
from heedful.paper.request import Request
from heedful.training.config import TrainingConfig

SMALL = {"num_layers": 1, "d_model": 16, "d_ff": 32, "num_heads": 2}


@pytest.fixture
def prepared(tmp_path, corpus):
    return corpus_of(Request(name="table3", out=tmp_path / "out", **corpus))


@pytest.mark.parametrize("beam_size", [1, 3])
def test_the_search_finds_what_the_engine_finds(beam_size):
    torch.manual_seed(4)
    model = Transformer(ModelConfig(vocab_size=20, **SMALL))
    sources, config = [[5, 6], [7, 8, 9, 10], [11]], SearchConfig(beam_size=beam_size)

    ours = laboratory.search(model, sources, config)

    assert ours == [best for best, *_ in PyTorchEngine(model).search(sources, config)]


@pytest.mark.parametrize(
    "make",
    [
        lambda size: Transformer(ModelConfig(vocab_size=size, **SMALL)),
        lambda size: RecurrentNetwork(RecurrentConfig(vocab_size=size, d_model=16, num_layers=1)),
    ],
    ids=["Transformer", "recurrent"],
)
def test_a_cell_says_what_training_came_to(prepared, make):
    config = TrainingConfig(steps=3, batch_tokens=256, warmup_steps=2)

    cell = laboratory.measure(make, prepared, config)

    assert cell["steps"] == 3
    assert cell["perplexity"] > 1
    assert len(cell["translations"]) == len(prepared.valid)
    assert cell["flops"] > 0


def test_minutes_end_a_training(prepared):
    network = Transformer(ModelConfig(vocab_size=prepared.tokenizer.vocab_size, **SMALL))
    config = laboratory.training_of(0.01, batch_tokens=256)

    steps, seconds, pieces = laboratory.train(network, prepared.train, config)

    assert steps >= 1
    assert seconds > 0.8 * 0.6
    assert pieces > 0


def test_the_operations_of_a_piece_are_six_for_each_weight_that_it_passes(prepared):
    """Two forward and four back for each weight of a matrix, as is usually reckoned."""
    config = ModelConfig(vocab_size=prepared.tokenizer.vocab_size, **SMALL)
    network = Transformer(config)
    decoder = sum(p.numel() for p in network.decoder.parameters() if p.ndim == 2)
    output = network.embedding.weight.numel()

    counted = laboratory.flops_per_piece(network, prepared)

    assert counted > 6 * output
    assert counted < 6 * 4 * (decoder + output)


def test_minutes_that_are_shared_by_too_many_are_refused():
    with pytest.raises(TooShortError, match="shared by 10 trainings; give at least 1"):
        laboratory.refuse_too_short(0.5, 10)
