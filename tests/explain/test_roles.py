"""What heads are named after: measured, by hand, on weights of which one knows what they do."""

import numpy as np
import pytest

from heedful.explain.roles import heads_of


def named(kind: str, weights: np.ndarray, aligned: dict[int, int] | None = None):
    (head,) = heads_of(kind, np.array([[weights]], dtype=np.float32), aligned or {})
    return head


@pytest.mark.parametrize(("role", "distance"), [("previous", -1), ("same", 0), ("next", 1)])
def test_a_head_that_looks_at_a_neighbour_is_named_so(role, distance):
    weights = np.full((6, 6), 0.02)
    weights += np.eye(6, k=distance) * 0.88

    head = named("encoder", weights)

    assert head.role == role
    assert head.share == pytest.approx(0.9)


def test_a_head_that_rests_on_the_end_or_the_beginning_is_named_so():
    end, start = np.zeros((4, 4)), np.zeros((4, 4))
    end[:, 3] = start[:, 0] = 1

    assert named("encoder", end).role == "end"
    assert named("cross", end).role == "end"
    assert named("decoder", start).role == "start"
    assert named("decoder", start).entropy == 0


def test_a_head_over_the_source_that_follows_the_words_is_an_aligner():
    weights = np.full((3, 4), 0.05)
    weights[[0, 1, 2], [1, 0, 2]] = 0.85

    assert named("cross", weights, {0: 1, 1: 0, 2: 2})[3:5] == ("aligner", pytest.approx(0.85))
    assert named("cross", weights, {0: 2, 1: 1, 2: 0}).role == "mixed"


def test_a_head_that_looks_everywhere_alike_is_broad_and_its_entropy_is_counted_in_bits():
    head = named("encoder", np.full((8, 8), 1 / 8))

    assert head[3:] == ("broad", pytest.approx(1), pytest.approx(3))


def test_of_a_future_that_cannot_be_seen_nothing_is_expected():
    weights = np.tril(np.ones((5, 5)))

    assert named("decoder", weights / weights.sum(axis=1, keepdims=True)).role in ("broad", "start")
    assert named("decoder", np.ones((1, 1))).role == "mixed"
