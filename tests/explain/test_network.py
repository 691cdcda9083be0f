"""The forward pass without torch: it computes what PyTorch computes."""

import numpy as np
import pytest
import torch

from heedful.explain.network import Network
from heedful.explain.record import record_attention
from heedful.model.config import ModelConfig
from heedful.model.transformer import Transformer
from heedful.specials import BOS, EOS

ARCHITECTURES = [
    {},
    {"normalisation": "pre"},
    {"positions": "halves"},
    {"positions": "learned", "max_length": 12},
    {"d_k": 5, "d_v": 3, "normalisation": "pre"},
    {"num_heads": 1, "num_layers": 1},
]
SOURCE, TARGET = [7, 8, 9, 7, EOS], [BOS, 10, 11, 5]


def random_pair(changes: dict) -> tuple[Transformer, Network]:
    sizes = {"vocab_size": 31, "num_layers": 2, "d_model": 16, "d_ff": 24, "num_heads": 4}
    model = Transformer(ModelConfig(**(sizes | changes))).eval()
    for parameter in model.parameters():
        if parameter.dim() == 1:
            parameter.data += 0.1 * torch.randn_like(parameter)
    weights = {name: it.detach().numpy() for name, it in model.state_dict().items()}
    return model, Network(model.config, weights)


@torch.no_grad()
@pytest.mark.parametrize("changes", ARCHITECTURES, ids=str)
def test_scores_of_every_next_piece_are_those_of_pytorch(changes):
    model, network = random_pair(changes)

    x, _ = network.decode([TARGET], network.encode(SOURCE))

    wanted = model(torch.tensor([SOURCE]), torch.tensor([TARGET])).log_softmax(-1)
    np.testing.assert_allclose(network.log_probabilities(x), wanted.numpy(), atol=1e-4)


def test_piece_by_piece_it_computes_what_it_computes_at_once():
    _, network = random_pair({"d_k": 3})
    start = network.encode(SOURCE)

    together, _ = network.decode([TARGET], start)
    state, stepwise = start.select([0, 0]), []
    for piece in TARGET:
        x, state = network.decode([[piece], [piece]], state)
        stepwise.append(x[:, 0])

    for row in (0, 1):
        np.testing.assert_allclose(np.stack(stepwise, axis=1)[row], together[0], atol=1e-5)


@torch.no_grad()
def test_the_weights_that_are_kept_are_those_of_pytorch():
    model, network = random_pair({"d_k": 5, "d_v": 3})
    kept = {}

    network.decode([TARGET], network.encode(SOURCE, kept.__setitem__), kept.__setitem__)

    with record_attention(model) as maps:
        model(torch.tensor([SOURCE]), torch.tensor([TARGET]))
    for name, module in {
        "encoder.1": "encoder.1.self_attention",
        "decoder.0": "decoder.0.self_attention",
        "cross.1": "decoder.1.source_attention",
    }.items():
        (wanted,) = maps[module]
        np.testing.assert_allclose(kept[f"{name}.weights"], wanted.numpy(), atol=1e-5)
        query, key = kept[f"{name}.query"], kept[f"{name}.key"]
        assert (query.shape[1], query.shape[3], key.shape[3]) == (4, 5, 5)
        assert kept[f"{name}.value"].shape[3] == 3
