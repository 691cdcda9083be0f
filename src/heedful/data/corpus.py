"""A parallel corpus: two aligned files or one TSV, read as a stream, checked and cleaned."""

import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from heedful.errors import ConfigError, CorpusError
from heedful.text.lines import read_lines, refuse_no_text
from heedful.text.normalise import normalise

Pair = tuple[str, str]

_LOOKED_AT = 1_000  # lines, by which to tell a TSV


@dataclass(frozen=True, kw_only=True)
class CleaningConfig:
    """Which pairs are left out of training."""

    max_characters: int = 1_000
    """A side longer than this is taken for a paragraph, not a sentence."""

    max_ratio: float = 6.0
    """How many times longer one side may be, ten characters granted to each."""

    def __post_init__(self) -> None:
        if self.max_characters < 1:
            raise ConfigError(f"max_characters must be at least 1, got {self.max_characters}")
        if self.max_ratio < 1:
            raise ConfigError(f"max_ratio must be at least 1, got {self.max_ratio}")


@dataclass
class CleaningReport:
    """How many pairs were read, and why some were dropped."""

    read: int = 0
    empty: int = 0
    too_long: int = 0
    odd_ratio: int = 0
    duplicate: int = 0

    @property
    def kept(self) -> int:
        """Pairs that passed every check."""
        return self.read - self.empty - self.too_long - self.odd_ratio - self.duplicate

    @property
    def dropped_by_setting(self) -> dict[str, tuple[int, str]]:
        """How many pairs each setting of [cleaning] dropped, and what is said of them."""
        return {
            "max_characters": (self.too_long, "too long"),
            "max_ratio": (self.odd_ratio, "of absurd length ratio"),
        }

    def __str__(self) -> str:
        reasons = {
            "with an empty side": self.empty,
            "too long": self.too_long,
            "of absurd length ratio": self.odd_ratio,
            "seen before": self.duplicate,
        }
        dropped = ", ".join(f"{count:,} {why}" for why, count in reasons.items() if count)
        return f"{self.kept:,} of {self.read:,} pairs kept" + (dropped and f"; dropped {dropped}")


def read_pairs(source: Path, target: Path | None = None) -> Iterator[Pair]:
    """Stream the pairs of two aligned files, or of one TSV when no target is given."""
    for path in (source, target):
        if path is not None:
            refuse_no_text(path)
            if target is not None:
                _refuse_tsv(path)
    return _read_tsv(source) if target is None else _read_two_files(source, target)


def clean_pairs(
    pairs: Iterable[Pair], config: CleaningConfig, report: CleaningReport
) -> Iterator[Pair]:
    """Normalise both sides and drop what would harm training, counting it in `report`."""
    seen: set[int] = set()  # of digests: some 64 bytes a pair, however long its text
    for raw_source, raw_target in pairs:
        report.read += 1
        source, target = normalise(raw_source), normalise(raw_target)
        shorter, longer = sorted((len(source), len(target)))
        if not shorter:
            report.empty += 1
        elif longer > config.max_characters:
            report.too_long += 1
        elif longer + 10 > config.max_ratio * (shorter + 10):
            report.odd_ratio += 1
        elif (digest := text_digest(f"{source}\t{target}")) in seen:
            report.duplicate += 1
        else:
            seen.add(digest)
            yield source, target


def text_digest(text: str) -> int:
    """Return 64 bits that stand for a text, the same on every machine."""
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "big")


def _refuse_tsv(path: Path) -> None:
    """Refuse a TSV of pairs where one side is wanted: it would show the model its answers."""
    lines = list(islice(read_lines(path), _LOOKED_AT))
    tabs = sum("\t" in line for line in lines)
    if 2 * tabs > len(lines):
        raise CorpusError(
            f"{path} has a tab in {tabs:,} of its first {len(lines):,} lines, so it seems to be a "
            "TSV of pairs; give it as source alone, or a file without tabs"
        )


def _read_two_files(source: Path, target: Path) -> Iterator[Pair]:
    if source.resolve() == target.resolve():
        raise CorpusError(f"{source} is given as source and as target; name two different files")
    lines = read_lines(source), read_lines(target)
    paired = 0
    while True:
        ours, theirs = next(lines[0], None), next(lines[1], None)
        if ours is None or theirs is None:
            break
        paired += 1
        yield ours, theirs
    counts = [
        paired + (line is not None) + sum(1 for _ in rest)
        for line, rest in zip((ours, theirs), lines, strict=True)
    ]
    if counts[0] != counts[1]:
        raise CorpusError(
            f"{source} and {target} are not parallel: {counts[0]} lines against {counts[1]}; "
            "line n of one must be the translation of line n of the other"
        )


def _read_tsv(path: Path) -> Iterator[Pair]:
    for number, line in enumerate(read_lines(path), start=1):
        columns = line.split("\t")
        if len(columns) < 2:
            raise CorpusError(
                f"{path}, line {number}: expected source and target joined by a tab, found no tab; "
                "for two separate files give the second as target"
            )
        yield columns[0], columns[1]
