"""Data diversification: more pairs from those of a corpus (Nguyen et al., 2020).

Each source stands beside what one model makes of it, and each target beside what a second model,
which translates the other way, makes of that. A third model that learns from all of these pairs
learns what is common to many ways of saying the same.
"""

import threading
from collections.abc import Iterable, Iterator
from itertools import chain, tee
from pathlib import Path

from heedful.errors import CorpusError, ModelFolderError
from heedful.runs.budget import Limit
from heedful.storage.folder import ModelFolder
from heedful.text.lines import read_lines
from heedful.text.normalise import normalise
from heedful.translation.files import translate_file
from heedful.translation.translator import CHUNK, Translation, Translator, load


def diversify(
    forward: Path,
    backward: Path,
    output: Path,
    *,
    resume: bool = False,
    stop: threading.Event | None = None,
    limit: Limit | None = None,
) -> None:
    """Write a TSV of the pairs that one model learned from, and of what both make of them.

    When the time is over, the pairs that are left stay alone.
    """
    corpus = ModelFolder(forward).corpus / "train.tsv"
    for model in (forward, backward):
        if len(ModelFolder(model).provenance().data.directions) > 1:
            raise ModelFolderError(
                f"{model} translates between several languages; diversify with models of one "
                "direction each"
            )
    _refuse_same_direction(forward, backward)
    if not corpus.exists():
        raise ModelFolderError(
            f"{forward} has no {corpus.name} of its training any more; train it again"
        )
    translators = load(forward), load(backward)
    about = {"forward": _created(forward), "backward": _created(backward)}
    translate_file(
        corpus,
        output,
        lambda lines: diversified(lines, *translators, limit),
        about,
        read_with=(forward, backward),
        read=_read_pairs,
        resume=resume,
        stop=stop,
    )


def diversified(
    lines: Iterable[str],
    forward: Translator,
    backward: Translator,
    limit: Limit | None = None,
) -> Iterator[str]:
    """Yield for every pair of a TSV its own line, and those that the models add to it in time."""
    lines, late = iter(lines), list[str]()

    def timely() -> Iterator[str]:
        for number, line in enumerate(lines):
            if number % CHUNK == 0 and limit and limit.is_over:
                late.append(line)
                return
            yield line

    pairs, sources, targets = tee(timely(), 3)
    for pair, translation, origin in zip(
        pairs,
        forward.translate_lines(line.split("\t")[0] for line in sources),
        backward.translate_lines(line.split("\t")[1] for line in targets),
        strict=True,
    ):
        source, target = pair.split("\t")
        rows = [
            pair,
            *(f"{source}\t{text}" for text in _usable(translation)),
            *(f"{text}\t{target}" for text in _usable(origin)),
        ]
        yield "\n".join(dict.fromkeys(rows))
    yield from chain(late, lines)


def _read_pairs(corpus: Path) -> Iterator[str]:
    """Read the lines of a prepared corpus, which somebody may have changed since."""
    for number, line in enumerate(read_lines(corpus), start=1):
        if line.count("\t") != 1:
            raise CorpusError(
                f"{corpus}, line {number}: expected source and target joined by one tab, found "
                f"{line.count(chr(9))} tabs; it was changed since the training, so train again"
            )
        yield line


def _usable(translation: Translation) -> list[str]:
    """Return the text on one line, unless there is none or something is wrong with it."""
    text = normalise(translation.text)
    return [text] if text and not translation.flags else []


def _refuse_same_direction(forward: Path, backward: Path) -> None:
    """Refuse two models that learned from the same files in the same order."""
    if _checksums(forward) == _checksums(backward):
        raise ModelFolderError(
            f"{backward} translates the same way as {forward}; train it with source and target "
            "exchanged"
        )


def _checksums(model: Path) -> list[str]:
    return [file.sha256 for file in ModelFolder(model).provenance().data.files[:2]]


def _created(model: Path) -> str:
    return ModelFolder(model).provenance().created
