"""Keys of those who may translate: a file that holds what they hash to, and what each may use."""

import hashlib
import hmac
import json
import secrets
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from heedful.errors import ConfigError, HeedfulError, refuse_other_type
from heedful.server.refusal import RefusedError, too_much
from heedful.storage.partial_file import PartialFile

_PREFIX = "hf_"
_MOST_BYTES = 10_000_000
_DAY = 86_400


@dataclass(frozen=True, kw_only=True)
class Key:
    """Who may translate, and how much. The key itself is nowhere."""

    name: str
    sha256: str
    """Of the key, which has 256 bits of chance in it, so there is nothing to guess."""
    created: str
    requests_per_minute: int | None = None
    characters_per_day: int | None = None

    def __post_init__(self) -> None:
        for name in ("name", "sha256", "created"):
            refuse_other_type(name, getattr(self, name), str)
        for name in ("requests_per_minute", "characters_per_day"):
            value = getattr(self, name)
            refuse_other_type(name, value, int, None)
            if value is not None and value < 1:
                raise ConfigError(f"{name} must be 1 or more, got {value}")


class KeyFile:
    """A file of keys."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def read(self) -> list[Key]:
        """Read all keys; a file that is not one of keys is an error."""
        try:
            if self.path.stat().st_size > _MOST_BYTES:
                raise ValueError("it is too large")
            found = json.loads(self.path.read_bytes())
            return [Key(**entry) for entry in found["keys"]]
        except FileNotFoundError as error:
            raise ConfigError(
                f"{self.path}: no such file; make it with: heedful keys add {self.path} NAME"
            ) from error
        except OSError as error:
            raise ConfigError(f"{self.path}: cannot be read, {error.strerror}") from error
        except (ValueError, TypeError, LookupError, RecursionError, HeedfulError) as error:
            raise ConfigError(f"{self.path}: is no file of keys, {error!s:.100}") from error

    def add(self, name: str, **limits: int | None) -> str:
        """Add a key, and return it; it cannot be shown again."""
        keys = self.read() if self.path.exists() else []
        if any(key.name == name for key in keys):
            raise ConfigError(f"{self.path}: there is a key of the name '{name}'; choose another")
        if not name.isprintable() or not name.strip():
            raise ConfigError(f"a key needs a name that can be read, got {name!r:.60}")
        secret = _PREFIX + secrets.token_urlsafe(32)
        created = datetime.now(UTC).isoformat(timespec="seconds")
        self._write([*keys, Key(name=name, sha256=digest(secret), created=created, **limits)])
        return secret

    def remove(self, name: str) -> None:
        """Remove a key; a server that runs heeds it from its next request on."""
        keys = self.read()
        left = [key for key in keys if key.name != name]
        if len(left) == len(keys):
            known = ", ".join(f"'{key.name}'" for key in keys)
            raise ConfigError(
                f"{self.path}: no key is named '{name}'; there are: {known or 'none'}"
            )
        self._write(left)

    def _write(self, keys: list[Key]) -> None:
        if not self.path.exists():
            try:
                self.path.touch(mode=0o600)
            except OSError as error:
                raise ConfigError(f"{self.path}: cannot be made, {error.strerror}") from error
        with PartialFile(self.path).begun() as file:
            file.write((json.dumps({"keys": list(map(asdict, keys))}, indent=1) + "\n").encode())


def digest(secret: str) -> str:
    """Return what is kept of a key."""
    return hashlib.sha256(secret.encode(errors="replace")).hexdigest()


class Keyring:
    """The keys of a server, read again whenever their file has changed."""

    def __init__(self, file: KeyFile) -> None:
        self._file = file
        self._keys = file.read()
        self._seen = self._stamp()

    def find(self, secret: str) -> Key | None:
        """Find a key; it takes as long whichever it is, and whether it is one."""
        self._read_again()
        given = digest(secret)
        found = None
        for key in self._keys:
            if hmac.compare_digest(key.sha256, given):
                found = key
        return found

    def _read_again(self) -> None:
        if (stamp := self._stamp()) == self._seen:
            return
        try:
            self._keys = self._file.read()
        except ConfigError:
            return  # it is being written, or is broken: those that were known stay so
        self._seen = stamp

    def _stamp(self) -> tuple[int, int, int]:
        try:
            found = self._file.path.stat()
        except OSError:
            return 0, 0, 0
        return found.st_mtime_ns, found.st_size, found.st_ino


@dataclass
class _Used:
    """What a key has used."""

    tokens: float
    at: float
    day: int = 0
    characters: int = 0


@dataclass
class Usage:
    """What keys have used: requests in a minute, and characters today (UTC)."""

    clock: Callable[[], float] = time.time
    _used: dict[str, _Used] = field(default_factory=dict)

    def count_request(self, key: Key) -> None:
        """Count a request; too many in a minute are refused."""
        if key.requests_per_minute is None:
            return
        used, now = self._of(key), self.clock()
        per_second = key.requests_per_minute / 60
        refilled = used.tokens + max(now - used.at, 0.0) * per_second
        used.tokens, used.at = min(refilled, float(key.requests_per_minute)), now
        if used.tokens < 1:
            seconds = int((1 - used.tokens) / per_second) + 1
            raise too_much(f"Slowdown: {key.requests_per_minute} per 1 minute", seconds)
        used.tokens -= 1

    def count_characters(self, key: Key, characters: int, status: int = 429) -> None:
        """Count characters; more than a day's are refused."""
        used = self._of(key)
        most = key.characters_per_day
        if most is not None and used.characters + characters > most:
            left = _DAY - int(self.clock()) % _DAY
            reason = f"Slowdown: {most} characters per 1 day"
            raise RefusedError(status, reason, {"Retry-After": str(left)})
        used.characters += characters

    def characters_today(self, key: Key) -> int:
        """Return how many characters a key has used today."""
        return self._of(key).characters

    def _of(self, key: Key) -> _Used:
        now = self.clock()
        new = _Used(tokens=float(key.requests_per_minute or 0), at=now)
        used = self._used.setdefault(key.sha256, new)
        today = int(now) // _DAY
        if used.day != today:
            used.day, used.characters = today, 0
        return used
