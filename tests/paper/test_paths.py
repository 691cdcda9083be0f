"""How far apart positions are: counted by hand beside what the graph says."""

import math

import pytest
import torch

from heedful.paper import paths
from heedful.paper.layers import KINDS


def test_the_depth_of_a_graph_is_its_longest_chain():
    x = torch.ones(2, requires_grad=True)
    short, long = x.exp(), x.sin().cos().tan()

    # The leaf, three functions, the sum of both ways.
    assert paths.graph_depth(short + long) == 5
    assert paths.graph_depth(short) == 2


@pytest.mark.parametrize(
    ("name", "hops"),
    [
        ("self-attention", lambda n: 1),
        ("recurrent", lambda n: n),
        ("convolutional", lambda n: n - 1),  # one position to each side
        ("convolutional, dilated", lambda n: math.ceil(math.log(n, 3) - 1e-9)),
        ("self-attention, restricted", lambda n: math.ceil((n - 1) / 8)),  # half of r = 16
    ],
)
@pytest.mark.parametrize("n", [2, 9, 30])
def test_the_hops_from_first_to_last_are_those_of_table_1(name, hops, n):
    assert paths.longest_path(name, n) == hops(n)


def test_only_the_recurrent_layer_waits_longer_for_longer_sentences():
    for kind in KINDS:
        short, long = (paths.sequential_operations(kind, n) for n in (10, 40))
        assert (long > 3 * short) == (kind.name == "recurrent"), kind.name
        assert (long == short) == (kind.name != "recurrent"), kind.name


def test_gradients_vanish_along_a_recurrence_and_not_along_attention():
    arriving = paths.arriving_gradients()

    for shares in arriving.values():
        assert sum(shares) == pytest.approx(1)
    assert arriving["RNN"][40] < 1e-8
    assert arriving["RNN"][40] < arriving["LSTM"][40]
    assert min(arriving["self-attention"]) > 1e-3
