"""What label smoothing does, on a pair of models."""

import math

import pytest

from heedful.model.config import ModelConfig
from heedful.model.transformer import Transformer
from heedful.paper import smoothing
from heedful.paper.corpus import corpus_of
from heedful.paper.request import Request


@pytest.mark.slow
def test_a_model_is_looked_at_from_all_sides(tmp_path, corpus):
    prepared = corpus_of(Request(name="smoothing", out=tmp_path / "out", **corpus))
    sizes = {"num_layers": 1, "d_model": 16, "d_ff": 16, "num_heads": 2}
    network = Transformer(ModelConfig(vocab_size=prepared.tokenizer.vocab_size, **sizes))

    found = smoothing.looked_at(network, prepared)

    assert found["perplexity"] == pytest.approx(math.exp(found["loss"]))
    assert sum(found["histogram"]) == pytest.approx(1)
    assert 0 < found["sureness"] < 1


def test_the_pair_is_trained_once_and_compared(tmp_path, corpus, monkeypatch):
    rates = []

    def looked_at(network, prepared):
        sure = 0.8 if len(rates) == 1 else 0.6
        return {
            "loss": 1.0, "smoothed": 1.5, "perplexity": 3.0 / sure, "sureness": sure,
            "histogram": [0.05] * 20, "bleu": 20.0 / sure,
        }  # fmt: skip

    monkeypatch.setattr(
        smoothing, "train", lambda model, pairs, config: rates.append(config.label_smoothing)
    )
    monkeypatch.setattr(smoothing, "looked_at", looked_at)
    request = Request(name="smoothing", out=tmp_path / "out", minutes=1.0, **corpus)

    *_, result = smoothing.run(request)
    *_, again = smoothing.run(request)

    assert rates == [0.0, 0.1]
    assert result.tables == again.tables
    assert [claim.verdict for claim in result.claims] == ["holds", "holds"]
