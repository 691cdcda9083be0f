import pytest
import torch
from torch.testing import assert_close

from heedful.model.config import ModelConfig
from heedful.model.recording import record_attention
from heedful.model.transformer import Transformer
from heedful.specials import BOS, EOS


@pytest.fixture
def model() -> Transformer:
    config = ModelConfig(vocab_size=9, num_layers=2, d_model=8, d_ff=8, num_heads=2)
    return Transformer(config).eval()


def test_recording_changes_no_result_and_every_row_sums_to_one(model):
    source, target = torch.tensor([[4, 5, EOS]]), torch.tensor([[BOS, 6]])
    unrecorded = model(source, target)

    with record_attention(model) as maps:
        assert_close(model(source, target), unrecorded)

    assert set(maps) == {
        *(f"encoder.{i}.self_attention" for i in range(2)),
        *(f"decoder.{i}.{kind}_attention" for i in range(2) for kind in ("self", "source")),
    }
    (weights,) = maps["decoder.1.source_attention"]
    assert_close(weights.sum(-1), torch.ones(1, 2, 2))


def test_recording_ends_with_its_block(model):
    source, target = torch.tensor([[4, 5, EOS]]), torch.tensor([[BOS, 6]])
    with record_attention(model) as maps:
        model(source, target)

    model(source, target)

    assert len(maps["decoder.1.source_attention"]) == 1
