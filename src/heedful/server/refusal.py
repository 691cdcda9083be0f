"""What a request is refused by; each interface says it in a form of its own."""

from collections.abc import Mapping


class RefusedError(Exception):
    """A request that is not answered: with which status, and why."""

    def __init__(self, status: int, reason: str, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(reason)
        self.status, self.reason, self.headers = status, reason, dict(headers or {})


def too_much(reason: str, seconds: int) -> RefusedError:
    """Refuse for now, and say when to come again."""
    return RefusedError(429, reason, {"Retry-After": str(seconds)})
