"""Pairs as lines of a TSV of ours: source, target and, where there are several, the languages."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from heedful.storage.languages import Direction
from heedful.storage.writing import file_written_whole


class Row(NamedTuple):
    """A pair, and from which language to which it goes, if a model has several."""

    source: str
    target: str
    direction: Direction | None = None

    def exchanged(self) -> "Row":
        """Return the pair the other way round."""
        other = self.direction and self.direction.exchanged()
        return Row(self.target, self.source, other)


def read_rows(path: Path) -> Iterator[Row]:
    """Stream the rows of a file that was written here."""
    with path.open(encoding="utf-8", newline="\n") as file:
        for line in file:
            source, target, *languages = line.rstrip("\n").split("\t")
            yield Row(source, target, Direction.of(*languages) if languages else None)


def write_rows(path: Path, rows: Iterable[Row | tuple[str, str]]) -> None:
    """Write rows to a file that nobody reads yet."""
    with path.open("wb") as file:
        file.writelines(_lines(rows))


def write_rows_whole(path: Path, rows: Iterable[Row | tuple[str, str]]) -> None:
    """Write rows to a file that appears when all of it is written."""
    with file_written_whole(path) as file:
        file.writelines(_lines(rows))


def _lines(rows: Iterable[Row | tuple[str, str]]) -> Iterator[bytes]:
    for source, target, *rest in rows:
        direction = rest[0] if rest else None
        languages = (direction.from_language, direction.to_language) if direction else ()
        yield ("\t".join((source, target, *languages)) + "\n").encode()
