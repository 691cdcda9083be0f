"""Texts to be translated from some language, or whichever they are in, into another."""

import asyncio
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from heedful.documents.document import has_words, put_in_place
from heedful.documents.html import find_html
from heedful.server.languages import name_of
from heedful.server.models import Models, Way
from heedful.server.refusal import RefusedError
from heedful.server.service import Service, Wish
from heedful.translation.translator import Translation

AUTO = "auto"


@dataclass(frozen=True, kw_only=True)
class Order:
    """What somebody wants to have translated."""

    texts: Sequence[str]
    source: str
    """A language by a code of it, or "auto"."""
    target: str
    model: str = ""
    is_html: bool = False
    how: Mapping[str, Any] = field(default_factory=dict)
    """Options, as `Wish` has them."""


class Done(NamedTuple):
    """A text that was translated."""

    translation: Translation
    language: str
    """Which it was translated from."""
    confidence: float
    """How sure that is, from 0 to 1; 1 where it was stated."""
    model: str = ""
    """Which model did it; empty where there was nothing to do."""


async def carry_out(
    service: Service, order: Order, client: Hashable, *, is_patient: bool = False
) -> list[Done]:
    """Translate the texts of an order, of whichever languages they are."""
    target = service.models.target(order.target) or service.models.source(order.target)
    if target is None:
        raise unsupported(order.target)
    if order.source == AUTO:
        found = [_detected(service, text) for text in order.texts]
    else:
        found = [(_stated(service.models, order.source), 1.0)] * len(order.texts)
    ways = {
        language: _way(service.models, language, target, order.model)
        for language, _ in dict.fromkeys(found)
    }
    for way in ways.values():
        if way:
            Wish(way, **order.how).refuse_what_cannot_be()
    groups = [
        _translated(
            service,
            Wish(way, **order.how) if way else None,
            [text for text, (own, _) in zip(order.texts, found, strict=True) if own == language],
            client,
            order.is_html,
            is_patient,
        )
        for language, way in ways.items()
    ]
    done = dict(zip(ways, map(iter, await asyncio.gather(*groups)), strict=True))
    return [
        Done(next(done[language]), language, confidence, _name(ways[language]))
        for language, confidence in found
    ]


def unsupported(code: str) -> RefusedError:
    """Say that a language is not there."""
    return RefusedError(400, f"{_shown(code)} is not supported")


def _name(way: Way | None) -> str:
    return way.model.name if way else ""


def _stated(models: Models, code: str) -> str:
    if (language := models.source(code) or models.target(code)) is None:
        raise unsupported(code)
    return language


def _detected(service: Service, text: str) -> tuple[str, float]:
    """Tell a language, or refuse; of what has no words it does not matter."""
    sources = service.models.sources
    usual = "en" if "en" in sources else sources[0]
    if not has_words(text):
        return usual, 0.0
    if guesses := service.guess([text]):
        return guesses[0]
    if len(sources) == 1:
        return usual, 0.0
    raise RefusedError(
        400, f"Invalid request: the text is in none of the languages {', '.join(sources)}"
    )


def _way(models: Models, source: str, target: str, model: str) -> Way | None:
    """Find what translates; None if there is nothing to do."""
    if model and model not in models.all:
        raise RefusedError(404, "Invalid request: there is no model of that name")
    if source == target:
        return None
    if way := models.way(source, target, model):
        return way
    raise RefusedError(
        400,
        f"{name_of(target)} ({target}) is not available as a target language from "
        f"{name_of(source)} ({source})",
    )


async def _translated(
    service: Service,
    wish: Wish | None,
    texts: list[str],
    client: Hashable,
    is_html: bool,
    is_patient: bool,
) -> list[Translation]:
    if wish is None:
        return [Translation(source=text, text=text, score=0.0) for text in texts]
    if not is_html:
        return await service.translate(wish, texts, client, is_patient=is_patient)
    pages = [find_html(text) for text in texts]
    flat = [passage.text for passages in pages for passage in passages]
    translations = iter(await service.translate(wish, flat, client, is_patient=is_patient))
    return [
        _put_together(text, passages, [next(translations) for _ in passages])
        for text, passages in zip(texts, pages, strict=True)
    ]


def _put_together(text: str, passages: Sequence[Any], found: list[Translation]) -> Translation:
    flags = dict.fromkeys(flag for translation in found for flag in translation.flags)
    scores = [translation.score for translation in found]
    return Translation(
        source=text,
        text=put_in_place(text, passages, [translation.text for translation in found]),
        score=sum(scores) / len(scores) if scores else 0.0,
        flags=tuple(flags),
    )


def _shown(code: str) -> str:
    """Write what was given as a language, as far as it looks like one."""
    return code if code.isascii() and code.isprintable() and len(code) <= 20 else "that language"
