"""What the fields of a request may be: said once, by which they are checked and described."""

import math
from collections.abc import Mapping
from typing import Any

from heedful.server.refusal import RefusedError

Schema = dict[str, Any]
"""As JSON Schema has it, of which those keywords are used that are checked here."""

_TYPES: dict[str, tuple[type, ...]] = {
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "array": (list,),
    "object": (dict,),
}


def text_schema(most: int | None = None, **more: Any) -> Schema:
    """Describe a text."""
    return {"type": "string", **({"maxLength": most} if most else {}), **more}


def object_schema(fields: Mapping[str, Schema], *required: str, is_strict: bool = False) -> Schema:
    """Describe an object."""
    closed: Schema = {"additionalProperties": False} if is_strict else {}
    needed: Schema = {"required": list(required)} if required else {}
    return {"type": "object", "properties": dict(fields), **needed, **closed}


def check(value: Any, schema: Schema, name: str = "request") -> None:
    """Refuse a value that is not as it is described."""
    if "anyOf" in schema:
        _check_any(value, schema["anyOf"], name)
        return
    kinds = _TYPES[schema["type"]]
    if not isinstance(value, kinds) or (isinstance(value, bool) and bool not in kinds):
        raise _wrong(name, f"must be of type {schema['type']}")
    if isinstance(value, str):
        _check_text(value, schema, name)
    elif isinstance(value, list):
        _check_list(value, schema, name)
    elif isinstance(value, dict):
        _check_object(value, schema, name)
    elif isinstance(value, int | float) and not isinstance(value, bool):
        _check_number(value, schema, name)


def _check_any(value: Any, schemas: list[Schema], name: str) -> None:
    for schema in schemas:
        if isinstance(value, _TYPES[schema["type"]]):
            check(value, schema, name)
            return
    raise _wrong(name, "must be of type " + " or ".join(schema["type"] for schema in schemas))


def _check_text(value: str, schema: Schema, name: str) -> None:
    if "enum" in schema and value not in schema["enum"]:
        raise _wrong(name, f"must be one of {', '.join(schema['enum'])}")
    if len(value) < schema.get("minLength", 0):
        raise _wrong(name, "must not be empty")
    if len(value) > schema.get("maxLength", math.inf):
        raise _wrong(name, f"must have {schema['maxLength']} characters at most")


def _check_number(value: int | float, schema: Schema, name: str) -> None:
    least, most = schema.get("minimum", -math.inf), schema.get("maximum", math.inf)
    if not least <= value <= most or math.isinf(value):
        raise _wrong(name, f"must be from {least} to {most}")


def _check_list(value: list[Any], schema: Schema, name: str) -> None:
    if len(value) < schema.get("minItems", 0):
        raise _wrong(name, "must not be empty")
    if len(value) > schema.get("maxItems", math.inf):
        raise _wrong(name, f"must have {schema['maxItems']} items at most")
    for item in value:
        check(item, schema["items"], f"each of {name}")


def _check_object(value: dict[str, Any], schema: Schema, name: str) -> None:
    fields = schema.get("properties", {})
    others = schema.get("additionalProperties", True)
    for required in schema.get("required", ()):
        if required not in value:
            raise _wrong(required, "is missing")
    if len(value) > schema.get("maxProperties", math.inf):
        raise _wrong(name, f"must have {schema['maxProperties']} entries at most")
    for key, item in value.items():
        if key in fields:
            check(item, fields[key], key)
        elif others is False:
            raise _wrong(
                name, f"has a field that is not known; those known are {', '.join(fields)}"
            )
        elif isinstance(others, dict):
            check(item, others, f"each of {name}")


def _wrong(name: str, what: str) -> RefusedError:
    return RefusedError(422, f"Invalid request: {name} {what}")
