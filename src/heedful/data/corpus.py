"""A parallel corpus: two aligned files or one TSV, read as a stream, checked and cleaned."""

import hashlib
import re
from collections.abc import Iterable, Iterator
from contextlib import nullcontext
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from heedful.errors import ConfigError, CorpusError
from heedful.text.lines import read_lines, refuse_no_text
from heedful.text.normalise import normalise

Pair = tuple[str, str]

_LOOKED_AT = 1_000  # lines, by which to tell a TSV
_DIGITS = re.compile(r"\d")
_ESCAPE = r"&(?:#\d+|#x[0-9a-fA-F]+|amp|quot|apos|lt|gt|nbsp);"
_MARKUP = re.compile(rf"{_ESCAPE}|</?[a-zA-Z][^<>]*>|\{{\{{|\[\[")


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


DROPPED = {
    "empty": "with an empty side",
    "too_long": "too long",
    "odd_ratio": "of absurd length ratio",
    "duplicate": "seen before",
}
"""Why a pair is left out, and how that is said."""

NOTED = {
    "equal": "whose sides are equal",
    "digits": "whose digits differ",
    "markup": "with left-over markup",
}
"""What is odd about a pair that is kept: one of a small corpus is missed more than it harms."""


@dataclass
class CleaningReport:
    """How many pairs were read, why some were dropped, and what others should be looked at for."""

    read: int = 0
    empty: int = 0
    too_long: int = 0
    odd_ratio: int = 0
    duplicate: int = 0
    equal: int = 0
    digits: int = 0
    markup: int = 0

    def count(self, judged: "Judged") -> None:
        """Take one more pair into account."""
        self.read += 1
        for reason in judged.reasons:
            setattr(self, reason, getattr(self, reason) + 1)

    @property
    def kept(self) -> int:
        """Pairs that passed every check."""
        dropped: int = sum(getattr(self, reason) for reason in DROPPED)
        return self.read - dropped

    @property
    def dropped_by_setting(self) -> dict[str, tuple[int, str]]:
        """How many pairs each setting of [cleaning] dropped, and what is said of them."""
        return {
            "max_characters": (self.too_long, DROPPED["too_long"]),
            "max_ratio": (self.odd_ratio, DROPPED["odd_ratio"]),
        }

    def __str__(self) -> str:
        counts = ((getattr(self, reason), why) for reason, why in DROPPED.items())
        dropped = ", ".join(f"{count:,} {why}" for count, why in counts if count)
        return f"{self.kept:,} of {self.read:,} pairs kept" + (dropped and f"; dropped {dropped}")


class Judged(NamedTuple):
    """A pair in the form in which it is trained on, and what is odd about it."""

    source: str
    target: str
    reasons: tuple[str, ...] = ()

    @property
    def is_dropped(self) -> bool:
        """Whether it is left out."""
        return any(reason in DROPPED for reason in self.reasons)


def read_pairs(source: Path, target: Path | None = None) -> Iterator[Pair]:
    """Stream the pairs of two aligned files, or of one TSV when no target is given."""
    for path in (source, target):
        if path is not None:
            refuse_no_text(path)
            if target is not None:
                _refuse_tsv(path)
    return _read_tsv(source) if target is None else _read_two_files(source, target)


def clean_pairs(
    pairs: Iterable[Pair], config: CleaningConfig, report: CleaningReport, odd: Path | None = None
) -> Iterator[Pair]:
    """Normalise both sides and drop what would harm training, counting it in `report`.

    What is odd, dropped or not, goes into a TSV, if one is wanted: why, and both sides.
    """
    with odd.open("a", encoding="utf-8", newline="\n") if odd else nullcontext() as file:
        for judged in judge_pairs(pairs, config):
            report.count(judged)
            if file:
                fate = "dropped" if judged.is_dropped else "kept"
                file.writelines(
                    f"{fate}\t{reason}\t{judged.source}\t{judged.target}\n"
                    for reason in judged.reasons
                )
            if not judged.is_dropped:
                yield judged.source, judged.target


def judge_pairs(pairs: Iterable[Pair], config: CleaningConfig) -> Iterator[Judged]:
    """Tell of each pair what is odd about it."""
    seen: set[int] = set()  # of digests: some 64 bytes a pair, however long its text
    for raw in pairs:
        source, target = map(normalise, raw)
        shorter, longer = sorted((len(source), len(target)))
        if not shorter:
            yield Judged(source, target, ("empty",))
        elif longer > config.max_characters:
            yield Judged(source, target, ("too_long",))
        elif longer + 10 > config.max_ratio * (shorter + 10):
            yield Judged(source, target, ("odd_ratio",))
        elif (digest := text_digest(f"{source}\t{target}")) in seen:
            yield Judged(source, target, ("duplicate",))
        else:
            seen.add(digest)
            yield Judged(source, target, tuple(_oddities(source, target)))


def _oddities(source: str, target: str) -> Iterator[str]:
    if source == target:
        yield "equal"
    if sorted(_DIGITS.findall(source)) != sorted(_DIGITS.findall(target)):
        yield "digits"
    if _MARKUP.search(source) or _MARKUP.search(target):
        yield "markup"


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
