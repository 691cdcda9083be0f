"""A parallel corpus: two aligned files or one TSV, read as a stream, checked and cleaned."""

import gzip
import hashlib
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, cast

from heedful.errors import ConfigError, CorpusError
from heedful.text.normalise import normalise

Pair = tuple[str, str]

_GZIP_MAGIC = b"\x1f\x8b"
_UTF16_MARKS = (b"\xff\xfe", b"\xfe\xff")
_BYTE_ORDER_MARK = "\ufeff"


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
    return _read_tsv(source) if target is None else _read_two_files(source, target)


def read_lines(path: Path) -> Iterator[str]:
    """Stream the lines of a UTF-8 text file, plain or gzipped, without their line ends."""
    with _open(path) as file:
        for number, line in enumerate(file, start=1):
            yield _decode(line, str(path), number)


def read_any_lines(file: Path | Iterable[bytes], *, replace_invalid: bool) -> Iterator[str]:
    """Stream the lines of any UTF-8 text; all but their line feeds is kept, to come back.

    Bytes that are not UTF-8 are an error that names the line, or become U+FFFD.
    """
    if isinstance(file, Path):
        with _open(file) as lines:
            yield from _decode_any(lines, str(file), replace_invalid)
    else:
        yield from _decode_any(file, "standard input", replace_invalid)


def refuse_no_text(path: Path) -> None:
    """Refuse a file that is missing, empty or plainly not text, before any work is done."""
    if path.exists() and not path.is_dir() and not path.is_file():
        raise CorpusError(
            f"{path} is a pipe or a device, but it is read more than once; save it first"
        )
    if next(read_lines(path), None) is None:
        raise CorpusError(f"{path} is empty; give it one sentence per line")


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


def _decode(line: bytes, name: str, number: int) -> str:
    if number == 1 and line.startswith(_UTF16_MARKS):
        raise CorpusError(f"{name} is UTF-16 text; save it as UTF-8")
    if b"\0" in line:
        raise CorpusError(
            f"{name}, line {number}: found a zero byte, so this is a binary file; "
            "give plain UTF-8 text or its .gz"
        )
    try:
        text = line.decode().rstrip("\r\n")
    except UnicodeDecodeError as error:
        raise _not_utf8(error, line, name, number) from error
    return text.removeprefix(_BYTE_ORDER_MARK) if number == 1 else text


def _decode_any(file: Iterable[bytes], name: str, replace_invalid: bool) -> Iterator[str]:
    for number, line in enumerate(file, start=1):
        try:
            text = line.decode(errors="replace" if replace_invalid else "strict")
        except UnicodeDecodeError as error:
            raise CorpusError(
                f"{_not_utf8(error, line, name, number)}, or give --replace-invalid"
            ) from error
        yield text.removesuffix("\n")


def _not_utf8(error: UnicodeDecodeError, line: bytes, name: str, number: int) -> CorpusError:
    return CorpusError(
        f"{name}, line {number}, byte {error.start + 1}: 0x{line[error.start]:02x} is not "
        "valid UTF-8; convert the file to UTF-8"
    )


@contextmanager
def _open(path: Path) -> Iterator[IO[bytes]]:
    try:
        plain = path.open("rb")
    except FileNotFoundError:
        raise CorpusError(f"{path}: no such file; check the path") from None
    except IsADirectoryError:
        raise CorpusError(f"{path} is a folder; give a text file") from None
    except OSError as error:
        raise CorpusError(f"{path}: cannot be read, {error.strerror}") from None
    with plain:
        is_gzip = plain.peek(2)[:2] == _GZIP_MAGIC
        try:
            yield cast(IO[bytes], gzip.GzipFile(fileobj=plain)) if is_gzip else plain
        except (gzip.BadGzipFile, zlib.error, EOFError) as error:
            raise CorpusError(f"{path}: damaged gzip file ({error}); fetch it again") from error
