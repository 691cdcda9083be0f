import torch

from heedful.training.averaging import running_means


def test_each_mean_is_that_of_all_weights_so_far():
    checkpoints = [{"w": torch.tensor([1.0, 8.0])}, {"w": torch.tensor([3.0, 2.0])}]
    last = {"w": torch.tensor([8.0, -1.0])}

    means = [mean["w"].tolist() for mean in running_means([*checkpoints, last])]

    assert means == [[1.0, 8.0], [2.0, 5.0], [4.0, 3.0]]


def test_a_mean_of_many_loses_nothing_to_rounding():
    """In float32, a thousand times 0.1 drifts from its mean by more than its last bit."""
    *_, mean = running_means({"w": torch.tensor([0.1, 1e8])} for _ in range(1_000))

    assert mean["w"].dtype == torch.float32
    assert mean["w"].equal(torch.tensor([0.1, 1e8]))


def test_what_was_averaged_is_left_as_it_was():
    first, second = {"w": torch.tensor([1.0])}, {"w": torch.tensor([3.0])}

    list(running_means([first, second]))

    assert (first["w"].item(), second["w"].item()) == (1.0, 3.0)
