"""The interface of DeepL, for texts, as its clients use it."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from starlette.responses import Response

from heedful.server.languages import fold, name_of
from heedful.server.operation import DEEPL, Asked, Operation, answer
from heedful.server.order import AUTO, Done, Order, carry_out
from heedful.server.refusal import RefusedError
from heedful.server.schema import Schema, object_schema, text_schema
from heedful.server.service import Service

UNLIMITED = 1_000_000_000_000
"""What DeepL says of those who have no limit."""
_REGIONS = {"en": ("EN-GB", "EN-US"), "pt": ("PT-BR", "PT-PT")}
"""Its client refuses these languages as targets without a region."""
_MARKED = ("xml", "html")
_FORMALITIES = ("default", "prefer_more", "prefer_less")


async def translate(asked: Asked) -> Response:
    """Translate texts."""
    values, service = asked.sent.values, asked.service
    texts = _texts(asked)
    target = values.get("target_lang")
    if not isinstance(target, str) or not target:
        raise _wrong("Value for 'target_lang' not supported.")
    _refuse_what_is_not_there(values)
    asked.count(sum(map(len, texts)))
    order = Order(
        texts=texts,
        source=_source(values, service),
        target=_target(target, service),
        is_html=values.get("tag_handling") in _MARKED,
    )
    kept = [_without(text, _ignored(values)) for text in texts]
    order = Order(**{**vars(order), "texts": [text for text, _ in kept]})
    done = await carry_out(service, order, asked.client)
    return answer(
        {
            "translations": [
                _written(each, text, parts)
                for each, text, (_, parts) in zip(done, texts, kept, strict=True)
            ]
        }
    )


async def languages(asked: Asked) -> Response:
    """List languages to translate from, or to."""
    kind = asked.sent.values.get("type") or "source"
    if kind not in ("source", "target"):
        raise _wrong("Parameter 'type' must be 'source' or 'target'.")
    models = asked.service.models
    if kind == "source":
        return answer(
            [{"language": code.upper(), "name": name_of(code)} for code in models.sources]
        )
    codes = [
        shown
        for code in models.targets
        for shown in (*_REGIONS.get(fold(code), ()), *([] if fold(code) in _REGIONS else [code]))
    ]
    return answer(
        [
            {"language": code.upper(), "name": name_of(code), "supports_formality": False}
            for code in codes
        ]
    )


async def usage(asked: Asked) -> Response:
    """Tell how many characters were used today, and how many there are."""
    key = asked.key
    used = asked.service.usage.characters_today(key) if key else 0
    most = key.characters_per_day if key else None
    return answer({"character_count": used, "character_limit": most or UNLIMITED})


async def glossary_pairs(asked: Asked) -> Response:
    """List languages with glossaries, of which there are none here."""
    return answer({"supported_languages": []})


def operations(service: Service) -> list[Operation]:
    """List what this interface has."""
    text = text_schema(minLength=1, maxLength=service.limits.characters // 50)
    fields: dict[str, Schema] = {
        "target_lang": text_schema(enum=[code.upper() for code in service.models.targets]),
        "source_lang": text_schema(enum=[code.upper() for code in service.models.sources]),
        "tag_handling": text_schema(enum=list(_MARKED)),
        "formality": text_schema(enum=list(_FORMALITIES)),
        "split_sentences": text_schema(enum=["0", "1", "nonewlines"]),
    }
    texts: Schema = {"type": "array", "items": text, "minItems": 1, "maxItems": 50}
    translations = {"type": "array", "items": object_schema({"text": text_schema()}, "text")}
    kind: Schema = {
        "name": "type",
        "in": "query",
        "schema": text_schema(enum=["source", "target"]),
    }
    listed = {"type": "array", "items": object_schema({"language": text_schema()}, "language")}
    pairs = object_schema({"supported_languages": {"type": "array", "items": {}}})
    return [
        Operation(
            interface=DEEPL,
            method="POST",
            path="/v2/translate",
            summary="Translate texts",
            run=translate,
            takes={
                "application/json": object_schema({**fields, "text": texts}, "text", "target_lang"),
                "application/x-www-form-urlencoded": object_schema(
                    {**fields, "text": text}, "text", "target_lang"
                ),
            },
            gives=object_schema({"translations": translations}, "translations"),
            errors=(429,),
        ),
        *(
            Operation(
                interface=DEEPL,
                method=method,
                path="/v2/languages",
                summary="List languages",
                run=languages,
                parameters=(kind,),
                gives=listed,
            )
            for method in ("GET", "POST")
        ),
        Operation(
            interface=DEEPL,
            method="GET",
            path="/v2/usage",
            summary="Tell how much was used",
            run=usage,
            gives=object_schema({"character_count": {"type": "integer"}}, "character_count"),
        ),
        Operation(
            interface=DEEPL,
            method="GET",
            path="/v2/glossary-language-pairs",
            summary="List languages with glossaries",
            run=glossary_pairs,
            gives=pairs,
        ),
    ]


def _texts(asked: Asked) -> list[str]:
    given = asked.sent.lists.get("text") or asked.sent.values.get("text")
    texts = [given] if isinstance(given, str) else given
    limits = asked.service.limits
    if not isinstance(texts, list) or not texts:
        raise _wrong("Parameter 'text' not specified.")
    if not all(isinstance(text, str) for text in texts):
        raise _wrong("Parameter 'text' must be a list of texts.")
    if len(texts) > limits.batch or sum(map(len, texts)) > limits.characters:
        raise RefusedError(413, f"Request Entity Too Large: at most {limits.batch} texts and "
                           f"{limits.characters} characters")  # fmt: skip
    return texts


def _source(values: Mapping[str, Any], service: Service) -> str:
    code = values.get("source_lang")
    if code in (None, ""):
        return AUTO
    if not isinstance(code, str) or not service.models.source(code):
        raise _wrong("Value for 'source_lang' not supported.")
    return code


def _target(code: str, service: Service) -> str:
    found = service.models.target(code) or service.models.source(code)
    if not found:
        raise _wrong("Value for 'target_lang' not supported.")
    return found


def _refuse_what_is_not_there(values: Mapping[str, Any]) -> None:
    if values.get("tag_handling") not in (None, "", *_MARKED):
        raise _wrong("Value for 'tag_handling' not supported.")
    if values.get("formality") not in (None, "", *_FORMALITIES):
        raise _wrong("'formality' is not supported for given 'target_lang'.")
    if values.get("glossary_id"):
        raise RefusedError(404, "Glossary not found")


def _ignored(values: Mapping[str, Any]) -> list[str]:
    """List the names of elements that are not translated."""
    if values.get("tag_handling") not in _MARKED:
        return []
    given = values.get("ignore_tags") or []
    names = given.split(",") if isinstance(given, str) else given
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise _wrong("Value for 'ignore_tags' not supported.")
    return [name.strip() for name in names[:100] if re.fullmatch(r"\s*[\w.:-]{1,100}\s*", name)]


def _without(text: str, names: Sequence[str]) -> tuple[str, list[str]]:
    """Put numbered tags in place of elements that are ignored."""
    if not names:
        return text, []
    any_name = "|".join(map(re.escape, names))
    parts: list[str] = []

    def numbered(match: re.Match[str]) -> str:
        parts.append(match.group())
        return f'<wbr data-kept="{len(parts) - 1}">'

    found = re.sub(
        rf"<({any_name})(?:\s[^<>]*)?(?:/>|>(?:(?!</?\1\b).)*</\1\s*>)", numbered, text, flags=re.S
    )
    return found, parts


def _written(done: Done, text: str, parts: Sequence[str]) -> dict[str, Any]:
    translated = done.translation.text
    for number, part in enumerate(parts):
        translated = translated.replace(f'<wbr data-kept="{number}">', part)
    return {
        "detected_source_language": fold(done.language).partition("-")[0].upper(),
        "text": translated,
        "billed_characters": len(text),
        "model_type_used": "quality_optimized",
    }


def _wrong(reason: str) -> RefusedError:
    return RefusedError(400, reason)
