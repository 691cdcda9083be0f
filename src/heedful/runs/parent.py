"""Going on from a model (fine-tuning): what it must not forget, and how it did before."""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from heedful.data.parent import num_old, old_rows
from heedful.data.prepare import PreparedCorpus
from heedful.data.tsv import Row, read_rows, write_rows_whole
from heedful.storage.folder import ModelFolder
from heedful.storage.languages import UNSTATED, Direction
from heedful.text.normalise import normalise
from heedful.translation.routes import grouped
from heedful.translation.translator import Translator, load

_MOST_JUDGED = 600  # old pairs, which tell whether something is forgotten


def write_old_pairs(parent: ModelFolder, new: PreparedCorpus, mix: float, to: Path) -> None:
    """Write what a model must not forget while it learns new pairs.

    That is some of the pairs it learned from, or if they are gone, what it makes of new sources.
    """
    rows = list(read_rows(new.folder / "train.tsv"))
    count = num_old(len(rows), mix)
    known = parent.corpus / "train.tsv"
    old = old_rows(known, count) if known.exists() else _its_own(parent, rows[:count])
    write_rows_whole(to, old)


def old_valid_rows(parent: ModelFolder) -> list[Row]:
    """Return pairs that the model was validated on, if they are still there."""
    path = parent.corpus / "valid.tsv"
    return list(read_rows(path))[:_MOST_JUDGED] if path.exists() else []


def translated(translator: Translator, rows: Sequence[Row]) -> list[str]:
    """Translate each source to the language of its target."""

    def each(way: Direction, some: Iterable[Row]) -> Iterator[str]:
        found = translator.translate_lines(
            (row.source for row in some),
            from_language=way.from_language,
            to_language=way.to_language,
        )
        return (translation.text for translation in found)

    return grouped(rows, by=lambda row: row.direction or UNSTATED, each=each)


def _its_own(parent: ModelFolder, rows: Sequence[Row]) -> Iterator[Row]:
    texts = translated(load(parent.path), rows)
    for row, text in zip(rows, texts, strict=True):
        if text := normalise(text):
            yield row._replace(target=text)
