"""Section 3.5 as numbers."""

import math

import pytest
import torch

from heedful.errors import ConfigError
from heedful.paper import positions
from heedful.paper.request import Request


@pytest.mark.parametrize(
    ("layout", "longest"), [*zip(positions.LAYOUTS, (10_000 ** (510 / 512), 10_000), strict=True)]
)
def test_the_wavelengths_are_those_of_the_formula(layout, longest):
    waves = positions.wavelengths(layout)

    assert len(waves) == 256
    assert waves[0] == pytest.approx(2 * math.pi, rel=1e-5)
    assert waves[-1] == pytest.approx(2 * math.pi * longest, rel=1e-3)
    assert waves == sorted(waves)


@pytest.mark.parametrize("layout", positions.LAYOUTS)
def test_moving_by_k_is_a_rotation(layout):
    assert positions.linear_error(layout, 7) < 1e-4


def test_the_sum_over_cosines_is_the_dot_product():
    # sin a sin b + cos a cos b = cos(a - b), for each of the pairs.
    angles = [10_000 ** (-2 * i / 512) for i in range(256)]
    by_hand = sum(math.cos(4 * angle) for angle in angles) / 256

    encoded = positions.interleaved_sinusoids(torch.arange(100), 512)

    assert positions.similarity(encoded)[4] == pytest.approx(by_hand, rel=1e-4)
    assert positions.spread_of_products() < 1e-3


def test_a_model_whose_positions_are_no_vectors_is_refused(model_folder):
    with pytest.raises(
        ConfigError, match=r"its positions are sinusoids \(interleaved\); leave out"
    ):
        list(positions.run(Request(name="positions", model=model_folder.path)))


@pytest.mark.slow
def test_all_claims_hold_and_positions_are_learned():
    *_, result = positions.run(Request(name="positions"))

    assert [claim.verdict for claim in result.claims] == ["holds"] * 4
    learned = [row[2] for row in result.tables[2].rows]
    assert learned[0] == pytest.approx(1)
    assert learned[1] > learned[4]  # near positions are more alike
