import threading

import pytest
import torch

from heedful.machine.cores import num_cores, side_by_side


@pytest.fixture(autouse=True)
def four_threads():
    before = torch.get_num_threads()
    torch.set_num_threads(4)
    yield
    torch.set_num_threads(before)


@pytest.mark.parametrize("at_once", [1, 2, 3, 4, 9])
def test_results_come_in_the_order_of_the_items(at_once):
    assert side_by_side(lambda n: n * n, range(20), at_once=at_once) == [n * n for n in range(20)]


def test_work_goes_on_side_by_side():
    barrier = threading.Barrier(2, timeout=10)

    def meet(item: int) -> int:
        barrier.wait()  # would break if the two took turns
        return item

    assert side_by_side(meet, range(2), at_once=2) == [0, 1]


@pytest.mark.parametrize(("at_once", "each"), [(2, 2), (4, 1), (8, 1)])
def test_each_piece_of_work_has_its_share_of_the_cores(at_once, each):
    def threads(_: int) -> int:
        return torch.get_num_threads()

    assert set(side_by_side(threads, range(8), at_once=at_once)) == {each}
    assert torch.get_num_threads() == 4


def test_an_error_comes_out_and_leaves_the_cores_as_they_were():
    with pytest.raises(ZeroDivisionError):
        side_by_side(lambda n: 1 / n, [1, 0], at_once=2)

    assert torch.get_num_threads() == 4


def test_a_gpu_is_not_shared_out():
    assert num_cores(torch.device("cpu")) == 4
    assert num_cores(torch.device("cuda")) == 1
