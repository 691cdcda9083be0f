import io

import pytest
import torch
from rich.console import Console
from torch.testing import assert_close

from heedful.explain.record import record_attention
from heedful.explain.source_map import attention_table, source_attention
from heedful.model.config import ModelConfig
from heedful.model.transformer import Transformer
from heedful.specials import BOS, EOS
from heedful.storage.checkpoint import load_model


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


def test_source_attention_has_a_row_per_target_piece_that_sums_to_one(model_folder):
    model, tokenizer = load_model(model_folder), model_folder.tokenizer()

    attention = source_attention(model, tokenizer, "a b c", "A B")

    assert attention.source == [*tokenizer.pieces(tokenizer.encode("a b c")), "</s>"]
    assert attention.target == [*tokenizer.pieces(tokenizer.encode("A B")), "</s>"]
    assert attention.weights.shape == (len(attention.target), len(attention.source))
    assert_close(attention.weights.sum(dim=1), torch.ones(len(attention.target)))


def test_the_table_shows_every_piece_and_darkens_where_it_looked(model_folder):
    model, tokenizer = load_model(model_folder), model_folder.tokenizer()
    attention = source_attention(model, tokenizer, "a b", "A")
    attention.weights.zero_()
    attention.weights[0, 1] = 1.0
    console = Console(width=80, record=True, file=io.StringIO())

    console.print(attention_table(attention))
    lines = console.export_text().splitlines()

    assert "█" in lines[0]
    assert not any("█" in line for line in lines[1:])
    assert lines[-1].split() == attention.source
