"""The Transformer (section 3) in NumPy, which tells of every matrix on its way.

It reads beside model/transformer.py, and needs no torch. One sentence is read at a time; the rows
of a batch are hypotheses of it, so nothing is padded.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heedful.model.config import ModelConfig

Array = NDArray[np.float32]
Keep = Callable[[str, Array], None]
"""Told of a matrix by name, as in page/transformer.js: "encoder.0.weights", "cross.1.query", ..."""

_LAYER_NORM_EPSILON = 1e-6  # as in model/transformer.py


def _keep_nothing(name: str, value: Array) -> None:
    pass


@dataclass(frozen=True)
class KeyValue:
    """What positions offer to those that look at them: [row, head, seen, width]."""

    key: Array
    value: Array

    def append(self, newer: "KeyValue") -> "KeyValue":
        """Join the positions of `newer` after ours."""
        joined = [
            np.concatenate(pair, axis=2)
            for pair in ((self.key, newer.key), (self.value, newer.value))
        ]
        return KeyValue(*joined)


@dataclass(frozen=True)
class NetworkState:
    """A source that was read, and rows of half-written translations."""

    source: tuple[KeyValue, ...]
    past: tuple[KeyValue, ...]
    length: int = 0

    def select(self, rows: Sequence[int]) -> "NetworkState":
        """Keep the given rows, in the given order."""
        chosen = np.array(rows, dtype=np.intp)
        past = tuple(KeyValue(it.key[chosen], it.value[chosen]) for it in self.past)
        return NetworkState(self.source, past, self.length)


class Network:
    """Source ids and target ids in, a score for every next piece out (figure 1)."""

    def __init__(self, config: ModelConfig, weights: Mapping[str, NDArray[Any]]) -> None:
        self.config = config
        self._weights = {name: np.asarray(it, dtype=np.float32) for name, it in weights.items()}

    def encode(self, source: Sequence[int], keep: Keep = _keep_nothing) -> NetworkState:
        """Read a source, EOS at its end, once; the state can be decoded any number of times."""
        x = self._embed([source], 0, "encoder", keep)
        for layer in range(self.config.num_layers):
            x = self._attend(x, f"encoder.{layer}.self_attention", f"encoder.{layer}", keep)
            x = self._feed_forward(x, f"encoder.{layer}.", keep)
        x = self._top(x, "encoder", keep)
        modules = [f"decoder.{i}.source_attention" for i in range(self.config.num_layers)]
        offers = tuple(self._offer(x, module) for module in modules)
        nothing = tuple(KeyValue(it.key[:, :, :0], it.value[:, :, :0]) for it in offers)
        return NetworkState(offers, nothing)

    def decode(
        self, rows: Sequence[Sequence[int]], state: NetworkState, keep: Keep = _keep_nothing
    ) -> tuple[Array, NetworkState]:
        """Write after the state: a whole target (teacher forcing), or one position in search."""
        x = self._embed(rows, state.length, "decoder", keep)
        past = []
        for layer in range(self.config.num_layers):
            module = f"decoder.{layer}.self_attention"
            ready = self._before(x, module, f"decoder.{layer}", keep)
            seen = state.past[layer].append(self._offer(ready, module))
            past.append(seen)
            x = self._attend(x, module, f"decoder.{layer}", keep, seen, hides_future=True)
            module = f"decoder.{layer}.source_attention"
            x = self._attend(x, module, f"cross.{layer}", keep, state.source[layer])
            x = self._feed_forward(x, f"decoder.{layer}.", keep)
        length = state.length + len(rows[0])
        return self._top(x, "decoder", keep), NetworkState(state.source, tuple(past), length)

    def log_probabilities(self, x: Array) -> Array:
        """Score every piece by the matrix that also embeds it (section 3.4), and normalise."""
        scores = x @ self._weights["embedding.weight"].T
        scores -= scores.max(axis=-1, keepdims=True)
        return _float32(scores - np.log(np.exp(scores).sum(axis=-1, keepdims=True)))

    def _embed(self, rows: Sequence[Sequence[int]], start: int, stack: str, keep: Keep) -> Array:
        ids = np.array(rows, dtype=np.intp)
        embedding = self._weights["embedding.weight"][ids] * math.sqrt(self.config.d_model)
        positions = self._positions(np.arange(start, start + ids.shape[1]))
        keep(f"{stack}.embedding", embedding)
        keep(f"{stack}.positions", positions[None])
        return _float32(embedding + positions)

    def _positions(self, places: NDArray[np.intp]) -> Array:
        config = self.config
        if config.positions == "learned":
            return self._weights["positions.learned"][places]
        half = np.arange(config.d_model // 2)
        is_halves = config.positions == "halves"
        exponents = half / max(len(half) - 1, 1) if is_halves else 2 * half / config.d_model
        angles = places[:, None] / 10_000**exponents
        waves = [np.sin(angles), np.cos(angles)]
        if is_halves:
            return _float32(np.concatenate(waves, axis=-1))
        return _float32(np.stack(waves, axis=-1).reshape(len(places), -1))

    def _attend(
        self,
        x: Array,
        module: str,
        name: str,
        keep: Keep,
        seen: KeyValue | None = None,
        *,
        hides_future: bool = False,
    ) -> Array:
        """Let each position of `x` gather from those `seen`, by default its own (section 3.2)."""
        ready = self._before(x, module, name, keep)
        seen = seen or self._offer(ready, module)
        query = self._split(self._linear(ready, f"{module}.query"))
        scores = query @ seen.key.swapaxes(-1, -2) / math.sqrt(self.config.d_k)
        if hides_future:
            num_new, num_seen = scores.shape[-2:]
            visible = np.tri(num_new, num_seen, num_seen - num_new, dtype=bool)
            scores = np.where(visible, scores, np.float32(-np.inf))
        weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
        weights /= weights.sum(axis=-1, keepdims=True)
        gathered = weights @ seen.value
        kept = {"query": query, "key": seen.key, "value": seen.value, "weights": weights}
        for part, value in kept.items():
            keep(f"{name}.{part}", value)
        joined = gathered.swapaxes(1, 2).reshape(*x.shape[:2], -1)
        return self._after(x, self._linear(joined, f"{module}.output"), module, name, keep)

    def _offer(self, x: Array, module: str) -> KeyValue:
        projected = (self._linear(x, f"{module}.{part}") for part in ("key", "value"))
        return KeyValue(*map(self._split, projected))

    def _feed_forward(self, x: Array, path: str, keep: Keep) -> Array:
        """Equation 2, FFN(x) = max(0, xW₁ + b₁)W₂ + b₂ (section 3.3)."""
        module, name = f"{path}feed_forward", f"{path}ffn"
        hidden = np.maximum(self._linear(self._before(x, module, name, keep), f"{module}.0"), 0)
        keep(f"{name}.hidden", hidden)
        return self._after(x, self._linear(hidden, f"{module}.2"), module, name, keep)

    def _before(self, x: Array, module: str, name: str, keep: Keep) -> Array:
        return self._norm(x, _around(module)) if self.config.normalisation == "pre" else x

    def _after(self, x: Array, change: Array, module: str, name: str, keep: Keep) -> Array:
        total = x + change
        output = total if self.config.normalisation == "pre" else self._norm(total, _around(module))
        keep(f"{name}.output", output)
        return output

    def _top(self, x: Array, stack: str, keep: Keep) -> Array:
        is_pre = self.config.normalisation == "pre"  # then nothing has normalised the top
        x = self._norm(x, f"{stack}_norm") if is_pre else x
        keep(f"{stack}.output", x)
        return x

    def _split(self, x: Array) -> Array:
        return x.reshape(*x.shape[:2], self.config.num_heads, -1).swapaxes(1, 2)

    def _linear(self, x: Array, name: str) -> Array:
        return x @ self._weights[f"{name}.weight"].T + self._weights[f"{name}.bias"].reshape(-1)

    def _norm(self, x: Array, name: str) -> Array:
        gain, bias = (self._weights[f"{name}.{part}"].reshape(-1) for part in ("weight", "bias"))
        variance = x.var(axis=-1, keepdims=True) + _LAYER_NORM_EPSILON
        return _float32((x - x.mean(axis=-1, keepdims=True)) / np.sqrt(variance) * gain + bias)


def _around(module: str) -> str:
    """Name the norm around a sub-layer: decoder.0.around_self_attention.norm, and so on."""
    path, _, part = module.rpartition(".")
    return f"{path}.around_{part}.norm"


def _float32(values: NDArray[Any]) -> Array:
    return values.astype(np.float32, copy=False)
