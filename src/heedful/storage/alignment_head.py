"""Which attention over the source tells what a word of the translation translates."""

from dataclasses import dataclass

from heedful.errors import ConfigError
from heedful.model.config import ModelConfig


@dataclass(frozen=True, kw_only=True)
class AlignmentHead:
    """One head of one decoder layer, or the mean of all heads of it."""

    layer: int
    """Counted from 0."""
    head: int | None = None
    """Counted from 0; None is the mean of all."""
    shift: int = 0
    """0: a piece is where the decoder looked to write it; 1: where it looked having read it."""
    agreement: float | None = None
    """The share of words for which it agreed with a statistical aligner, if it was chosen so."""

    def check(self, config: ModelConfig) -> None:
        """Refuse a head that such a model does not have."""
        head = 0 if self.head is None else self.head
        if not (0 <= self.layer < config.num_layers and 0 <= head < config.num_heads):
            raise ConfigError(
                f"there is no head {self.head} in layer {self.layer} of {config.num_layers} layers "
                f"with {config.num_heads} heads, counted from 0"
            )
        if self.shift not in (0, 1):
            raise ConfigError(f"shift must be 0 or 1, got {self.shift}")


def usual_head(config: ModelConfig) -> AlignmentHead:
    """Return the layer below the last, in which attention mostly follows meaning."""
    return AlignmentHead(layer=max(config.num_layers - 2, 0))
