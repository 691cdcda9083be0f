"""The variance of dot products, and the gradient of their softmax."""

import pytest
import torch

from heedful.paper import scaling_of_scores
from heedful.paper.request import Request


def test_all_three_claims_of_section_3_2_1_hold():
    (result,) = scaling_of_scores.run(Request(name="scaling-of-scores"))

    assert [claim.verdict for claim in result.claims] == ["holds"] * 3


def test_the_norm_of_the_derivative_is_that_of_autograd():
    scores = torch.tensor([[0.5, -1.0, 2.0]])

    derivative = torch.autograd.functional.jacobian(lambda it: it.softmax(-1), scores[0])

    assert scaling_of_scores.gradient_norm(scores) == pytest.approx(derivative.norm().item())


def test_one_key_that_outweighs_all_others_leaves_no_gradient():
    assert scaling_of_scores.gradient_norm(torch.tensor([[0.0, 100.0]])) < 1e-6
    assert scaling_of_scores.gradient_norm(torch.tensor([[0.0, 0.0]])) > 0.4
