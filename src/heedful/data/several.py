"""Several corpora as one, from which a model learns several languages."""

import shutil
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, zip_longest
from pathlib import Path

from heedful.data.bridges import Part, bridges
from heedful.data.corpus import CleaningConfig, CleaningReport, text_digest
from heedful.data.files import DataConfig
from heedful.data.split import split_text
from heedful.data.tsv import Row, read_rows, write_rows


def write_text(
    folder: Path, data: tuple[DataConfig, ...], cleaning: CleaningConfig, *, is_tagged: bool
) -> tuple[CleaningReport, CleaningReport | None]:
    """Write the pairs of all corpora, cleaned, into train.tsv and valid.tsv of a folder.

    With each goes its direction, if the model is to be told which language to write.
    """
    reports = CleaningReport(), CleaningReport()
    if len(data) == 1 and not data[0].both_ways and not is_tagged:
        split_text(folder, data[0], cleaning, *reports)
    else:
        parts = folder / "parts"
        for number, each in enumerate(data):
            (parts / str(number)).mkdir(parents=True)
            split_text(parts / str(number), each, cleaning, *reports)
        write_rows(folder / "valid.tsv", _all_valid(parts, data, is_tagged=is_tagged))
        rows = _all_train(folder, data, is_tagged=is_tagged)
        write_rows(folder / "train.tsv", _not_held_out(rows, folder / "valid.tsv"))
        with (folder / "dropped.tsv").open("wb") as file:
            for number in range(len(data)):
                file.write((parts / str(number) / "dropped.tsv").read_bytes())
        shutil.rmtree(parts)
    return reports[0], reports[1] if any(each.valid_source for each in data) else None


def _all_train(folder: Path, data: Sequence[DataConfig], *, is_tagged: bool) -> Iterator[Row]:
    for number, each in enumerate(data):
        for rows in _ways(folder / "parts" / str(number) / "train.tsv", each, is_tagged=is_tagged):
            yield from rows
    parts = [
        Part(folder / "parts" / str(number) / "train.tsv", each.direction)
        for number, each in enumerate(data)
        if each.both_ways
    ]
    held_out = {
        text_digest(text)
        for number in range(len(data))
        for row in read_rows(folder / "parts" / str(number) / "valid.tsv")
        for text in row[:2]
    }
    yield from bridges(parts, held_out)


def _not_held_out(rows: Iterable[Row], valid: Path) -> Iterator[Row]:
    """Leave out rows with a source to validate on, which another corpus or side may bring in."""
    held_out = {_asked(row) for row in read_rows(valid)}
    return (row for row in rows if _asked(row) not in held_out)


def _asked(row: Row) -> int:
    """Return what stands for a source and the language to translate it to."""
    return text_digest(f"{row.direction and row.direction.to_language}\t{row.source}")


def _all_valid(parts: Path, data: Sequence[DataConfig], *, is_tagged: bool) -> Iterator[Row]:
    """Yield pairs of all directions in turns, so that the first of them are of every kind."""
    ways = chain.from_iterable(
        _ways(parts / str(number) / "valid.tsv", each, is_tagged=is_tagged)
        for number, each in enumerate(data)
    )
    return (row for turn in zip_longest(*ways) for row in turn if row)


def _ways(path: Path, data: DataConfig, *, is_tagged: bool) -> Iterator[Iterator[Row]]:
    """Yield the rows of a corpus, for each direction that is learned from it."""
    way = data.direction if is_tagged else None
    yield (row._replace(direction=way) for row in read_rows(path))
    if data.both_ways:
        yield (row._replace(direction=way).exchanged() for row in read_rows(path))
