"""The sizes that fix the network."""

from dataclasses import dataclass
from typing import Any

from heedful.errors import ConfigError, near_miss, refuse_other

# Far above what fits anywhere, so that what is misspelt or ill-meant is not tried.
_MOST = {
    "vocab_size": 1 << 20,
    "num_layers": 1_000,
    "d_model": 1 << 17,
    "d_ff": 1 << 20,
    "num_heads": 1 << 12,
    "d_k": 1 << 17,
    "d_v": 1 << 17,
    "max_length": 1 << 24,
}


@dataclass(frozen=True, kw_only=True)
class ModelConfig:
    """Sizes of the Transformer. The defaults are the base model of table 3."""

    vocab_size: int
    """Pieces in the vocabulary that source and target share (section 5.1)."""

    num_layers: int = 6
    """N: layers in the encoder, and as many in the decoder (section 3.1)."""

    d_model: int = 512
    """Width of every embedding and sub-layer output (section 3.1)."""

    d_ff: int = 2048
    """Width inside the position-wise feed-forward network (section 3.3)."""

    num_heads: int = 8
    """h: attention heads (section 3.2.2)."""

    d_k: int = 0
    """Width of a head's queries and keys; 0 means d_model / h (section 3.2.2)."""

    d_v: int = 0
    """Width of a head's values; 0 means d_model / h (section 3.2.2)."""

    dropout: float = 0.1
    """P_drop, on each sub-layer output and on the summed embeddings (section 5.4)."""

    normalisation: str = "post"
    """LayerNorm "post", after the residual sum as printed (section 3.1), or "pre" the sub-layer."""

    positions: str = "interleaved"
    """Sinusoids "interleaved" as printed (section 3.5) or in "halves" as in the first public code,
    or "learned" vectors."""

    max_length: int = 1024
    """Rows of the table of learned positions (table 3, row E); sinusoids have no end."""

    def __post_init__(self) -> None:
        for name in ("vocab_size", "num_layers", "d_model", "d_ff", "num_heads", "max_length"):
            if getattr(self, name) < 1:
                raise ConfigError(f"{name} must be at least 1, got {getattr(self, name)}")
        for name, most in _MOST.items():
            if getattr(self, name) > most:
                raise ConfigError(f"{name} must be at most {most:,}, got {getattr(self, name):,}")
        if not 0 <= self.dropout <= 0.99:
            raise ConfigError(f"dropout must be from 0 to 0.99, got {self.dropout}")
        refuse_other("normalisation", self.normalisation, ("post", "pre"))
        refuse_other("positions", self.positions, ("interleaved", "halves", "learned"))
        self._divide_among_heads()

    def _divide_among_heads(self) -> None:
        """Fill in d_k and d_v where they are d_model / h."""
        if not (self.d_k and self.d_v) and self.d_model % self.num_heads:
            raise ConfigError(
                f"num_heads must divide d_model, but {self.d_model} / {self.num_heads} leaves "
                f"{self.d_model % self.num_heads}; or give d_k and d_v"
            )
        for name in ("d_k", "d_v"):
            if getattr(self, name) < 0:
                raise ConfigError(f"{name} must not be negative, got {getattr(self, name)}")
            if not getattr(self, name):
                object.__setattr__(self, name, self.d_model // self.num_heads)
        if self.d_model % 2 and self.positions != "learned":
            raise ConfigError(
                f"d_model must be even to pair sines with cosines, got {self.d_model}"
            )


PRESETS: dict[str, dict[str, Any]] = {
    "mini": {"num_layers": 2, "d_model": 96, "d_ff": 192, "num_heads": 4},
    "tiny": {"num_layers": 4, "d_model": 128, "d_ff": 256, "num_heads": 4},
    "small": {"num_layers": 6, "d_model": 256, "d_ff": 1024, "num_heads": 4},
    "base": {},
    "big": {"d_model": 1024, "d_ff": 4096, "num_heads": 16, "dropout": 0.3},
}
"""Sizes by name; `base` and `big` are those of table 3."""

SIZE_NAMES = {"preset", "num_layers", "d_model", "d_ff", "num_heads", "d_k", "d_v"}
"""What every preset decides: naming one in a recipe sets aside what was said of these before."""


def preset(name: str, **changes: Any) -> ModelConfig:
    """Return the sizes of a preset, with changes."""
    if name not in PRESETS:
        raise ConfigError(f"unknown preset '{name}'; {near_miss(name, PRESETS)}")
    return ModelConfig(**(PRESETS[name] | changes))
