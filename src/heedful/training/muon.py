"""Muon (Jordan et al., 2024): matrices move as far in every direction as in the steepest.

A matrix's gradient is mostly a few directions that all examples agree on. Muon takes the momentum
of the gradient and makes its singular values equal, so that rare directions are learned as well.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence

import torch
from jaxtyping import Float
from torch import Tensor, nn

from heedful.machine.cores import num_cores, side_by_side

_RATE = 4.0  # times that of Adam; a step of one changes no product by more than its input
_MOMENTUM = 0.95
_POLYNOMIAL = (3.4445, -4.7750, 2.0315)  # Jordan's: steep at zero, and stays near one
_ITERATIONS = 5


class Muon(torch.optim.Optimizer):
    """Steps for the matrices inside a network; vectors and embeddings want another optimiser."""

    def __init__(self, matrices: Iterable[nn.Parameter]) -> None:
        super().__init__(matrices, {"lr": 0.0})

    def step(self) -> None:  # type: ignore[override]
        """Move every matrix by the learning rate, whatever the size of its gradient."""
        (group,) = self.param_groups
        cores = num_cores(group["params"][0].device)
        work = [
            matrices[part::cores]
            for matrices in _by_shape(group["params"])
            for part in range(min(cores, len(matrices)))
        ]
        side_by_side(lambda matrices: self._move(matrices, group["lr"]), work, at_once=cores)

    @torch.no_grad()  # here, since it holds for a thread
    def _move(self, matrices: Sequence[nn.Parameter], rate: float) -> None:
        directions = orthogonalised(torch.stack([self._direction(m) for m in matrices]))
        rows, columns = matrices[0].shape
        for matrix, direction in zip(matrices, directions, strict=True):
            matrix.add_(direction, alpha=-_RATE * rate * max(1.0, rows / columns) ** 0.5)

    def _direction(self, matrix: nn.Parameter) -> Tensor:
        """Nesterov's momentum: the running mean of the gradient, and a step ahead of it."""
        assert matrix.grad is not None
        state = self.state[matrix]
        if not state:
            state["momentum"] = torch.zeros_like(matrix)
        momentum = state["momentum"].lerp_(matrix.grad, 1 - _MOMENTUM)
        return matrix.grad.lerp(momentum, _MOMENTUM)


def orthogonalised(
    matrices: Float[Tensor, "matrix rows columns"],
) -> Float[Tensor, "matrix rows columns"]:
    """Bring all singular values near one, by Newton and Schulz's iteration."""
    a, b, c = _POLYNOMIAL
    is_tall = matrices.size(1) > matrices.size(2)
    x = matrices.mT if is_tall else matrices
    x = x / x.norm(dim=(1, 2), keepdim=True).clamp(min=1e-7)
    for _ in range(_ITERATIONS):
        gram = x @ x.mT
        x = torch.baddbmm(x, torch.baddbmm(gram, gram, gram, beta=b, alpha=c), x, beta=a)
    return x.mT if is_tall else x


def _by_shape(matrices: Iterable[nn.Parameter]) -> list[list[nn.Parameter]]:
    groups = defaultdict(list)
    for matrix in matrices:
        groups[matrix.shape].append(matrix)
    return list(groups.values())
