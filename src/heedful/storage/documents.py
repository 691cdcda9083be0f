"""JSON files that may come from a stranger: read as data of known types, or refused in a line."""

import json
import math
import stat
from collections.abc import Callable
from dataclasses import MISSING, fields, is_dataclass
from pathlib import Path
from types import UnionType
from typing import Any, TypeVar, cast, get_args, get_origin, get_type_hints

from heedful.errors import HeedfulError, ModelFolderError

Record = TypeVar("Record")

_MOST_BYTES = 1 << 26
_LARGEST = 1 << 53  # a whole number that every reader of JSON holds exactly
_SHOWN = 40  # characters of what was found

_WORDS: dict[object, str] = {
    int: "a whole number",
    float: "a number",
    bool: "true or false",
    str: "text",
    list: "a list",
    dict: "an object",
}


def read_record(kind: type[Record], path: Path) -> Record:
    """Read a dataclass from a file; names that it does not have are passed over."""
    return _as_record(kind, read_document(path), path)


def read_whole_record(kind: type[Record], path: Path) -> Record:
    """Read a dataclass from a file that may hold nothing else."""
    document = read_document(path)
    known = {field.name for field in fields(cast(Any, kind))}
    if unknown := sorted(document.keys() - known):
        raise ModelFolderError(
            f"{path}: unknown name '{unknown[0][:_SHOWN]}'; "
            "the model was made by a newer heedful, so upgrade"
        )
    return _as_record(kind, document, path)


def read_document(path: Path) -> dict[str, Any]:
    """Read an object from a file."""
    try:
        refuse_odd_file(path, most_bytes=_MOST_BYTES)
        document = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ModelFolderError(f"{path}: damaged, {error}; train or copy it again") from error
    except RecursionError as error:
        raise ModelFolderError(f"{path}: damaged, too deep; train or copy it again") from error
    if not isinstance(document, dict):
        raise ModelFolderError(f"{path}: damaged, not a JSON object; train or copy it again")
    return document


def refuse_odd_file(path: Path, *, most_bytes: int) -> None:
    """Refuse to read what is no file, such as a device, or is larger than it can be."""
    found = path.stat()
    if not stat.S_ISREG(found.st_mode):
        raise ModelFolderError(f"{path} is no file; train or copy it again")
    if found.st_size > most_bytes:
        raise ModelFolderError(
            f"{path}: damaged, {found.st_size:,} bytes are too many; train or copy it again"
        )


def _as_record(kind: type[Record], document: dict[str, Any], path: Path) -> Record:
    try:
        return cast(Record, _record(kind, document, ""))
    except ValueError as error:
        raise ModelFolderError(f"{path}: {error}; train or copy it again") from error
    except HeedfulError as error:  # sizes that cannot work
        raise ModelFolderError(f"{path}: {error}") from error


def _record(kind: Any, document: object, name: str) -> object:
    found, hints = _expect(dict, document, name), get_type_hints(kind)
    for field in fields(kind):
        is_needed = field.default is MISSING and field.default_factory is MISSING
        if is_needed and field.name not in found:
            raise ValueError(f"'{name}{field.name}' is missing")
    return kind(
        **{
            field.name: _read(hints[field.name], found[field.name], f"{name}{field.name}")
            for field in fields(kind)
            if field.name in found
        }
    )


def _read(kind: Any, value: object, name: str) -> object:
    """Read a value as a type: a dataclass, one of `_READERS`, `X | None`, `list` or `dict` of X."""
    if is_dataclass(kind):
        return _record(kind, value, f"{name}.")
    parts = get_args(kind)
    if get_origin(kind) is UnionType:
        return None if value is None else _read(parts[0], value, name)
    if get_origin(kind) is list:
        return [_read(parts[0], each, name) for each in _expect(list, value, name)]
    if get_origin(kind) is dict:
        return {
            key: _read(parts[1], each, name) for key, each in _expect(dict, value, name).items()
        }
    return _READERS[kind](value, name)


def _whole_number(value: object, name: str) -> int:
    found = _expect(int, value, name)
    if abs(found) > _LARGEST:
        raise _unlike(int, value, name)
    return cast(int, found)


def _number(value: object, name: str) -> float:
    if type(value) is int:
        return float(_whole_number(value, name))
    found = _expect(float, value, name)
    if not math.isfinite(found):
        raise _unlike(float, value, name)
    return cast(float, found)


def _expect(kind: type, value: object, name: str) -> Any:
    if type(value) is not kind:  # true and false are numbers to Python
        raise _unlike(kind, value, name)
    return value


def _unlike(kind: type, value: object, name: str) -> ValueError:
    found = (
        json.dumps(value) if isinstance(value, str | int | float | None) else _WORDS[type(value)]
    )
    return ValueError(f"'{name}' must be {_WORDS[kind]}, found {found[:_SHOWN]}")


_READERS: dict[object, Callable[[object, str], object]] = {
    int: _whole_number,
    float: _number,
    bool: lambda value, name: _expect(bool, value, name),
    str: lambda value, name: _expect(str, value, name),
    object: lambda value, name: value,
}
