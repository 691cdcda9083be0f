"""How far apart positions are in a network: read from the graph, and from gradients."""

import math
from collections import deque
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn

from heedful.model.config import ModelConfig
from heedful.model.transformer import EncoderLayer
from heedful.paper.layers import (
    KERNEL,
    KINDS,
    Kind,
    convolutional,
    dilated,
    recurrent_steps,
    restricted_attention,
    self_attention,
)

WIDTH = 16  # of what is traced: paths do not depend on it


def graph_depth(output: Tensor) -> int:
    """Return how many operations wait for one another: the longest chain of the graph."""
    depths: dict[Any, int] = {}
    stack: list[Any] = [output.grad_fn]
    while stack:
        node = stack[-1]
        before = [parent for parent, _ in node.next_functions if parent is not None]
        waiting = [parent for parent in before if parent not in depths]
        if waiting:
            stack += waiting
        else:
            depths[node] = 1 + max((depths[parent] for parent in before), default=0)
            stack.pop()
    return depths[output.grad_fn]


def sequential_operations(kind: Kind, n: int) -> int:
    """Count the operations of a layer that must be done one after the other."""
    torch.manual_seed(0)
    x = torch.randn(1, n, WIDTH, requires_grad=True)
    return graph_depth(kind.layer(x, kind.weights(WIDTH)))


def longest_path(name: str, n: int) -> int:
    """Count the hops from the first input to the last output, where a gradient arrives."""
    if name == "recurrent":
        return _recurrent_hops(n)
    layer = _STACKED[name]
    x = torch.randn(1, n, WIDTH, dtype=torch.float64, requires_grad=True)
    kernel = torch.randn(WIDTH, WIDTH, KERNEL, dtype=torch.float64) / math.sqrt(KERNEL * WIDTH)
    y = x
    for depth in range(1, n + 1):
        y = layer(y, kernel, depth - 1)
        (gradient,) = torch.autograd.grad(y[0, -1].sum(), x, retain_graph=True)
        if gradient[0, 0].abs().sum() > 0:
            return depth
    raise AssertionError("no gradient arrives")


_STACKED: dict[str, Callable[[Tensor, Tensor, int], Tensor]] = {
    "self-attention": lambda x, _, depth: self_attention(x, ()),
    "convolutional": lambda x, kernel, depth: convolutional(x, (kernel,)),
    "convolutional, dilated": lambda x, kernel, depth: dilated(x, (kernel,), KERNEL**depth),
    "self-attention, restricted": lambda x, _, depth: restricted_attention(x, ()),
}
STACKED = ("self-attention", "recurrent", *list(_STACKED)[1:])


def _recurrent_hops(n: int) -> int:
    """Count the cells between, by the operations on the way that one cell adds."""
    one, two, all_of_them = (_operations_between(length) for length in (1, 2, n))
    return 1 + (all_of_them - one) // (two - one)


def _operations_between(n: int) -> int:
    """Return the shortest way in the graph from the last output back to the first input."""
    positions = [torch.randn(1, WIDTH, requires_grad=True) for _ in range(n)]
    weights = next(kind for kind in KINDS if kind.name == "recurrent").weights(WIDTH)
    last = recurrent_steps(positions, weights)[-1]
    waiting, seen = deque([(last.grad_fn, 1)]), set()
    while waiting:
        node, distance = waiting.popleft()
        if getattr(node, "variable", None) is positions[0]:
            return distance
        for parent, _ in node.next_functions if node else ():
            if parent is not None and parent not in seen:
                seen.add(parent)
                waiting.append((parent, distance + 1))
    raise AssertionError("no gradient arrives")


DISTANCES = 100
_D = 64


def arriving_gradients() -> dict[str, list[float]]:
    """Return, by network, the gradient of the last output at the input so far back.

    Untrained networks, averaged over seeds; each as a share of all that arrives anywhere.
    """
    return {name: _arriving(make) for name, make in NETWORKS.items()}


def _arriving(make: Callable[[], Callable[[Tensor], Tensor]]) -> list[float]:
    total = torch.zeros(DISTANCES, dtype=torch.float64)
    for seed in range(5):
        torch.manual_seed(seed)
        network = make()
        x = torch.randn(1, DISTANCES, _D, requires_grad=True)
        direction = torch.randn(_D)
        (gradient,) = torch.autograd.grad(network(x)[0, -1] @ direction, x)
        norms = gradient[0].double().norm(dim=-1).flip(0)
        total += norms / norms.sum() / 5
    return [float(share) for share in total]


def _of_recurrent(kind: Callable[..., nn.Module]) -> Callable[[], Callable[[Tensor], Tensor]]:
    def make() -> Callable[[Tensor], Tensor]:
        network = kind(_D, _D, batch_first=True)
        return lambda x: network(x)[0]

    return make


def _convolutions() -> Callable[[Tensor], Tensor]:
    """Return as many layers as it takes for the gradient to arrive, each with ReLU."""
    layers = [nn.Conv1d(_D, _D, KERNEL, padding=KERNEL // 2) for _ in range(DISTANCES)]
    for layer in layers:
        nn.init.kaiming_normal_(layer.weight, nonlinearity="relu")

    def network(x: Tensor) -> Tensor:
        x = x.mT
        for layer in layers:
            x = layer(x).relu()
        return x.mT

    return network


def _attention() -> Callable[[Tensor], Tensor]:
    config = ModelConfig(vocab_size=1, d_model=_D, d_ff=4 * _D, num_heads=4, dropout=0.0)
    layer = EncoderLayer(config)
    visible = torch.ones(1, 1, 1, DISTANCES, dtype=torch.bool)
    return lambda x: layer(x, visible)


NETWORKS: dict[str, Callable[[], Callable[[Tensor], Tensor]]] = {
    "RNN": _of_recurrent(nn.RNN),
    "LSTM": _of_recurrent(nn.LSTM),
    "GRU": _of_recurrent(nn.GRU),
    "convolutions": _convolutions,
    "self-attention": _attention,
}
