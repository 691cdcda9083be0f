"""One thing that can be asked for: where, what it takes and answers, and what does it."""

import json
from collections.abc import Awaitable, Callable, Hashable, Mapping
from dataclasses import dataclass, field
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from heedful.server.keys import Key
from heedful.server.reading import Sent
from heedful.server.refusal import RefusedError
from heedful.server.schema import Schema
from heedful.server.service import Service


@dataclass(frozen=True)
class Interface:
    """How an interface says what goes wrong."""

    name: str
    error: str
    """The name under which it gives the reason."""
    without_key: int
    """Status where a key is missing."""
    used_up: int
    """Status where the characters of a day are used up."""

    def refused(self, status: int, reason: str, headers: Mapping[str, str]) -> Response:
        """Write why a request is refused."""
        return answer({self.error: reason}, status, headers)


LIBRETRANSLATE = Interface("LibreTranslate", "error", 400, 429)
DEEPL = Interface("DeepL", "message", 403, 456)
OURS = Interface("heedful", "error", 401, 429)


@dataclass(frozen=True)
class Asked:
    """A request that was read."""

    request: Request
    sent: Sent
    service: Service
    client: Hashable
    """Who takes turns with others: by key, or else by address."""
    key: Key | None = None
    interface: Interface = OURS

    def count(self, characters: int) -> None:
        """Count characters for the key that was given, if one was."""
        if self.key:
            self.service.usage.count_characters(self.key, characters, self.interface.used_up)


@dataclass(frozen=True, kw_only=True)
class Operation:
    """An operation of an interface, as it is run and described."""

    interface: Interface
    method: str
    path: str
    summary: str
    run: Callable[[Asked], Awaitable[Response]]
    takes: Mapping[str, Schema] = field(default_factory=dict)
    """What the body may be, by its type."""
    parameters: tuple[Schema, ...] = ()
    gives: Schema | None = None
    """What is answered, as JSON unless it is of another type."""
    gives_type: str = "application/json"
    errors: tuple[int, ...] = ()
    needs_key: bool = True
    takes_file: bool = False


def answer(value: Any, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    """Write an answer as JSON."""
    content = json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()
    return Response(content, status, dict(headers or {}), "application/json")


def secret_of(request: Request, sent: Sent) -> str:
    """Return the key that a client gives, in any of the places where clients give it."""
    scheme, _, given = request.headers.get("authorization", "").partition(" ")
    if scheme.lower() in ("bearer", "deepl-auth-key"):
        return given.strip()
    for name in ("api_key", "apiKey", "auth_key"):
        if isinstance(value := sent.values.get(name), str) and value:
            return value
    return ""


def checked_key(asked: Asked, operation: Operation) -> Key | None:
    """Find the key of a request and count it; without keys anybody may ask."""
    keyring = asked.service.keyring
    if keyring is None or not operation.needs_key:
        return None
    secret = secret_of(asked.request, asked.sent)
    if not secret:
        raise RefusedError(
            operation.interface.without_key,
            "Please contact the server operator to get an API key",
            {"WWW-Authenticate": "Bearer"} if operation.interface.without_key == 401 else {},
        )
    if (key := keyring.find(secret)) is None:
        raise RefusedError(403, "Invalid API key")
    asked.service.usage.count_request(key)
    return key
