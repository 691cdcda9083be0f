"""Why dot products are divided by √d_k (section 3.2.1 and its footnote 4)."""

import math
from typing import Any, NamedTuple

import torch
from torch import Tensor

from heedful.paper.request import Request
from heedful.paper.result import Claim, Events, Picture, Result, Table, claim

WIDTHS = (1, 4, 16, 64, 256, 1_024)
QUERIES, KEYS = 4_000, 16
NEAR = 0.05  # of a variance: 64,000 draws tell it to about a hundredth


class Measured(NamedTuple):
    """What becomes of random queries and keys of one width."""

    d_k: int
    variance: float
    """Of q·k, which the footnote says is d_k."""
    scaled_variance: float
    largest: float
    """The mean of the largest weight of the softmax over 16 keys, not scaled."""
    scaled_largest: float
    gradient: float
    """The mean norm of the softmax's derivative, not scaled."""
    scaled_gradient: float


def run(request: Request) -> Events:
    """Draw queries and keys whose components have mean 0 and variance 1, and look."""
    rows = tuple(measured(width) for width in WIDTHS)
    yield Result(
        name=request.name,
        title="Dot products, with and without 1/√d_k",
        tables=(
            Table(
                title=f"Variance, softmax over {KEYS} keys, norm of its derivative",
                columns=("d_k = printed variance", "variance", "scaled variance",
                         "top weight", "scaled", "gradient", "scaled"),
                rows=rows,
            ),
        ),
        scale=f"{QUERIES:,} queries and {KEYS} keys each, drawn from a normal distribution.",
        pictures=(
            Picture(
                name="scaling-of-scores",
                caption="Variance of scores and gradient of their softmax, by d_k",
                draw=lambda: _draw(rows),
            ),
        ),
        claims=_claims(rows),
    )  # fmt: skip


def _claims(rows: tuple[Measured, ...]) -> tuple[Claim, ...]:
    worst = max(abs(it.variance / it.d_k - 1) for it in rows)
    drift = max(abs(it.scaled_variance - 1) for it in rows)
    wide = rows[-1]
    return (
        claim(
            "If the components are independent with mean 0 and variance 1, q·k has mean 0 and "
            "variance d_k",
            "section 3.2.1, footnote 4",
            holds=worst < NEAR,
            printed="d_k",
            measured=f"within {100 * worst:.1f} % of d_k for d_k from 1 to {WIDTHS[-1]:,}",
        ),
        claim(
            "Dividing by √d_k makes the variance 1 for every d_k",
            "section 3.2.1, explanations",
            holds=drift < NEAR,
            printed="1",
            measured=f"within {drift:.3f} of 1",
        ),
        claim(
            "For large d_k the softmax is pushed into regions with extremely small gradients",
            "section 3.2.1",
            holds=wide.gradient < 0.2 * wide.scaled_gradient,
            printed="extremely small",
            measured=f"at d_k = {wide.d_k:,}: {wide.gradient:.3f} without scaling, "
            f"{wide.scaled_gradient:.3f} with it",
        ),
    )


def measured(d_k: int) -> Measured:
    """Measure one width."""
    random = torch.Generator().manual_seed(2017 + d_k)
    query = torch.randn(QUERIES, 1, d_k, generator=random)
    key = torch.randn(QUERIES, KEYS, d_k, generator=random)
    scores = (query * key).sum(-1)
    scaled = scores / math.sqrt(d_k)
    return Measured(
        d_k,
        float(scores.var()),
        float(scaled.var()),
        float(scores.softmax(-1).amax(-1).mean()),
        float(scaled.softmax(-1).amax(-1).mean()),
        gradient_norm(scores),
        gradient_norm(scaled),
    )


def gradient_norm(scores: Tensor) -> float:
    """Return the mean Frobenius norm of the softmax's derivative, diag(p) - ppᵀ."""
    p = scores.softmax(-1)
    derivative = torch.diag_embed(p) - p[:, :, None] * p[:, None, :]
    return float(derivative.norm(dim=(1, 2)).mean())


def _draw(rows: tuple[Measured, ...]) -> Any:
    from heedful.paper import style

    figure, (left, right) = style.panels(1, 2, height=3.0)
    widths = [it.d_k for it in rows]
    left.loglog(widths, [it.variance for it in rows], "o-", label="q·k")
    left.loglog(widths, [it.scaled_variance for it in rows], "s-", label="q·k / √d_k")
    left.loglog(widths, widths, ":", color=style.GREY, label="d_k")
    left.set_title("variance of scores")
    right.semilogx(widths, [it.gradient for it in rows], "o-", label="q·k")
    right.semilogx(widths, [it.scaled_gradient for it in rows], "s-", label="q·k / √d_k")
    right.set_ylim(0)
    right.set_title("gradient of the softmax")
    for axes in (left, right):
        axes.set_xlabel("d_k")
        axes.legend()
    return figure
