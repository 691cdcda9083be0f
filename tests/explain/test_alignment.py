import numpy as np
import pytest

from heedful.explain import alignment
from heedful.explain.alignment import all_attention, choose_alignment_head
from heedful.model.config import ModelConfig
from heedful.model.transformer import Transformer
from heedful.storage.alignment_head import AlignmentHead
from heedful.storage.checkpoint import load_model
from heedful.text.tokenizer import TokenizerConfig, train_tokenizer


@pytest.fixture(scope="module")
def tokenizer():
    return train_tokenizer(lambda: iter(["a b c d"] * 9), TokenizerConfig(vocab_size=320))


def model_of(tokenizer) -> Transformer:
    sizes = {"num_layers": 2, "d_model": 8, "d_ff": 8, "num_heads": 2}
    return Transformer(ModelConfig(vocab_size=tokenizer.vocab_size, **sizes))


def test_all_attention_has_every_layer_head_and_step_without_the_end(tokenizer):
    maps = all_attention(model_of(tokenizer), [5, 6, 7], [8, 9])

    assert maps.shape == (2, 3, 2, 2, 3)
    np.testing.assert_allclose(maps[:, 2], maps[:, :2].mean(axis=1), atol=1e-6)
    np.testing.assert_array_equal(maps[:, :, 0, 1], maps[:, :, 1, 0])  # one step, counted twice
    assert (maps.sum(axis=-1) < 1).all()


@pytest.mark.parametrize("chosen", [(1, 0, 1), (0, 1, 0), (1, 2, 0)])
def test_the_head_that_looks_where_words_are_translated_is_chosen(tokenizer, monkeypatch, chosen):
    pairs = [(tokenizer.encode(text), tokenizer.encode(text)) for text in ("a b c", "c a", "b d a")]

    def attention(model, source, target):
        maps = np.full((2, 3, 2, len(target), len(source)), 0.0)
        maps[..., 0] = 1.0  # all look at the first piece
        maps[chosen] = np.eye(len(source))
        return maps

    monkeypatch.setattr(alignment, "all_attention", attention)
    layer, head, shift = chosen

    found = choose_alignment_head(model_of(tokenizer), tokenizer, pairs, pairs * 5)

    assert found == AlignmentHead(
        layer=layer, head=None if head == 2 else head, shift=shift, agreement=1.0
    )


def test_without_pairs_the_head_is_the_usual_one(tokenizer):
    found = choose_alignment_head(model_of(tokenizer), tokenizer, [([], [5])])

    assert found == AlignmentHead(layer=0)


def test_a_corpus_without_end_is_read_no_further_than_needed(tokenizer, monkeypatch):
    monkeypatch.setattr(alignment, "CELLS", 30)
    pair = (tokenizer.encode("a b"), tokenizer.encode("a b"))

    def endless():
        while True:
            yield pair

    assert choose_alignment_head(model_of(tokenizer), tokenizer, [pair], endless()).agreement


def test_training_chooses_a_head_and_writes_it_down(model_folder):
    head = model_folder.alignment_head(model_folder.config())

    assert model_folder.alignment_file.exists()
    assert 0 <= head.agreement <= 1
    head.check(load_model(model_folder).config)
