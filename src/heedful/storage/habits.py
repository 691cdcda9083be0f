"""What outputs are like that a model was trained on, by which a loop is told from a habit."""

from dataclasses import dataclass

from heedful.errors import ConfigError


@dataclass(frozen=True, kw_only=True)
class Habits:
    """How often outputs repeat themselves, and how long they are; by default what is usual."""

    most_turns: int = 4
    """How often the same pieces come in a row, as in "no, no, no, no"."""
    longest_ratio: float = 3.0
    """How many times the pieces of its source an output has, some pieces granted."""

    def __post_init__(self) -> None:
        if type(self.most_turns) is not int or not 1 <= self.most_turns < 1 << 20:
            raise ConfigError(f"most_turns must be a number from 1, got {self.most_turns!r}")
        is_number = type(self.longest_ratio) in (int, float)
        if not is_number or not 1 <= self.longest_ratio < 1 << 20:
            raise ConfigError(f"longest_ratio must be a number from 1, got {self.longest_ratio!r}")
