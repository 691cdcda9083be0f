"""From which languages to which a model translates."""

from dataclasses import dataclass
from functools import cache


@dataclass(frozen=True)
class Direction:
    """From one language to another, by their codes; an empty one is not stated."""

    from_language: str
    to_language: str

    def __str__(self) -> str:
        return f"{self.from_language or '?'}-{self.to_language or '?'}"

    def exchanged(self) -> "Direction":
        """Return the opposite way."""
        return Direction.of(self.to_language, self.from_language)

    @staticmethod
    @cache
    def of(from_language: str, to_language: str) -> "Direction":
        """Return the one object there is for two languages, as a corpus names them often."""
        return Direction(from_language, to_language)


UNSTATED = Direction("", "")
