from random import Random

import numpy as np
import pytest

from heedful.data.aligner import align_pieces


def test_what_always_comes_together_is_aligned_though_the_order_differs():
    """Piece n becomes n + 20, and lines are written backwards."""
    random = Random(1)
    lines = [random.sample(range(20), k=3) for _ in range(100)]
    pairs = [(line, [piece + 20 for piece in reversed(line)]) for line in lines]

    for likely in align_pieces(pairs, vocab_size=40):
        assert likely.argmax(axis=1).tolist() == [2, 1, 0]


def test_each_target_piece_is_shared_out_over_the_source():
    pairs = [([4, 5, 6], [7, 8]), ([4], [9])]

    first, second = align_pieces(pairs, vocab_size=10)

    assert first.shape == (2, 3)
    assert first.sum(axis=1).tolist() == pytest.approx([1, 1])
    assert second.tolist() == [[1.0]]


def test_without_evidence_it_expects_the_same_order():
    (likely,) = align_pieces([([4, 5, 6], [7, 8, 9])], vocab_size=10)

    np.testing.assert_array_equal(likely.argmax(axis=1), [0, 1, 2])
