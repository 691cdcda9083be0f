"""What a head measurably does in one sentence, in a word."""

from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

Kind = Literal["encoder", "decoder", "cross"]
Role = Literal["previous", "same", "next", "end", "start", "aligner", "broad", "mixed"]
_ENOUGH = 0.4  # of the weights, for a head to be named after them
_BROAD = 0.75  # of the entropy of looking everywhere alike


class Head(NamedTuple):
    """A head, and what it does: the role that most of its weights are spent on."""

    kind: Kind
    layer: int
    head: int
    role: Role
    share: float
    """Of the weights, spent so; for "broad", of the entropy of looking everywhere alike."""
    entropy: float
    """In bits, the mean over those who look: 0 is one place alone."""


def heads_of(
    kind: Kind, weights: NDArray[np.float32], aligned: Mapping[int, int] = MappingProxyType({})
) -> Iterator[Head]:
    """Name every head of [layer, head, who looks, at whom].

    For attention over the source, `aligned` has for a row the place that it belongs to.
    """
    for layer, of_layer in enumerate(weights.astype(np.float64)):
        for head, of_head in enumerate(of_layer):
            first = 1 if kind == "decoder" else 0  # BOS sees nothing but itself
            if len(of_head) == first:
                yield Head(kind, layer, head, "mixed", 0.0, 0.0)
                continue
            evenness, entropy = _evenness(of_head, first, hides_future=kind == "decoder")
            shares = _shares(kind, of_head, first, aligned)
            role = max(shares, key=lambda name: shares[name])
            share = shares[role]
            if share < _ENOUGH:
                role, share = ("broad" if evenness >= _BROAD else "mixed"), evenness
            yield Head(kind, layer, head, role, share, entropy)


def _shares(
    kind: Kind, weights: NDArray[np.float64], first: int, aligned: Mapping[int, int]
) -> dict[Role, float]:
    """Measure how much of the weights goes where."""
    start = _mean(weights[first:, 0])
    if kind == "cross":
        found = [weights[row, place] for row, place in aligned.items()]
        return {"aligner": _mean(found), "start": start, "end": _mean(weights[:, -1])}
    shares: dict[Role, float] = {
        "start": start,
        "previous": _mean(np.diagonal(weights, -1)),
        "same": _mean(np.diagonal(weights)[first:]),
    }
    if kind == "decoder":
        return shares
    return shares | {"next": _mean(np.diagonal(weights, 1)), "end": _mean(weights[:, -1])}


def _evenness(
    weights: NDArray[np.float64], first: int, *, hides_future: bool
) -> tuple[float, float]:
    """Return the mean share of the greatest entropy that there can be, and the mean in bits."""
    rows = weights[first:]
    entropies = -(rows * np.log2(np.maximum(rows, 1e-30))).sum(axis=1)
    num_visible = [
        row + 1 if hides_future else len(weights[0]) for row in range(first, len(weights))
    ]
    most = np.maximum(np.log2(num_visible), 1e-30)
    return float((entropies / most).mean()), float(entropies.mean())


def _mean(values: Sequence[float] | NDArray[np.float64]) -> float:
    return float(np.mean(values)) if len(values) else 0.0
