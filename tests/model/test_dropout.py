import pytest
import torch
from torch.testing import assert_close

from heedful.model.dropout import Dropout


@pytest.mark.parametrize("rate", [0.1, 0.3, 0.5])
def test_numbers_are_zeroed_at_the_rate_and_the_others_scaled_up(rate):
    dropped = Dropout(rate)(torch.ones(1_000, 999))

    assert (dropped == 0).float().mean().item() == pytest.approx(rate, abs=2e-3)
    assert dropped.mean().item() == pytest.approx(1.0, abs=5e-3)
    assert_close(dropped.unique(), torch.tensor([0.0, 1 / (1 - rate)]), rtol=1e-4, atol=0)


def test_neighbours_are_dropped_independently():
    is_dropped = (Dropout(0.5)(torch.ones(1_000_000)) == 0).float()

    for distance in (1, 2, 3, 4):
        both = (is_dropped[distance:] * is_dropped[:-distance]).mean().item()
        assert both == pytest.approx(0.25, abs=3e-3)


def test_gradients_flow_through_what_was_kept_alone():
    x = torch.ones(1_000, requires_grad=True)

    dropped = Dropout(0.4)(x)
    dropped.sum().backward()

    assert_close(x.grad, dropped.detach())


def test_the_generator_of_torch_decides():
    x = torch.ones(100)
    torch.manual_seed(3)
    first = Dropout(0.5)(x)
    torch.manual_seed(3)

    assert torch.equal(Dropout(0.5)(x), first)
    assert not torch.equal(Dropout(0.5)(x), first)


@pytest.mark.parametrize("dropout", [Dropout(0.5).eval(), Dropout(0.0)])
def test_nothing_is_dropped_outside_training_or_at_rate_zero(dropout):
    x = torch.ones(7, 3)

    assert dropout(x) is x
