from hypothesis import given
from hypothesis import strategies as st

from heedful.model.batch import make_batch
from heedful.specials import BOS, EOS, PAD


def test_a_batch_is_shown_what_comes_before_each_piece_that_it_should_say():
    batch = make_batch([([4, 5, 6], [7]), ([8], [9, 10])])

    assert batch.source.tolist() == [[4, 5, 6, EOS], [8, EOS, PAD, PAD]]
    assert batch.given.tolist() == [[BOS, 7, EOS], [BOS, 9, 10]]
    assert batch.wanted.tolist() == [[7, EOS, PAD], [9, 10, EOS]]
    assert (len(batch), batch.num_wanted) == (2, 5)


@given(st.integers(1, 12), st.integers(1, 5))
def test_parts_hold_every_pair_of_a_batch_once_and_no_needless_padding(num_pairs, num):
    rows = [([5 + n] * (1 + n % 4), [6] * (1 + n)) for n in range(num_pairs)]

    parts = [make_batch(rows).part(index, num) for index in range(num)]

    for index, part in enumerate(parts):
        if len(part):
            assert part.source.equal(make_batch(rows[index::num]).source)
            assert part.target.equal(make_batch(rows[index::num]).target)
    assert sum(map(len, parts)) == num_pairs
