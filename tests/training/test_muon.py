import pytest
import torch
from torch import nn
from torch.testing import assert_close

from heedful.machine.cores import num_cores
from heedful.training import muon
from heedful.training.muon import Muon, orthogonalised


def steep(rows: int, columns: int) -> torch.Tensor:
    """A matrix whose singular values differ a hundredfold."""
    random = torch.Generator().manual_seed(1)
    u, _, v = torch.linalg.svd(torch.randn(rows, columns, generator=random), full_matrices=False)
    return u @ torch.logspace(0, -2, min(rows, columns)).diag() @ v


@pytest.mark.parametrize("shape", [(16, 16), (8, 24), (24, 8), (1, 5)])
def test_singular_values_come_near_one_and_directions_stay(shape):
    matrix = steep(*shape)

    (result,) = orthogonalised(matrix[None])

    u, _, v = torch.linalg.svd(matrix, full_matrices=False)
    in_its_directions = (u.mT @ result @ v.mT).diagonal()
    assert in_its_directions.min() > 0.6
    assert in_its_directions.max() < 1.3
    assert_close(torch.linalg.svdvals(result), in_its_directions.sort(descending=True)[0])


def test_each_matrix_of_a_stack_is_treated_as_if_alone():
    matrices = torch.randn(3, 8, 16)

    alone = torch.cat([orthogonalised(matrix[None]) for matrix in matrices])

    assert_close(orthogonalised(matrices), alone)


def moved(gradient: torch.Tensor) -> torch.Tensor:
    matrix = nn.Parameter(torch.zeros_like(gradient))
    optimizer = Muon([matrix])
    optimizer.param_groups[0]["lr"] = 0.01
    matrix.grad = gradient.clone()
    optimizer.step()
    return matrix.detach()


def test_a_step_goes_against_the_gradient_as_far_as_the_rate_says_whatever_its_size():
    gradient = steep(12, 12)

    step = moved(gradient)

    assert (step * gradient).sum() < 0
    assert torch.linalg.svdvals(step).mean() == pytest.approx(0.01 * 4, rel=0.3)
    assert_close(moved(1_000 * gradient), step)


@pytest.mark.parametrize("shape", [(12, 12), (24, 8), (8, 24)])
def test_several_steps_go_where_those_of_pytorch_go(shape):
    """PyTorch makes singular values equal in bfloat16, so it is near and not the same."""
    random = torch.Generator().manual_seed(2)
    ours, theirs = (nn.Parameter(torch.zeros(shape)) for _ in range(2))
    optimizer, reference = Muon([ours]), torch.optim.Muon([theirs], lr=0.04, weight_decay=0.0)
    optimizer.param_groups[0]["lr"] = 0.01  # of which it takes four times as much

    for _ in range(6):
        ours.grad = torch.randn(shape, generator=random)
        theirs.grad = ours.grad.clone()
        optimizer.step()
        reference.step()

    assert (ours - theirs).norm() < 0.03 * theirs.norm()


def test_the_gradient_of_nothing_moves_nothing():
    assert torch.equal(moved(torch.zeros(4, 6)), torch.zeros(4, 6))


def test_how_many_cores_share_the_work_does_not_show(monkeypatch):
    def weights(cores: int) -> list[torch.Tensor]:
        monkeypatch.setattr(muon, "num_cores", lambda device: cores)
        random = torch.Generator().manual_seed(3)
        shapes = [(8, 8)] * 5 + [(16, 8)]
        matrices = [nn.Parameter(torch.randn(shape, generator=random)) for shape in shapes]
        optimizer = Muon(matrices)
        optimizer.param_groups[0]["lr"] = 0.1
        for matrix in matrices:
            matrix.grad = torch.randn(matrix.shape, generator=random)
        optimizer.step()
        return [matrix.detach() for matrix in matrices]

    assert num_cores(torch.device("cpu")) == 1
    assert all(torch.equal(one, other) for one, other in zip(weights(1), weights(3), strict=True))
