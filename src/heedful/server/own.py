"""Our own interface: strict, and with all that the translator can tell."""

import asyncio
import json
from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Any

from starlette.responses import Response, StreamingResponse

from heedful.decoding.hypothesis import sampling_of
from heedful.errors import HeedfulError
from heedful.server.operation import OURS, Asked, Operation, answer
from heedful.server.order import AUTO, Done, Order, carry_out
from heedful.server.refusal import RefusedError
from heedful.server.schema import Schema, check, object_schema, text_schema
from heedful.server.sentences import cut
from heedful.server.service import Service, Wish
from heedful.translation.steering import Alternative

_MOST_TERMS = 1_000
_MOST_PREFIX = 1_000


async def translate(asked: Asked) -> Response:
    """Translate a text or a list of them."""
    values = _checked(asked, _translate_fields(asked.service))
    given = values["text"]
    done = await _carried_out(asked, given if isinstance(given, list) else [given])
    return answer({"translations": [_written(each) for each in done]})


async def stream(asked: Asked) -> Response:
    """Translate a text sentence by sentence, and send each when it is there."""
    values = _checked(asked, _stream_fields(asked.service))
    text = values["text"]
    order = _order(asked, [text])
    asked.count(len(text))
    ranges = cut(text)
    first = ranges[0] if ranges else (0, len(text))
    # What cannot be is told by the status, so the first sentence is waited for.
    (begun,) = await carry_out(asked.service, _for(order, text[slice(*first)]), asked.client)
    events = _events(asked, order, text, ranges, begun)
    return StreamingResponse(
        events, media_type="text/event-stream", headers={"X-Accel-Buffering": "no"}
    )


async def alternatives(asked: Asked) -> Response:
    """Tell what else could stand in place of a word."""
    values = _checked(asked, _alternatives_fields(asked.service))
    text = values["text"]
    asked.count(len(text))
    order = _order(asked, [text])
    (done,) = await carry_out(asked.service, order, asked.client)
    way = asked.service.models.way(
        done.language, asked.service.models.target(order.target) or "", done.model
    )
    if way is None:
        raise RefusedError(400, "Invalid request: the text is in that language already")
    translation = done.translation
    if given := values.get("translation"):
        translation = replace(translation, text=given, sentences=((text, given),))

    def find(_: str) -> list[Alternative]:
        options = Wish(way, **order.how).options
        return way.model.translator.alternatives(
            translation, values["word"], options, count=values.get("count", 5)
        )

    found = await asked.service.do(find, text, asked.client)
    return answer({"text": translation.text, "alternatives": [it._asdict() for it in found]})


async def models(asked: Asked) -> Response:
    """List the models."""
    return answer(
        {
            "models": [
                {
                    "name": model.name,
                    "directions": [
                        {"from": pair.from_language, "to": pair.to_language}
                        for pair in model.directions
                    ],
                    "beam_size": model.translator.search.beam_size,
                }
                for model in asked.service.models.all.values()
            ]
        }
    )


def operations(service: Service) -> list[Operation]:
    """List what this interface has."""
    translations = object_schema(
        {"translations": {"type": "array", "items": object_schema({"text": text_schema()})}},
        "translations",
    )
    others = object_schema({"alternatives": {"type": "array", "items": {"type": "object"}}})
    listed = object_schema({"models": {"type": "array", "items": {"type": "object"}}}, "models")
    common: dict[str, Any] = {"interface": OURS, "method": "POST", "errors": (401, 403, 404, 429)}
    return [
        Operation(
            path="/v1/translate",
            summary="Translate a text, or a list of them",
            run=translate,
            takes={"application/json": _translate_fields(service)},
            gives=translations,
            **common,
        ),
        Operation(
            path="/v1/translate/stream",
            summary="Translate a text, and send each sentence as an event",
            run=stream,
            takes={"application/json": _stream_fields(service)},
            gives=object_schema({"event": text_schema(), "data": text_schema()}, "event", "data"),
            gives_type="text/event-stream",
            **common,
        ),
        Operation(
            path="/v1/alternatives",
            summary="Tell what else could stand in place of a word",
            run=alternatives,
            takes={"application/json": _alternatives_fields(service)},
            gives=others,
            **common,
        ),
        Operation(
            interface=OURS,
            method="GET",
            path="/v1/models",
            summary="List the models",
            run=models,
            gives=listed,
            needs_key=False,
        ),
    ]


def _checked(asked: Asked, schema: Schema) -> dict[str, Any]:
    if not asked.sent.is_json:
        raise RefusedError(415, "Invalid request: send JSON, Content-Type: application/json")
    if asked.request.scope.get("query_string"):
        raise RefusedError(422, "Invalid request: all of it goes into the body")
    check(asked.sent.values, schema)
    return asked.sent.values


def _how_fields(service: Service) -> dict[str, Schema]:
    """Describe what all that translates can be told."""
    found = service.models
    limits = service.limits
    term = text_schema(200)
    return {
        "from": text_schema(enum=[AUTO, *found.sources]),
        "to": text_schema(enum=found.targets),
        "model": text_schema(enum=list(found.all)),
        "beam_size": {"type": "integer", "minimum": 1, "maximum": limits.beam},
        "alpha": {"type": "number", "minimum": 0, "maximum": 10},
        "glossary": {
            "type": "object",
            "additionalProperties": term,
            "maxProperties": _MOST_TERMS,
        },
    }


def _translate_fields(service: Service) -> Schema:
    limits = service.limits
    text = text_schema(limits.characters)
    sampling = object_schema(
        {
            "temperature": {"type": "number", "minimum": 0.001, "maximum": 100},
            "top_k": {"type": "integer", "minimum": 1, "maximum": 1_000_000},
            "top_p": {"type": "number", "minimum": 1e-6, "maximum": 1},
            "seed": {"type": "integer", "minimum": 0, "maximum": 2**31 - 1},
        },
        is_strict=True,
    )
    many: Schema = {"type": "array", "items": text, "minItems": 1, "maxItems": limits.batch}
    return object_schema(
        {
            "text": {"anyOf": [text, many]},
            **_how_fields(service),
            "n_best": {"type": "integer", "minimum": 1, "maximum": limits.alternatives + 1},
            "prefix": text_schema(_MOST_PREFIX),
            "sampling": sampling,
            "details": {"type": "boolean"},
        },
        "text",
        is_strict=True,
    )


def _stream_fields(service: Service) -> Schema:
    text = text_schema(service.limits.characters)
    fields = {"text": text, "details": {"type": "boolean"}, **_how_fields(service)}
    return object_schema(fields, "text", is_strict=True)


def _alternatives_fields(service: Service) -> Schema:
    text = text_schema(min(service.limits.characters, 2_000), minLength=1)
    return object_schema(
        {
            "text": text,
            "translation": text,
            "word": {"type": "integer", "minimum": 0, "maximum": 2_000},
            "count": {"type": "integer", "minimum": 1, "maximum": 20},
            **_how_fields(service),
        },
        *("text", "word"),
        is_strict=True,
    )


def _order(asked: Asked, texts: list[str]) -> Order:
    values, service = asked.sent.values, asked.service
    if sum(map(len, texts)) > service.limits.characters:
        raise RefusedError(
            413, f"Invalid request: more than {service.limits.characters:,} characters in all"
        )
    how: dict[str, Any] = {
        name: values[name]
        for name in ("beam_size", "alpha", "n_best", "prefix", "details")
        if name in values
    }
    if "alpha" in how:
        how["alpha"] = float(how["alpha"])
    if "glossary" in values:
        how["glossary"] = tuple(sorted(values["glossary"].items()))
    if "sampling" in values:
        wishes = dict(values["sampling"])
        for name in wishes.keys() & {"temperature", "top_p"}:
            wishes[name] = float(wishes[name])
        try:
            how["sampling"] = sampling_of(**wishes)
        except HeedfulError as error:
            raise RefusedError(422, f"Invalid request: {error}") from error
    if how.get("n_best", 1) > 1 and "beam_size" not in how:
        usual = max(way.model.translator.search.beam_size for way in service.models.ways)
        how["beam_size"] = max(usual, how["n_best"])
    target = values.get("to") or _only_target(service, values.get("model", ""))
    source = values.get("from", AUTO)
    return Order(texts=texts, source=source, target=target, model=values.get("model", ""), how=how)


def _only_target(service: Service, model: str) -> str:
    ways = [way for way in service.models.ways if model in ("", way.model.name)]
    targets = {way.direction.to_language for way in ways}
    if len(targets) != 1:
        raise RefusedError(422, "Invalid request: to is missing")
    return targets.pop()


def _for(order: Order, text: str) -> Order:
    return Order(**{**vars(order), "texts": [text]})


async def _carried_out(asked: Asked, texts: list[str]) -> list[Done]:
    order = _order(asked, texts)
    asked.count(sum(map(len, texts)))
    return await carry_out(asked.service, order, asked.client)


async def _events(
    asked: Asked, order: Order, text: str, ranges: list[tuple[int, int]], begun: Done
) -> AsyncIterator[bytes]:
    """Give an event for each sentence, and one when all are there; all of them wait at once."""
    parts = [_for(order, text[start:end]) for start, end in ranges[1:]]
    later = [
        asyncio.create_task(carry_out(asked.service, part, asked.client, is_patient=True))
        for part in parts
    ]
    whole, at = "", 0
    try:
        for index, (start, end) in enumerate(ranges):
            (done,) = await later[index - 1] if index else [begun]
            whole += text[at:start] + done.translation.text
            at = end
            place = {"index": index, "start": start, "end": end}
            yield _event("sentence", place | _written(done))
        yield _event("done", {"text": whole + text[at:]})
    except RefusedError as error:
        yield _event("error", {"error": error.reason, "status": error.status})
    finally:
        for task in later:
            task.cancel()


def _event(name: str, data: dict[str, Any]) -> bytes:
    return f"event: {name}\ndata: {json.dumps(data, ensure_ascii=False)}\n\n".encode()


def _written(done: Done) -> dict[str, Any]:
    translation = done.translation
    written: dict[str, Any] = {
        "text": translation.text,
        "from": done.language,
        "from_confidence": round(done.confidence, 4),
        "model": done.model,
        "score": round(translation.score, 4),
        "flags": list(translation.flags),
    }
    if translation.alternatives:
        written["alternatives"] = [
            {"text": other.text, "score": round(other.score, 4), "flags": list(other.flags)}
            for other in translation.alternatives
        ]
    if details := translation.details:
        written["details"] = {
            "confidence": round(details.confidence, 4),
            "source_words": list(details.source_words),
            "words": [
                {"text": word, "confidence": round(confidence, 4)}
                for word, confidence in zip(details.words, details.confidences, strict=True)
            ],
            "alignment": [list(link) for link in details.alignment],
        }
    return written
