import numpy as np
import pytest

from heedful.data.pair_ids import PairIds, write_pair_ids

PAIRS = [([4, 5, 6], [7]), ([8], [9, 10]), ([11, 4], [5, 6, 7, 8])]


def test_ids_come_back_from_disk_as_they_went_in(tmp_path):
    write_pair_ids(tmp_path / "ids", PAIRS, vocab_size=20)

    pairs = PairIds(tmp_path / "ids")

    assert list(pairs) == [pairs[row] for row in range(3)] == PAIRS
    assert len(pairs) == 3
    assert pairs.lengths.tolist() == [[3, 1], [1, 2], [2, 4]]


@pytest.mark.parametrize(
    ("vocab_size", "kind"), [(20, "uint16"), (1 << 16, "uint16"), (1 + (1 << 16), "uint32")]
)
def test_the_largest_id_of_a_vocabulary_fits(tmp_path, vocab_size, kind):
    pairs = write_pair_ids(tmp_path / "ids", [([vocab_size - 1], [4])], vocab_size)

    assert pairs[0] == ([vocab_size - 1], [4])
    assert (tmp_path / "ids" / f"ids.{kind}").exists()


def test_ids_are_read_from_disk_where_they_are_looked_at(tmp_path):
    pairs = write_pair_ids(tmp_path / "ids", PAIRS, vocab_size=20)

    with (tmp_path / "ids" / "ids.uint16").open("r+b") as file:
        file.write(np.array([19], dtype=np.uint16).tobytes())

    assert pairs[0] == ([19, 5, 6], [7])


@pytest.mark.parametrize("rows_at_once", [1, 2, 100])
def test_pieces_are_counted_by_side_however_many_rows_are_read_at_once(
    tmp_path, monkeypatch, rows_at_once
):
    monkeypatch.setattr("heedful.data.pair_ids.ROWS_AT_ONCE", rows_at_once)
    pairs = write_pair_ids(tmp_path / "ids", [([1, 1], [3]), ([2], [3, 0]), ([], [3])], 20)

    assert pairs.piece_counts(5).tolist() == [[0, 2, 1, 0, 0], [1, 0, 0, 3, 0]]
