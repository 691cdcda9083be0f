from itertools import chain, islice

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from heedful.data.batches import largest_batch, ordered_batches, plan_batches, training_batches
from heedful.data.pair_ids import PairIds, write_pair_ids

PAIRS = [([10 + i] * (1 + i % 7), [40 + i] * (1 + i % 5)) for i in range(30)]


def stored(tmp_path, pairs=PAIRS, vocab_size=100) -> PairIds:
    return write_pair_ids(tmp_path / "ids", pairs, vocab_size)


@given(
    st.lists(st.tuples(st.integers(1, 30), st.integers(1, 30)), min_size=1, max_size=60),
    st.integers(8, 100),
)
def test_every_pair_is_in_one_batch_and_no_batch_of_two_exceeds_the_budget(lengths, budget):
    lengths = np.array(lengths)

    batches = plan_batches(lengths, budget)

    assert sorted(np.concatenate(batches).tolist()) == list(range(len(lengths)))
    for rows in batches:
        assert len(rows) == 1 or len(rows) * (lengths[rows].max() + 1) <= budget


def test_batches_hold_pairs_of_similar_length():
    lengths = np.array([[1, 1], [9, 9]] * 50)

    batches = plan_batches(lengths, 40)

    assert all(len(set(lengths[rows, 1])) == 1 for rows in batches[:-1])


def test_neighbours_are_alike_on_both_sides_so_that_little_is_padding():
    random = np.random.default_rng(2017)
    source = random.integers(5, 30, size=5_000)
    target = np.maximum(source + random.integers(-4, 5, size=5_000), 1)
    lengths = np.stack([source, target], axis=1)

    batches = plan_batches(lengths, 2_048)

    padded = sum(len(rows) * (lengths[rows].max(axis=0) + 1).sum() for rows in batches)
    assert (lengths + 1).sum() / padded > 0.944  # 0.941 if not to and fro, 0.927 by target first


def test_an_epoch_sees_every_pair_once_and_the_next_in_another_order(tmp_path):
    pairs = stored(tmp_path)
    num_batches = len(list(ordered_batches(pairs, batch_tokens=24)))

    endless = training_batches(pairs, batch_tokens=24, seed=1)
    first, second = (list(islice(endless, num_batches)) for _ in range(2))

    starts = [sorted(batch.source[:, 0].tolist()) for batch in first]
    assert sorted(chain(*starts)) == [10 + i for i in range(30)]
    assert starts != [sorted(batch.source[:, 0].tolist()) for batch in second]


# The longest source and the longest target belong to different pairs, which share a batch.
CROSSED = [([4] * (1 + i % 9), [5] * (1 + 5 * i % 11)) for i in range(30)]


@pytest.mark.parametrize("budget", [1, 9, 20, 300])
@pytest.mark.parametrize("rows", [PAIRS, CROSSED])
def test_no_batch_of_any_epoch_is_larger_than_the_largest(tmp_path, rows, budget):
    pairs = stored(tmp_path, rows)

    largest = largest_batch(pairs, batch_tokens=budget)

    def size(batch):
        return batch.source.numel() + batch.given.numel()

    seen = islice(training_batches(pairs, batch_tokens=budget, seed=1), 100)
    assert max(size(batch) for batch in seen) == size(largest)


def test_skipping_goes_on_where_reading_stopped(tmp_path):
    pairs = stored(tmp_path)

    whole = list(islice(training_batches(pairs, batch_tokens=24, seed=1), 30))
    rest = list(islice(training_batches(pairs, batch_tokens=24, seed=1, skip=20), 10))

    assert [b.target.tolist() for b in whole[20:]] == [b.target.tolist() for b in rest]
