import jsonschema_rs
import pytest

from heedful.server.refusal import RefusedError
from heedful.server.schema import check, object_schema, text_schema

NUMBER = {"type": "number", "minimum": 0, "maximum": 2}
LIST = {"type": "array", "items": text_schema(), "maxItems": 2, "minItems": 1}
SCHEMA = object_schema(
    {
        "text": {"anyOf": [text_schema(3, minLength=1), LIST]},
        "number": NUMBER,
        "whole": {"type": "integer"},
        "yes": {"type": "boolean"},
        "kind": text_schema(enum=["a", "b"]),
        "terms": {"type": "object", "additionalProperties": text_schema(2), "maxProperties": 1},
    },
    "text",
    is_strict=True,
)  # fmt: skip
VALUES = [
    {"text": "a"},
    {"text": ["a", "b"]},
    {"text": "a", "number": 1, "whole": 5, "yes": True, "kind": "b", "terms": {"x": "y"}},
    {"text": "a", "number": 0.5},
    {},
    {"text": ""},
    {"text": "abcd"},
    {"text": []},
    {"text": ["a", "b", "c"]},
    {"text": ["a", 1]},
    {"text": None},
    {"text": "a", "number": 3},
    {"text": "a", "number": -1},
    {"text": "a", "number": True},
    {"text": "a", "number": "1"},
    {"text": "a", "whole": 1.5},
    {"text": "a", "whole": True},
    {"text": "a", "yes": 1},
    {"text": "a", "kind": "c"},
    {"text": "a", "other": 1},
    {"text": "a", "terms": {"x": "yyy"}},
    {"text": "a", "terms": {"x": "y", "z": "y"}},
    {"text": "a", "terms": []},
]


@pytest.mark.parametrize("value", VALUES)
def test_it_is_as_strict_as_json_schema(value):
    is_valid = jsonschema_rs.is_valid(SCHEMA, value)

    if is_valid:
        check(value, SCHEMA)
    else:
        with pytest.raises(RefusedError) as refused:
            check(value, SCHEMA)
        assert refused.value.status == 422


def test_both_ways_are_tried_here():
    assert {jsonschema_rs.is_valid(SCHEMA, value) for value in VALUES} == {True, False}
