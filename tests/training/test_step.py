import math

import pytest

from heedful.training.step import perplexity


def test_perplexity_is_how_many_pieces_one_hesitates_between():
    assert perplexity(math.log(8)) == pytest.approx(8)
    assert perplexity(0.0) == 1.0


def test_a_perplexity_beyond_what_numbers_hold_is_infinite():
    assert perplexity(699.0) < math.inf
    assert perplexity(701.0) == perplexity(1e300) == math.inf
