"""What a client sends: JSON, a form, parts, or all of it in the address."""

import json
from collections.abc import AsyncGenerator
from dataclasses import dataclass, field
from typing import Any, NoReturn
from urllib.parse import parse_qsl

from starlette.datastructures import UploadFile
from starlette.formparsers import MultiPartException, MultiPartParser
from starlette.requests import ClientDisconnect, Request

from heedful.errors import HeedfulError
from heedful.server.refusal import RefusedError
from heedful.text.normalise import refuse_halves

_MOST_FIELDS = 2_000


@dataclass
class Sent:
    """What was sent with a request."""

    values: dict[str, Any]
    is_json: bool = False
    files: dict[str, tuple[str, bytes]] = field(default_factory=dict)
    """By the name of the field: the name of the file, and what is in it."""
    lists: dict[str, list[str]] = field(default_factory=dict)
    """All values of a field that came several times."""


async def read(request: Request, most_bytes: int) -> Sent:
    """Read all that a request says; what stands in the address goes before its body."""
    if request.headers.get("content-encoding", "identity").strip().lower() != "identity":
        raise RefusedError(415, "Invalid request: a compressed body is not read; send it as it is")
    body = await _body(request, most_bytes)
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if request.method in ("GET", "HEAD"):
        sent = _form(body if kind == "application/x-www-form-urlencoded" else b"")
    elif kind == "application/json" or kind.endswith("+json"):
        sent = Sent(read_json(body), is_json=True)
    elif kind == "multipart/form-data":
        sent = await _parts(request, body)
    elif kind == "application/x-www-form-urlencoded" or not body:
        sent = _form(body)
    else:
        raise RefusedError(
            415, "Invalid request: send JSON or a form, and say which by Content-Type"
        )
    address = _form(request.scope.get("query_string", b""))
    sent.values |= address.values
    sent.lists |= address.lists
    return sent


def read_json(body: bytes) -> dict[str, Any]:
    """Read an object of JSON; what only some readers take for JSON is none."""
    try:
        text = body.decode()
        found = json.loads(text, parse_constant=_no_json, parse_float=_number)
        if "\\u" in text:  # which may spell half a character
            refuse_halves(json.dumps(found, ensure_ascii=False))
    except (ValueError, RecursionError, HeedfulError) as error:
        raise RefusedError(400, "Invalid JSON format") from error
    if not isinstance(found, dict):
        raise RefusedError(400, "Invalid JSON format")
    return found


async def _body(request: Request, most_bytes: int) -> bytes:
    """Take in a body that fits; of one that does not no more than that is taken in."""
    stated = request.headers.get("content-length", "0")
    if not stated.isdecimal() or int(stated[:20]) > most_bytes:
        raise _too_large(most_bytes)
    parts, size = [], 0
    try:
        async for part in request.stream():
            size += len(part)
            if size > most_bytes:
                raise _too_large(most_bytes)
            parts.append(part)
    except ClientDisconnect as error:
        raise RefusedError(400, "Invalid request: it ended early") from error
    return b"".join(parts)


def _too_large(most_bytes: int) -> RefusedError:
    return RefusedError(
        413,
        f"Invalid request: larger than {most_bytes:,} bytes, which is the limit",
        {"Connection": "close"},
    )


def _form(body: bytes) -> Sent:
    """Read a form; bytes that are not spelt out are UTF-8 as well."""
    try:
        pairs = parse_qsl(
            body.decode(), keep_blank_values=True, errors="strict", max_num_fields=_MOST_FIELDS
        )
    except ValueError as error:
        raise RefusedError(400, "Invalid request: the form is not valid UTF-8") from error
    return _sent(pairs)


def _sent(pairs: list[tuple[str, str]]) -> Sent:
    lists: dict[str, list[str]] = {}
    for name, value in pairs:
        lists.setdefault(name, []).append(value)
    return Sent({name: values[0] for name, values in lists.items()}, lists=lists)


class _InMemory(MultiPartParser):
    """Keeps files in memory, where a full disk cannot lose them; the body is bounded."""

    spool_max_size = 1 << 40


async def _parts(request: Request, body: bytes) -> Sent:
    async def stream() -> AsyncGenerator[bytes, None]:
        yield body
        yield b""

    parser = _InMemory(
        request.headers,
        stream(),
        max_files=10,
        max_fields=_MOST_FIELDS,
        max_part_size=len(body) + 1,
    )
    try:
        form = await parser.parse()
    except (MultiPartException, UnicodeError) as error:
        raise RefusedError(400, "Invalid request: the parts of the form cannot be read") from error
    found = form.multi_items()
    sent = _sent([(name, value) for name, value in found if isinstance(value, str)])
    for name, value in found:
        if isinstance(value, UploadFile):
            sent.files[name] = (value.filename or "", await value.read())
            await value.close()
    try:
        for text in (*sent.values.values(), *(name for name, _ in sent.files.values())):
            refuse_halves(text)
    except HeedfulError as error:
        raise RefusedError(400, "Invalid request: not valid Unicode") from error
    return sent


def _number(spelt: str) -> int | float:
    """Read 2.0 as the whole number that it is to JSON."""
    number = float(spelt)
    return int(number) if number.is_integer() and abs(number) < 2**53 else number


def _no_json(constant: str) -> NoReturn:
    raise ValueError(constant)
