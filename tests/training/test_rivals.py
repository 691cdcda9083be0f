import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.testing import assert_close

from heedful.training.loss import smoothed_cross_entropy
from heedful.training.rivals import draw_rivals
from tests.training.test_loss import assert_same_gradients


def test_every_wanted_piece_takes_part_and_stands_for_itself_alone():
    rivals = draw_rivals(torch.tensor([[7, 3], [3, 9]]), vocab_size=10, share=1e-9, seed=1)

    assert rivals.ids.tolist() == [3, 7, 9]
    assert rivals.log_count.tolist() == [0.0, 0.0, 0.0]
    assert rivals.places(torch.tensor([9, 3, 7])).tolist() == [2, 0, 1]


def test_of_the_others_a_share_takes_part_and_stands_for_all_of_them():
    rivals = draw_rivals(torch.tensor([3]), vocab_size=10_000, share=0.25, seed=1)

    others = rivals.ids[rivals.ids != 3]
    assert len(others) == pytest.approx(2_500, rel=0.1)
    assert_close(rivals.log_count[rivals.ids != 3], torch.full((len(others),), math.log(4)))


def test_the_sum_over_the_vocabulary_is_right_on_average():
    scores = torch.randn(50, generator=torch.Generator().manual_seed(1))

    def total(seed: int) -> float:
        rivals = draw_rivals(torch.tensor([0, 1]), vocab_size=50, share=0.3, seed=seed)
        return (scores[rivals.ids] + rivals.log_count).exp().sum().item()

    totals = [total(seed) for seed in range(3_000)]

    assert sum(totals) / len(totals) == pytest.approx(scores.exp().sum().item(), rel=0.01)
    assert max(totals) > 1.5 * min(totals)  # each by itself is a guess


def test_the_same_seed_draws_the_same_rivals():
    first, again, other = (
        draw_rivals(torch.tensor([4]), vocab_size=500, share=0.5, seed=seed) for seed in (1, 1, 2)
    )

    assert torch.equal(first.ids, again.ids)
    assert not torch.equal(first.ids, other.ids)


@given(
    pieces=st.integers(1, 300),
    smoothing=st.floats(0, 0.9),
    share=st.sampled_from([0.01, 0.3, 1.0]),
    seed=st.integers(0, 99),
)
def test_loss_and_gradients_equal_those_of_pytorch(pieces, smoothing, share, seed):
    random = torch.Generator().manual_seed(seed)
    x = torch.randn(pieces, 4, generator=random, dtype=torch.float64, requires_grad=True)
    weight = torch.randn(40, 4, generator=random, dtype=torch.float64, requires_grad=True)
    wanted = torch.randint(40, (pieces,), generator=random)
    rivals = draw_rivals(wanted, vocab_size=40, share=share, seed=seed)

    smoothed, plain = smoothed_cross_entropy(x, weight, wanted, smoothing, rivals)

    logits = x @ weight.T
    among_rivals = logits[:, rivals.ids] + rivals.log_count
    normaliser = among_rivals.logsumexp(dim=1)
    gold = logits.gather(1, wanted[:, None]).squeeze(1)
    expected = (normaliser - (1 - smoothing) * gold - smoothing * logits.mean(dim=1)).sum()
    assert_close(plain, (normaliser - gold).sum())
    assert_close(smoothed, expected)
    assert_same_gradients(smoothed, expected, x, weight)


def test_when_all_take_part_the_loss_is_that_of_the_whole_vocabulary():
    x, weight, wanted = torch.randn(12, 4), torch.randn(9, 4), torch.arange(12) // 2
    rivals = draw_rivals(wanted, vocab_size=9, share=1.0, seed=1)

    among_rivals = smoothed_cross_entropy(x, weight, wanted, 0.1, rivals)

    assert_close(among_rivals, smoothed_cross_entropy(x, weight, wanted, 0.1))
