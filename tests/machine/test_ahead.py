import threading

import pytest

from heedful.machine.ahead import ahead


def test_results_come_in_the_order_of_their_items():
    assert list(ahead(lambda n: n * n, range(50), at_once=3)) == [n * n for n in range(50)]


def test_the_next_items_are_worked_on_while_the_first_waits():
    others_began = threading.Barrier(3, timeout=60)  # breaks unless three work at once

    assert list(ahead(lambda n: (others_began.wait(), n)[1], range(3), at_once=3)) == [0, 1, 2]


def test_no_more_items_are_taken_than_are_worked_on():
    taken = []
    items = (taken.append(n) or n for n in range(1_000))

    results = ahead(lambda n: n, items, at_once=3)
    next(results)
    next(results)

    assert len(taken) == 5


def test_none_among_the_items_brings_out_all_results_so_far():
    taken = []
    items = (taken.append(n) or n for n in [0, 1, None, 2, None])

    results = ahead(lambda n: n, items, at_once=3)

    assert [(next(results), len(taken)) for _ in range(3)] == [(0, 3), (1, 3), (2, 5)]
    assert list(results) == []


def test_an_error_comes_out_where_its_result_would():
    results = ahead(lambda n: 1 // n, [1, 0, 1], at_once=2)

    assert next(results) == 1
    with pytest.raises(ZeroDivisionError):
        next(results)
