"""The convolutional baseline: no future, no padding, and it learns to copy."""

import pytest
import torch
from torch.testing import assert_close

from heedful.model.sequence_to_sequence import SequenceToSequence
from heedful.paper.baselines.convolutional import ConvolutionalConfig, ConvolutionalNetwork
from heedful.specials import BOS, EOS, PAD
from tests.paper.copying import copies_after_training


@pytest.fixture
def network():
    return ConvolutionalNetwork(ConvolutionalConfig(vocab_size=12, d_model=8, num_layers=3)).eval()


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


def test_a_gate_opens_one_half_by_the_other(network):
    x = torch.randn(1, 3, 8)
    gated = network.encoder[0]

    halves = gated.convolution(x.mT)[0, :, 0]

    assert_close(gated(x)[0, 0], halves[:8] * torch.sigmoid(halves[8:]))


def test_the_gradient_of_the_encoder_is_shared_among_the_layers_that_look_at_it(network):
    """Gehring et al., section 3.5: by their number."""
    state = network.encode(SOURCE)
    (through,) = torch.autograd.grad(state.memory.sum(), network.positions)
    x = network.embedding(SOURCE) * 8**0.5 + network.positions[0, :4]
    real = (SOURCE != PAD)[..., None]
    for layer in network.encoder:
        x = (layer(torch.nn.functional.pad(x * real, (0, 0, 1, 1))) + x) * 0.5**0.5
    (whole,) = torch.autograd.grad(x.sum(), network.positions)

    assert_close(through, whole / 6)


@pytest.mark.slow
def test_it_learns_to_copy():
    torch.manual_seed(1)
    network = ConvolutionalNetwork(
        ConvolutionalConfig(vocab_size=12, d_model=48, num_layers=2, dropout=0.0)
    )

    assert copies_after_training(network, steps=500)
