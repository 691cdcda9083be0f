"""The layers of table 1 against PyTorch's own and against a mask."""

import pytest
import torch
from torch import nn
from torch.testing import assert_close

from heedful.model.attention import exact_attention
from heedful.paper.layers import (
    KINDS,
    NEIGHBOURS,
    dilated,
    recurrent,
    restricted_attention,
    self_attention,
)


def test_restricted_attention_is_attention_that_sees_its_neighbours_alone():
    x = torch.randn(2, 40, 6)
    offset = torch.arange(40) - torch.arange(40)[:, None]
    near = (offset >= -NEIGHBOURS // 2) & (offset < NEIGHBOURS // 2)

    expected, _ = exact_attention(x[:, None], x[:, None], x[:, None], near[None, None])

    assert_close(restricted_attention(x, ()), expected[:, 0])
    assert not torch.allclose(self_attention(x, ()), expected[:, 0])


def test_the_recurrent_layer_is_that_of_pytorch_without_biases():
    network = nn.RNN(6, 6, bias=False, batch_first=True)
    x = torch.randn(2, 9, 6)

    expected, _ = network(x)

    assert_close(recurrent(x, (network.weight_ih_l0.T, network.weight_hh_l0.T)), expected)


def test_a_dilated_convolution_looks_back_by_its_gaps():
    x = torch.zeros(1, 9, 1)
    x[0, 2] = 1.0
    kernel = torch.tensor([[[3.0, 5.0, 7.0]]])

    found = dilated(x, (kernel,), gap=3)[0, :, 0]

    assert found.tolist() == [0, 0, 7, 0, 0, 5, 0, 0, 3]


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_every_layer_turns_positions_into_as_many(kind):
    x = torch.randn(3, 20, 8)

    assert kind.layer(x, kind.weights(8)).shape == x.shape
