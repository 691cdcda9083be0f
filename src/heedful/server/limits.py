"""How much may be asked for at once."""

from dataclasses import dataclass, fields

from heedful.errors import ConfigError


@dataclass(frozen=True, kw_only=True)
class Limits:
    """What one request may ask for, and how much may wait. All of it is more than people need."""

    body: int = 4_000_000
    """Bytes of a request that is no file."""
    file: int = 20_000_000
    """Bytes of a file to translate."""
    file_characters: int = 5_000_000
    """Characters to translate in a file."""
    characters: int = 100_000
    """Characters of the texts of one request."""
    batch: int = 1_000
    """Texts of one request."""
    alternatives: int = 10
    """Other translations of a text."""
    beam: int = 16
    """Hypotheses kept at every step."""
    seconds: int = 60
    """A request takes at most, and a file ten times that."""
    waiting: int = 500_000
    """Characters that wait for a free worker; whoever comes then is asked to come again."""
    requests: int = 1_000
    """Requests at work at once."""
    cache: int = 10_000
    """Sentences whose translation is remembered."""
    receiving: int = 20
    """Seconds for a client to send a request, and to take in what it is sent."""

    def __post_init__(self) -> None:
        for field in fields(self):
            least = 0 if field.name in ("cache", "alternatives") else 1
            value = getattr(self, field.name)
            if value < least:
                raise ConfigError(f"--{field.name} must be {least} or more, got {value}")
