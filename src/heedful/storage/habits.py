"""What outputs are like that a model was trained on, by which a loop is told from a habit."""

from dataclasses import dataclass

from heedful.errors import ConfigError

_MOST = 1 << 20


@dataclass(frozen=True, kw_only=True)
class Habits:
    """How often outputs repeat themselves, and how long they are; by default what is usual."""

    most_turns: int = 4
    """How often the same pieces come in a row, as in "no, no, no, no"."""
    longest_ratio: float = 3.0
    """How many times the pieces of its source an output has, some pieces granted."""

    def __post_init__(self) -> None:
        for name, value in (("most_turns", self.most_turns), ("longest_ratio", self.longest_ratio)):
            if not 1 <= value < _MOST:
                raise ConfigError(f"{name} must be from 1 to {_MOST:,}, got {value}")
