import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor
from torch.nn import functional as F
from torch.testing import assert_close

from heedful.model.batch import make_batch
from heedful.model.config import ModelConfig
from heedful.model.transformer import Transformer
from heedful.specials import PAD
from heedful.training.loss import batch_loss, smoothed_cross_entropy


def assert_same_gradients(ours: Tensor, theirs: Tensor, *inputs: Tensor) -> None:
    assert_close(torch.autograd.grad(ours, inputs), torch.autograd.grad(theirs, inputs))


@given(
    pieces=st.integers(1, 1_300),  # the chunk is 128
    vocab=st.integers(2, 9),
    smoothing=st.floats(0, 0.9),
    scale=st.sampled_from([0.0, 1.0, 1e3]),  # a thousand makes probabilities underflow
    seed=st.integers(0, 99),
)
def test_loss_and_gradients_equal_those_of_pytorch(pieces, vocab, smoothing, scale, seed):
    random = torch.Generator().manual_seed(seed)
    x = torch.randn(pieces, 4, generator=random, dtype=torch.float64) * scale
    x.requires_grad_()
    weight = torch.randn(vocab, 4, generator=random, dtype=torch.float64, requires_grad=True)
    wanted = torch.randint(vocab, (pieces,), generator=random)

    smoothed, plain = smoothed_cross_entropy(x, weight, wanted, smoothing)
    expected = F.cross_entropy(x @ weight.T, wanted, label_smoothing=smoothing, reduction="sum")

    assert_close(smoothed, expected)
    assert_close(plain, F.cross_entropy(x @ weight.T, wanted, reduction="sum"))
    assert_same_gradients(3 * smoothed, 3 * expected, x, weight)


def test_smoothing_shares_its_part_over_the_whole_vocabulary():
    x, weight = torch.tensor([[1.0]]), torch.tensor([[0.0], [0.0], [0.0], [3.0]])

    smoothed, _ = smoothed_cross_entropy(x, weight, torch.tensor([3]), smoothing=0.1)

    log_probabilities = torch.tensor([0.0, 0.0, 0.0, 3.0]).log_softmax(dim=0)
    expected = -(0.9 + 0.025) * log_probabilities[3] - 3 * 0.025 * log_probabilities[0]
    assert_close(smoothed, expected)


def test_padding_costs_nothing():
    config = ModelConfig(vocab_size=11, num_layers=1, d_model=8, d_ff=8, num_heads=2, dropout=0.0)
    model = Transformer(config)
    short, long = ([5, 6], [7]), ([5, 6, 7, 8], [8, 9, 10, 4])

    together = batch_loss(model, make_batch([short, long]), smoothing=0.1)[0]
    apart = [batch_loss(model, make_batch([pair]), smoothing=0.1)[0] for pair in (short, long)]

    assert (make_batch([short, long]).wanted == PAD).any()
    assert_close(together, sum(apart))


def test_the_loss_keeps_all_its_digits_where_products_lose_some():
    x, weight, wanted = torch.randn(5, 4), torch.randn(9, 4), torch.arange(5)

    with torch.autocast("cpu", torch.bfloat16):
        inside = smoothed_cross_entropy(x, weight, wanted, smoothing=0.1)

    assert_close(inside, smoothed_cross_entropy(x, weight, wanted, 0.1), rtol=0, atol=0)
