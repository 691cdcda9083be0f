"""How much arithmetic a training step needs, and how fast this machine does arithmetic."""

import time
from collections.abc import Sequence

import torch

from heedful.model.config import ModelConfig

_SGEMM_SIDE = 2048  # three matrices of 16 MiB: too large for a cache, as in training


def model_flops(
    config: ModelConfig, source_lengths: Sequence[int], target_lengths: Sequence[int]
) -> int:
    """Count the floating-point operations of a forward and a backward pass over real pieces.

    A multiplication with a matrix of p parameters takes 2p operations a piece forward and twice
    that backward: 6p. Attention takes 2 (d_k + d_v) operations forward for a query, a key that is
    visible to it and a head, and again twice that backward. Padding, the future, softmax, norms,
    dropout and the optimiser count as nothing, so what is spent on them lowers the share.
    """
    d_model, head_widths = config.d_model, config.num_heads * (config.d_k + config.d_v)
    looking = offering = d_model * head_widths  # W^Q and W^O; W^K and W^V
    feed_forward = 2 * d_model * config.d_ff
    encoder_layer = looking + offering + feed_forward
    decoder_layer = looking + offering + looking + feed_forward
    # Source pieces also pass the W^K and W^V of each decoder layer, target pieces the output.
    per_source_piece = config.num_layers * (encoder_layer + offering)
    per_target_piece = config.num_layers * decoder_layer + d_model * config.vocab_size
    visible = sum(
        s * s + t * (t + 1) // 2 + s * t
        for s, t in zip(source_lengths, target_lengths, strict=True)
    )
    return (
        6 * per_source_piece * sum(source_lengths)
        + 6 * per_target_piece * sum(target_lengths)
        + 6 * head_widths * config.num_layers * visible
    )


def sgemm_flops_per_second() -> float:
    """Time one multiplication of large square float32 matrices on torch's threads."""
    left, right = torch.randn(2, _SGEMM_SIDE, _SGEMM_SIDE)
    product = left @ right  # maps the memory of the result, and wakes the threads
    began = time.perf_counter()
    torch.mm(left, right, out=product)
    return 2 * _SGEMM_SIDE**3 / (time.perf_counter() - began)
