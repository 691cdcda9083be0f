import pytest
import torch

from heedful.decoding.hypothesis import Sampling, SearchConfig
from heedful.decoding.pytorch_engine import PyTorchEngine
from heedful.model.config import ModelConfig
from heedful.model.transformer import Transformer
from heedful.specials import EOS

SIZES = {"vocab_size": 30, "num_layers": 1, "d_model": 8, "d_ff": 8, "num_heads": 2}
SOURCES = [[4, 5, 6], [7], [8, 9, 10, 11, 12], [13, 14]]


@pytest.fixture
def engine() -> PyTorchEngine:
    return PyTorchEngine(Transformer(ModelConfig(**SIZES)))


@pytest.fixture
def endless() -> PyTorchEngine:
    """A model that likes half of all pieces better than to end."""
    model = Transformer(ModelConfig(**SIZES))
    with torch.no_grad():
        model.embedding.weight[EOS] = 0
    return PyTorchEngine(model)


@pytest.mark.parametrize("beam_size", [1, 2])
def test_output_that_does_not_end_is_as_long_as_its_input_and_fifty_pieces(endless, beam_size):
    found = endless.search(SOURCES, SearchConfig(beam_size=beam_size))

    assert not any(best.is_finished for best, *_ in found)
    assert [len(best.pieces) for best, *_ in found] == [53, 51, 55, 52]


def test_output_after_a_forced_beginning_is_as_much_longer(endless):
    found = endless.search(SOURCES[:2], SearchConfig(beam_size=1), prefixes=[[9] * 9, []])

    assert [len(best.pieces) for best, *_ in found] == [59, 51]


def test_each_source_has_dice_of_its_own_in_whatever_batch_it_is(engine, monkeypatch):
    sampling = Sampling(seed=5)
    config = SearchConfig(beam_size=1)
    together = engine.search(SOURCES, config, sampling=sampling)
    monkeypatch.setattr("heedful.decoding.pytorch_engine.BATCH_TOKENS", 1)

    one_by_one = engine.search(SOURCES, config, sampling=sampling)

    assert [h.pieces for (h,) in one_by_one] == [h.pieces for (h,) in together]


def test_a_batch_holds_no_more_positions_than_fit_with_all_of_its_beams(engine, monkeypatch):
    monkeypatch.setattr("heedful.decoding.pytorch_engine.BATCH_TOKENS", 24)
    sizes, encode = [], engine.model.encode
    monkeypatch.setattr(engine.model, "encode", lambda ids: sizes.append(ids.shape) or encode(ids))

    for beam_size in (1, 3):
        engine.search(SOURCES, SearchConfig(beam_size=beam_size))

    # With a beam of one: six positions each, four of them. Of three: one, then one and so on.
    assert [tuple(size) for size in sizes] == [(4, 6), (1, 6), (2, 4), (1, 2)]
