"""The interface of LibreTranslate, as its clients use it."""

from collections.abc import Mapping, Sequence
from typing import Any

from starlette.responses import Response

from heedful.documents.document import has_words
from heedful.documents.kinds import KINDS
from heedful.server.languages import name_of
from heedful.server.operation import LIBRETRANSLATE, Asked, Operation, answer
from heedful.server.order import AUTO, Done, Order, carry_out, unsupported
from heedful.server.refusal import RefusedError
from heedful.server.schema import Schema, object_schema, text_schema
from heedful.server.service import Service

_FORMATS = ("text", "html")
_MOST_DETECTED = 3
_CHECKED = 400  # status of what is wrong with a request


async def translate(asked: Asked) -> Response:
    """Translate a text, or a list of them."""
    values, service = asked.sent.values, asked.service
    given = values.get("q")
    texts = _texts(given, asked)
    source, target = (_code(values, name) for name in ("source", "target"))
    number = _alternatives(values.get("alternatives"), service.limits.alternatives)
    _refuse_too_much(given, texts, service)
    format = values.get("format") or "text"
    _refuse_unknown(service, source, target)
    if format not in _FORMATS:
        shown = format if isinstance(format, str) and format.isalnum() else "that"
        raise RefusedError(_CHECKED, f"{shown:.20} format is not supported")
    asked.count(sum(map(len, texts)))
    how = _how(service, number) if format == "text" else {}
    order = Order(texts=texts, source=source, target=target, is_html=format == "html", how=how)
    done = await carry_out(service, order, asked.client)
    return answer(_written(done, isinstance(given, list), source == AUTO, number))


async def detect(asked: Asked) -> Response:
    """Tell which language a text is in."""
    texts = _texts(asked.sent.values.get("q"), asked)
    _refuse_too_much(texts, texts, asked.service)
    asked.count(sum(map(len, texts)))
    guesses = asked.service.guess(texts)[:_MOST_DETECTED]
    return answer([_detected(*guess) for guess in guesses or [("en", 0.0)]])


async def languages(asked: Asked) -> Response:
    """List the languages, and what each is translated to."""
    models = asked.service.models
    return answer(
        [
            {
                "code": code,
                "name": name_of(code),
                "targets": list(dict.fromkeys([*models.targets_of(code), code])),
            }
            for code in models.sources
        ]
    )


async def health(asked: Asked) -> Response:
    """Say that the server is there."""
    return answer({"status": "ok"})


async def settings(asked: Asked) -> Response:
    """Tell a page what there is."""
    service = asked.service
    first = service.models.ways[0].direction
    return answer(
        {
            "charLimit": service.limits.characters,
            "frontendTimeout": 500,
            "apiKeys": service.keyring is not None,
            "keyRequired": service.keyring is not None,
            "suggestions": False,
            "filesTranslation": True,
            "supportedFilesFormat": list(KINDS),
            "language": {
                "source": {"code": AUTO, "name": "Auto Detect"},
                "target": {"code": first.to_language, "name": name_of(first.to_language)},
            },
        }
    )


async def suggest(asked: Asked) -> Response:
    """Take no suggestions."""
    raise RefusedError(403, "Suggestions are disabled on this server.")


def operations(service: Service) -> list[Operation]:
    """List what this interface has."""
    fields = _fields(service)
    form = object_schema(fields, "q", "source", "target")
    q_list: Schema = {
        "type": "array",
        "items": fields["q"],
        "minItems": 1,
        "maxItems": min(service.limits.batch, 50),
    }
    as_json = object_schema(
        {**fields, "q": {"anyOf": [fields["q"], q_list]}}, "q", "source", "target"
    )
    detect_form = object_schema({"q": fields["q"], "api_key": fields["api_key"]}, "q")
    found = object_schema({"confidence": {"type": "number"}, "language": text_schema()})
    common: dict[str, Any] = {"interface": LIBRETRANSLATE}
    return [
        Operation(
            method="POST",
            path="/translate",
            summary="Translate a text, or a list of them",
            run=translate,
            takes=_all_types(form, as_json),
            gives=object_schema({"translatedText": {}}, "translatedText"),
            errors=(429,),
            **common,
        ),
        Operation(
            method="POST",
            path="/detect",
            summary="Tell which language a text is in",
            run=detect,
            takes=_all_types(detect_form, detect_form),
            gives={"type": "array", "items": found},
            errors=(429,),
            **common,
        ),
        Operation(
            method="GET",
            path="/languages",
            summary="List the languages",
            run=languages,
            gives={"type": "array", "items": object_schema({"code": text_schema()}, "code")},
            needs_key=False,
            **common,
        ),
        Operation(
            method="GET",
            path="/health",
            summary="Say that the server is there",
            run=health,
            gives=object_schema({"status": text_schema()}, "status"),
            needs_key=False,
            **common,
        ),
        Operation(
            method="GET",
            path="/frontend/settings",
            summary="Tell a page what there is",
            run=settings,
            gives=object_schema({"charLimit": {"type": "integer"}}),
            needs_key=False,
            **common,
        ),
        Operation(
            method="POST",
            path="/suggest",
            summary="Take no suggestions",
            run=suggest,
            needs_key=False,
            errors=(403,),
            **common,
        ),
    ]


def _all_types(form: Schema, as_json: Schema) -> dict[str, Schema]:
    return {
        "application/json": as_json,
        "application/x-www-form-urlencoded": form,
        "multipart/form-data": form,
    }


def _fields(service: Service) -> dict[str, Schema]:
    models = service.models
    return {
        "q": text_schema(minLength=1, maxLength=service.limits.characters // 50),
        "source": text_schema(enum=[AUTO, *models.sources]),
        "target": text_schema(enum=models.targets),
        "format": text_schema(enum=list(_FORMATS)),
        "alternatives": {
            "type": "integer",
            "minimum": 0,
            "maximum": service.limits.alternatives,
        },
        "api_key": text_schema(),
    }


def _texts(given: Any, asked: Asked) -> list[str]:
    if isinstance(given, str) and not asked.sent.is_json:
        given = "\n".join(given.splitlines())  # as forms end lines in their own way
    texts = given if isinstance(given, list) else [given]
    if not given:
        raise RefusedError(_CHECKED, "Invalid request: missing q parameter")
    if not all(isinstance(text, str) for text in texts):
        raise RefusedError(_CHECKED, "Invalid request: q parameter is not a text")
    return texts


def _code(values: Mapping[str, Any], name: str) -> str:
    code = values.get(name)
    if not code or not isinstance(code, str):
        raise RefusedError(_CHECKED, f"Invalid request: missing {name} parameter")
    return code.strip().lower() if code.strip().lower() == AUTO else code


def _alternatives(given: Any, most: int) -> int:
    try:
        number = max(0, int(given or 0))
    except (ValueError, TypeError, OverflowError) as error:
        raise RefusedError(
            _CHECKED, "Invalid request: alternatives parameter is not a number"
        ) from error
    if number > most:
        raise RefusedError(_CHECKED, f"Invalid request: alternatives parameter must be <= {most}")
    return number


def _refuse_too_much(given: Any, texts: Sequence[str], service: Service) -> None:
    limits = service.limits
    sizes = [(len(texts), limits.batch)] if isinstance(given, list) else []
    for size, most in (*sizes, (sum(map(len, texts)), limits.characters)):
        if size > most:
            raise RefusedError(
                _CHECKED, f"Invalid request: request ({size}) exceeds text limit ({most})"
            )


def _refuse_unknown(service: Service, source: str, target: str) -> None:
    models = service.models
    if source != AUTO and not (models.source(source) or models.target(source)):
        raise unsupported(source)
    if not (models.target(target) or models.source(target)):
        raise unsupported(target)


def _how(service: Service, number: int) -> dict[str, Any]:
    """Search in a beam that has as many translations."""
    if not number:
        return {}
    usual = max(way.model.translator.search.beam_size for way in service.models.ways)
    return {"n_best": number + 1, "beam_size": max(usual, number + 1)}


def _written(done: Sequence[Done], is_list: bool, is_auto: bool, number: int) -> dict[str, Any]:
    columns: dict[str, list[Any]] = {"translatedText": [each.translation.text for each in done]}
    if is_auto:
        columns["detectedLanguage"] = [
            _detected(each.language, each.confidence if has_words(each.translation.source) else 0.0)
            for each in done
        ]
    if number:
        columns["alternatives"] = [
            list(
                dict.fromkeys(
                    other.text
                    for other in each.translation.alternatives
                    if other.text != each.translation.text
                )
            )
            for each in done
        ]
    return {name: column if is_list else column[0] for name, column in columns.items()}


def _detected(language: str, probability: float) -> dict[str, Any]:
    return {"confidence": round(100 * probability, 1), "language": language}
