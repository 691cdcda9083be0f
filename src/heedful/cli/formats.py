"""Translations as lines for people and programs."""

import json
from collections.abc import Iterator
from typing import Any

from heedful.translation.details import Details
from heedful.translation.sentence import Candidate
from heedful.translation.translator import Translation

FORMATS = ("text", "tsv", "jsonl")

_BREAKS = str.maketrans("\t\n\r", "   ")


def needs_details(format: str) -> bool:
    """Whether a format tells of words, for which the model has to read its translation again."""
    return format != "text"


def written(translation: Translation, format: str, n_best: int = 1) -> Iterator[str]:
    """Write a translation as lines: its text, a table row, or all of it as JSON.

    A row is source, translation, score, confidence, alignment and flags, with tabs between. When
    more than one candidate was asked for, text comes one to a line, each after its score.
    """
    if format == "jsonl":
        yield json.dumps(_document(translation), ensure_ascii=False)
    elif format == "tsv":
        yield "\t".join(_fields(translation))
    elif n_best == 1:
        yield translation.text
    else:
        candidates: list[Translation | Candidate] = [translation, *translation.alternatives]
        for candidate in candidates:
            yield f"{candidate.score:.4f}\t{candidate.text}"


def _fields(translation: Translation) -> list[str]:
    details = translation.details or Details()
    return [
        *(text.translate(_BREAKS) for text in (translation.source, translation.text)),
        f"{translation.score:.4f}",
        f"{details.confidence:.4f}",
        " ".join(f"{source}-{word}" for source, word in details.alignment),
        " ".join(translation.flags),
    ]


def _document(translation: Translation) -> dict[str, Any]:
    details = translation.details or Details()
    return {
        "source": translation.source,
        "text": translation.text,
        "score": round(translation.score, 4),
        "confidence": round(details.confidence, 4),
        "flags": translation.flags,
        "source_words": details.source_words,
        "words": [
            {"text": word, "confidence": round(confidence, 4)}
            for word, confidence in zip(details.words, details.confidences, strict=True)
        ],
        "alignment": details.alignment,
        "alternatives": [
            {"text": candidate.text, "score": round(candidate.score, 4)}
            for candidate in translation.alternatives
        ],
    }
