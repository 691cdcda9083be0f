import io

import torch
from rich.console import Console
from torch.testing import assert_close

from heedful.checkpoint import load_model
from heedful.explain.source_attention import attention_table, source_attention


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
