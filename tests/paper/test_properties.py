"""Claims about the network itself, and that they can fail."""

import torch

from heedful.model.config import ModelConfig
from heedful.paper import properties
from heedful.paper.request import Request


def test_all_of_them_hold():
    (result,) = properties.run(Request(name="properties"))

    assert len(result.claims) == 8
    assert {claim.verdict for claim in result.claims} == {"holds"}


def test_the_operations_of_attention_are_four_projections_and_two_products():
    config = ModelConfig(vocab_size=1)

    # Twice for multiplying and adding; 50 positions of width 512.
    assert properties.operations(config) == 2 * (4 * 50 * 512 * 512 + 2 * 50 * 50 * 512)


def test_what_is_apart_is_told():
    assert properties.distance(torch.tensor([1.0, 2.0]), torch.tensor([1.0, 2.5])) == 0.5
