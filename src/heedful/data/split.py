"""The cleaned text of one corpus, and what of it is held out to validate on."""

import heapq
from collections.abc import Iterator
from pathlib import Path

from heedful.data.corpus import (
    CleaningConfig,
    CleaningReport,
    clean_pairs,
    read_pairs,
    text_digest,
)
from heedful.data.files import DataConfig
from heedful.data.tsv import read_rows, write_rows
from heedful.errors import CorpusError

_MOST_HELD_OUT = 500
_HELD_OUT_SHARE = 20  # one in so many pairs, of a corpus too small to spare 500


def split_text(
    folder: Path,
    data: DataConfig,
    cleaning: CleaningConfig,
    report: CleaningReport,
    valid_report: CleaningReport,
) -> None:
    """Write the pairs of a corpus into train.tsv and valid.tsv, counting what is dropped."""
    odd = folder / "dropped.tsv"
    pairs = clean_pairs(read_pairs(*_paths(data.source, data.target)), cleaning, report, odd)
    if data.valid_source:
        valid = read_pairs(*_paths(data.valid_source, data.valid_target))
        write_rows(folder / "valid.tsv", clean_pairs(valid, cleaning, valid_report))
        if not (folder / "valid.tsv").stat().st_size:
            raise CorpusError(
                f"{data.valid_source}: {valid_report}; nothing is left to validate on"
            )
        write_rows(folder / "train.tsv", pairs)
    else:
        write_rows(folder / "all.tsv", pairs)
        _hold_out(folder)
    if not (folder / "train.tsv").stat().st_size or not (folder / "valid.tsv").stat().st_size:
        raise CorpusError(
            f"{data.source}: {report}; training needs at least two pairs with different sources"
        )


def _hold_out(folder: Path) -> None:
    """Split `all.tsv` by source sentence, so that no validation source is trained on."""

    def digests() -> Iterator[int]:
        return (text_digest(row.source) for row in read_rows(folder / "all.tsv"))

    wanted = min(_MOST_HELD_OUT, -(-sum(1 for _ in digests()) // _HELD_OUT_SHARE))
    limit = max(heapq.nsmallest(wanted, digests()), default=0)
    for name, is_valid in (("valid.tsv", True), ("train.tsv", False)):
        rows = read_rows(folder / "all.tsv")
        write_rows(
            folder / name, (row for row in rows if (text_digest(row.source) <= limit) == is_valid)
        )
    (folder / "all.tsv").unlink()


def _paths(source: str, target: str) -> tuple[Path, Path | None]:
    return Path(source), Path(target) if target else None
