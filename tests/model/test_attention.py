import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.testing import assert_close

from heedful.model.attention import KeyValue, MultiHeadAttention, exact_attention, fused_attention
from heedful.model.config import ModelConfig


def test_attention_of_two_equal_keys_is_their_mean():
    query = torch.tensor([[[[1.0, 0.0]]]])
    key = torch.tensor([[[[3.0, 1.0], [3.0, 9.0]]]])
    value = torch.tensor([[[[10.0, 0.0], [20.0, 4.0]]]])
    visible = torch.ones(1, 1, 1, 2, dtype=torch.bool)

    output, weights = exact_attention(query, key, value, visible)

    assert_close(weights, torch.tensor([[[[0.5, 0.5]]]]))
    assert_close(output, torch.tensor([[[[15.0, 2.0]]]]))


def test_scores_are_divided_by_the_root_of_d_k():
    query = torch.tensor([[[[1.0, 1.0, 1.0, 1.0]]]])
    key = torch.tensor([[[[2.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0]]]])
    visible = torch.ones(1, 1, 1, 2, dtype=torch.bool)

    _, weights = exact_attention(query, key, key, visible)

    e = torch.tensor(2 / 4**0.5).exp()  # q·k = 2 against 0, d_k = 4
    assert_close(weights.flatten(), torch.stack([e, torch.tensor(1.0)]) / (e + 1))


def test_an_invisible_key_has_no_weight():
    query, key = torch.randn(1, 1, 2, 4), torch.randn(1, 1, 3, 4)
    visible = torch.tensor([True, False, True]).expand(1, 1, 2, 3)

    _, weights = exact_attention(query, key, key, visible)

    assert_close(weights[..., 1], torch.zeros(1, 1, 2))
    assert_close(weights.sum(dim=-1), torch.ones(1, 1, 2))


@given(
    queries=st.integers(1, 7),
    keys=st.integers(1, 7),
    d_k=st.integers(1, 5),
    d_v=st.integers(1, 5),
    seed=st.integers(0, 99),
)
def test_fused_attention_equals_equation_1(queries, keys, d_k, d_v, seed):
    random = torch.Generator().manual_seed(seed)
    query = torch.randn(2, 3, queries, d_k, generator=random)
    key = torch.randn(2, 3, keys, d_k, generator=random)
    value = torch.randn(2, 3, keys, d_v, generator=random)
    visible = torch.rand(2, 1, queries, keys, generator=random) < 0.6
    visible[..., 0] = True  # every query sees something

    assert_close(
        fused_attention(query, key, value, visible), exact_attention(query, key, value, visible)[0]
    )


def test_queries_and_values_may_have_widths_of_their_own():
    config = ModelConfig(vocab_size=9, d_model=6, num_heads=3, d_k=5, d_v=4)
    attention = MultiHeadAttention(config)
    x = torch.randn(2, 7, 6)

    seen = attention.offer(x)
    output = attention(x, seen, torch.ones(2, 1, 1, 7, dtype=torch.bool))

    assert seen.key.shape == (2, 3, 7, 5)
    assert seen.value.shape == (2, 3, 7, 4)
    assert output.shape == x.shape


def test_appending_to_nothing_is_what_was_appended():
    offer = KeyValue(torch.randn(2, 1, 3, 4), torch.randn(2, 1, 3, 5))

    joined = offer.nothing().append(offer).append(offer)

    assert_close(joined.key, torch.cat([offer.key, offer.key], dim=2))
    assert_close(joined.value, torch.cat([offer.value, offer.value], dim=2))
