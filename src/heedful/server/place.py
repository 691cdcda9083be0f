"""Where a server listens, and whom it believes."""

from collections.abc import Sequence
from dataclasses import dataclass

from heedful.errors import ConfigError


@dataclass(frozen=True, kw_only=True)
class Place:
    """Where to listen; what comes from elsewhere is believed only where that is said."""

    host: str = "127.0.0.1"
    port: int = 5000
    allow_origins: Sequence[str] = ()
    """Web sites whose pages may ask."""
    proxy_headers: bool = False
    """Whether a proxy stands before it, that tells who is asking."""

    def __post_init__(self) -> None:
        if not 0 <= self.port <= 65_535:
            raise ConfigError(f"--port must be from 0 to 65535, got {self.port}")
        for origin in self.allow_origins:
            if origin != "*" and not origin.startswith(("http://", "https://")):
                raise ConfigError(f"--allow-origin must be as in https://a.b, got '{origin}'")
