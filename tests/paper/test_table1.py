"""Counts of table 1 by hand, and the fit of powers."""

import pytest

from heedful.paper import table1
from heedful.paper.layers import KINDS
from heedful.paper.request import Cells, Request

BY_NAME = {kind.name: kind for kind in KINDS}


def test_the_operations_of_attention_are_those_of_its_two_products():
    counted = table1.counted(BY_NAME["self-attention"], (1, 50, 12))

    # Two products of n·n·d multiplications and additions, and twice as many going back.
    assert counted["flops"] == 3 * 2 * 2 * 50 * 50 * 12
    # What is kept of n·n numbers: the weights, and where nothing was masked.
    assert counted["bytes"] >= 50 * 50 * 4


def test_the_operations_of_the_recurrent_layer_are_two_products_a_position():
    counted = table1.counted(BY_NAME["recurrent"], (3, 20, 12))

    forward = 20 * 2 * 2 * 3 * 12 * 12
    # Going back: by both weights and by what was remembered, and by the input; not by the first
    # state, which is nothing.
    assert 2.9 * forward <= counted["flops"] <= 3 * forward


def test_the_power_of_a_square_is_two():
    samples = [
        {"n": n, "seconds": [n**2 * 1e-9] * 7, "flops": n, "bytes": 7} for n in (4, 8, 16, 32)
    ]

    assert table1.fit(samples, "n", "seconds") == pytest.approx((2, 2, 2))
    assert table1.fit(samples, "n", "flops") == pytest.approx((1, 1, 1))
    assert table1.fit(samples, "n", "bytes") == pytest.approx((0, 0, 0))


def test_samples_that_scatter_widen_the_interval():
    samples = [
        {"n": n, "seconds": [n * noise for noise in (0.5, 0.7, 1, 1, 1, 2, 3)]} for n in (8, 16, 32)
    ]

    power, low, high = table1.fit(samples, "n", "seconds")

    assert power == pytest.approx(1)
    assert low < 0.9 < 1.1 < high


@pytest.fixture
def small(monkeypatch):
    sizes = {
        name: {"n": [(1, n, 4) for n in (8, 16, 32)], "d": [(1, 8, d) for d in (4, 8, 16)]}
        for name in table1.SIZES
    }
    monkeypatch.setattr(table1, "SIZES", sizes)


@pytest.mark.slow
def test_the_table_has_a_row_for_each_layer_and_axis(small, tmp_path):
    *lines, result = table1.run(Request(name="table1", out=tmp_path))

    assert len(lines) == 9
    complexity = result.tables[0]
    assert [row[2] for row in complexity.rows] == [2, 1, 1, 2, 1, 2, 1, 1]  # as printed
    for row in complexity.rows:
        assert row[3] == pytest.approx(row[2], abs=0.1), row[0]  # as counted


def test_what_was_timed_is_not_timed_again(small, tmp_path, monkeypatch):
    first = table1.measured(Cells(tmp_path), KINDS[0], "n")

    monkeypatch.setattr(table1, "counted", None)  # would fail

    assert table1.measured(Cells(tmp_path), KINDS[0], "n") == first
