"""The numbers of a real head, computed again from its weights."""

import math

import pytest
import torch
from torch.testing import assert_close

from heedful.paper import figure2
from heedful.paper.request import Request, write_pictures
from heedful.specials import EOS
from heedful.storage.checkpoint import load_model


def test_the_numbers_shown_are_those_of_the_weights(model_folder):
    model, tokenizer = load_model(model_folder), model_folder.tokenizer()
    ids = [*tokenizer.encode("a b c"), EOS]

    head = figure2.first_head(model, ids, tokenizer.pieces(ids))

    layer, config = model.encoder[0], model.config
    with torch.no_grad():
        places = model.positions(0, len(ids))
        x = model.embedding(torch.tensor(ids)) * math.sqrt(config.d_model) + places
        ready = layer.around_self_attention.before(x[None])[0]
        query = layer.self_attention.query(ready)[:, : config.d_k]
        key = layer.self_attention.key(ready)[:, : config.d_k]
    assert_close(head.scores, query @ key.T)
    assert_close(head.weights, (query @ key.T / math.sqrt(config.d_k)).softmax(-1))


@pytest.mark.slow
def test_the_row_of_a_query_sums_to_one_and_is_drawn(model_folder, tmp_path):
    (result,) = figure2.run(Request(name="figure2", model=model_folder.path, text="a b c d"))

    assert sum(row[3] for row in result.tables[0].rows) == pytest.approx(1, abs=1e-5)
    assert [claim.verdict for claim in result.claims] == ["holds", "holds"]
    assert len(write_pictures(result, tmp_path)) == 2
