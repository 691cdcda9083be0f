"""The recurrent baseline: PyTorch's LSTM as oracle, and it learns to copy."""

import pytest
import torch
from torch.testing import assert_close

from heedful.model.sequence_to_sequence import SequenceToSequence
from heedful.paper.baselines.recurrent import RecurrentConfig, RecurrentNetwork
from heedful.specials import BOS, EOS, PAD
from tests.paper.copying import copies_after_training


@pytest.fixture
def network():
    return RecurrentNetwork(RecurrentConfig(vocab_size=12, d_model=8)).eval()


SOURCE = torch.tensor([[4, 5, 6, EOS], [7, 8, EOS, PAD]])
TARGET = torch.tensor([[BOS, 4, 5], [BOS, 9, 10]])


def test_the_trainer_and_the_search_know_it(network):
    assert isinstance(network, SequenceToSequence)


def test_padding_changes_nothing(network):
    alone, _ = network.decode(TARGET[1:], network.encode(SOURCE[1:, :3]))

    together, _ = network.decode(TARGET, network.encode(SOURCE))

    assert_close(together[1:], alone)


def test_a_target_position_never_sees_the_future(network):
    changed = TARGET.clone()
    changed[0, 2] = 11

    before, _ = network.decode(TARGET, network.encode(SOURCE))
    after, _ = network.decode(changed, network.encode(SOURCE))

    assert_close(before[:, :2], after[:, :2])
    assert not torch.allclose(before[0, 2], after[0, 2])


def test_one_pass_over_all_positions_equals_decoding_step_by_step(network):
    whole, _ = network.decode(TARGET, network.encode(SOURCE))

    state, steps = network.encode(SOURCE), []
    for column in TARGET.T:
        x, state = network.decode(column[:, None], state)
        steps.append(x)

    assert_close(torch.cat(steps, dim=1), whole)


def test_attention_is_the_general_score_and_vector_of_luong(network):
    state = network.encode(SOURCE[:1])
    x, _ = network.decode(TARGET[:1, :1], state)

    h = network.embedding(TARGET[:1, :1]) * 8**0.5
    for number, layer in enumerate(network.decoder):
        h, _ = layer(h, (state.hidden[number][None], state.cell[number][None]))
    weights = torch.stack([h[0, 0] @ network.score.weight @ z for z in state.memory[0]]).softmax(0)
    context = sum(w * z for w, z in zip(weights, state.memory[0], strict=True))

    expected = torch.tanh(network.combine.weight @ torch.cat([context, h[0, 0]]))
    assert_close(x[0, 0], expected)


@pytest.mark.slow
def test_it_learns_to_copy():
    torch.manual_seed(1)
    network = RecurrentNetwork(
        RecurrentConfig(vocab_size=12, d_model=48, num_layers=1, dropout=0.0)
    )

    assert copies_after_training(network, steps=500)
