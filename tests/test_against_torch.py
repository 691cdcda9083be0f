"""Our layers against PyTorch's own: an oracle we did not write."""

import pytest
import torch
from torch import nn
from torch.testing import assert_close

from heedful.model.attention import MultiHeadAttention
from heedful.model.config import ModelConfig
from heedful.model.transformer import (
    LAYER_NORM_EPSILON,
    DecoderLayer,
    EncoderLayer,
    FeedForward,
)

IS_PADDING = torch.tensor([[0, 0, 0, 0, 0], [0, 0, 0, 1, 1], [0, 1, 1, 1, 1]]).bool()


def config(normalisation: str) -> ModelConfig:
    return ModelConfig(vocab_size=10, d_model=8, d_ff=16, num_heads=2, normalisation=normalisation)


def options(normalisation: str) -> dict:
    return {
        "d_model": 8,
        "nhead": 2,
        "dim_feedforward": 16,
        "batch_first": True,
        "norm_first": normalisation == "pre",
        "layer_norm_eps": LAYER_NORM_EPSILON,
    }


def shake(module: nn.Module) -> None:
    """Move gains and biases off one and zero, so that forgetting one of them shows."""
    for parameter in module.parameters():
        nn.init.normal_(parameter, std=0.5)


def copy_attention(ours: MultiHeadAttention, theirs: nn.MultiheadAttention) -> None:
    projections = [ours.query, ours.key, ours.value]
    theirs.in_proj_weight.data = torch.cat([p.weight.data for p in projections])
    theirs.in_proj_bias.data = torch.cat([p.bias.data for p in projections])
    theirs.out_proj.load_state_dict(ours.output.state_dict())


def copy_feed_forward(ours: FeedForward, theirs: nn.Module) -> None:
    theirs.linear1.load_state_dict(ours[0].state_dict())
    theirs.linear2.load_state_dict(ours[2].state_dict())


@pytest.mark.parametrize("normalisation", ["post", "pre"])
def test_an_encoder_layer_equals_that_of_pytorch(normalisation):
    ours = EncoderLayer(config(normalisation)).eval()
    theirs = nn.TransformerEncoderLayer(**options(normalisation)).eval()
    shake(ours)
    copy_attention(ours.self_attention, theirs.self_attn)
    copy_feed_forward(ours.feed_forward, theirs)
    theirs.norm1.load_state_dict(ours.around_self_attention.norm.state_dict())
    theirs.norm2.load_state_dict(ours.around_feed_forward.norm.state_dict())
    x = torch.randn(3, 5, 8)

    expected = theirs(x, src_key_padding_mask=IS_PADDING)
    actual = ours(x, visible=~IS_PADDING[:, None, None, :])

    assert_close(actual[~IS_PADDING], expected[~IS_PADDING])


@pytest.mark.parametrize("normalisation", ["post", "pre"])
def test_a_decoder_layer_equals_that_of_pytorch(normalisation):
    ours = DecoderLayer(config(normalisation)).eval()
    theirs = nn.TransformerDecoderLayer(**options(normalisation)).eval()
    shake(ours)
    copy_attention(ours.self_attention, theirs.self_attn)
    copy_attention(ours.source_attention, theirs.multihead_attn)
    copy_feed_forward(ours.feed_forward, theirs)
    theirs.norm1.load_state_dict(ours.around_self_attention.norm.state_dict())
    theirs.norm2.load_state_dict(ours.around_source_attention.norm.state_dict())
    theirs.norm3.load_state_dict(ours.around_feed_forward.norm.state_dict())
    x, memory = torch.randn(3, 4, 8), torch.randn(3, 5, 8)
    causal = torch.ones(4, 4).tril().bool()

    expected = theirs(x, memory, tgt_mask=~causal, memory_key_padding_mask=IS_PADDING)
    source = ours.source_attention.offer(memory)
    actual, _ = ours(
        x,
        source,
        ~IS_PADDING[:, None, None, :],
        ours.self_attention.offer(x).nothing(),
        causal[None, None],
    )

    assert_close(actual, expected)
