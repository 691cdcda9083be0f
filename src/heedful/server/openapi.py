"""The description of all operations, by OpenAPI 3.1, which is made of what they themselves say."""

import re
from collections.abc import Sequence
from typing import Any

from heedful import __version__
from heedful.server.operation import Operation
from heedful.server.schema import object_schema, text_schema

_REASONS = {
    400: "Something is wrong with the request",
    401: "A key is needed",
    403: "The key is wrong, or this is not allowed",
    404: "There is no such thing",
    413: "Too large",
    415: "Of a kind that is not read",
    422: "A field is missing, unknown or wrong",
    429: "Too much at once; Retry-After says when to come again",
    456: "The characters of the day are used up",
}


def described(operations: Sequence[Operation]) -> dict[str, Any]:
    """Describe operations."""
    paths: dict[str, Any] = {}
    for operation in operations:
        paths.setdefault(operation.path, {})[operation.method.lower()] = _operation(operation)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "heedful",
            "version": __version__,
            "summary": "Translation: the interfaces of LibreTranslate and DeepL, and our own",
        },
        "paths": paths,
        "components": {
            "securitySchemes": {"key": {"type": "http", "scheme": "bearer"}},
        },
    }


def _operation(operation: Operation) -> dict[str, Any]:
    name = re.sub(r"\W+", "_", f"{operation.method.lower()}{operation.path}").strip("_")
    errors = {400, *operation.errors}
    if operation.takes:
        errors |= {413, 415, 422}
    if operation.needs_key:
        errors |= {operation.interface.without_key, 403, 429, operation.interface.used_up}
    written: dict[str, Any] = {
        "operationId": name,
        "tags": [operation.interface.name],
        "summary": operation.summary,
        "responses": {
            _status(operation): {
                "description": "Done",
                "content": {operation.gives_type: {"schema": operation.gives or {}}},
            },
            **{str(status): _error(operation, status) for status in sorted(errors)},
        },
    }
    if operation.parameters:
        written["parameters"] = list(operation.parameters)
    if operation.takes:
        content = {kind: {"schema": schema} for kind, schema in operation.takes.items()}
        written["requestBody"] = {"required": True, "content": content}
    if operation.needs_key:
        written["security"] = [{}, {"key": []}]
    return written


def _status(operation: Operation) -> str:
    return "202" if (operation.method, operation.path) == ("POST", "/v1/files") else "200"


def _error(operation: Operation, status: int) -> dict[str, Any]:
    error = operation.interface.error
    schema = object_schema({error: text_schema()}, error)
    return {
        "description": _REASONS[status],
        "content": {"application/json": {"schema": schema}},
    }
