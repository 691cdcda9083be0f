"""Text files, plain or gzipped, read as a stream of lines; what is no text is refused."""

import gzip
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, cast

from heedful.errors import CorpusError

_GZIP_MAGIC = b"\x1f\x8b"
_UTF16_MARKS = (b"\xff\xfe", b"\xfe\xff")
_BYTE_ORDER_MARK = "\ufeff"


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
