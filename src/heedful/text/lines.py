"""Text files, plain or gzipped, read as a stream of lines; what is no text is refused."""

import gzip
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from io import BufferedIOBase
from itertools import count
from pathlib import Path

from heedful.errors import CorpusError

_GZIP_MAGIC = b"\x1f\x8b"
_UTF16_MARKS = (b"\xff\xfe", b"\xfe\xff")
_BYTE_ORDER_MARK = "\ufeff"
LONGEST_LINE = 64 << 20  # bytes
_READ_SIZE = 65_536  # of a pipe; Linux holds as much


def read_lines(path: Path) -> Iterator[str]:
    """Stream the lines of a UTF-8 text file, plain or gzipped, without their line ends."""
    with _open(path) as file:
        for number, line in _numbered(file, path):
            yield _decode(line, str(path), number)


def read_any_lines(path: Path, *, replace_invalid: bool) -> Iterator[str]:
    """Stream the lines of any UTF-8 text; all but their line feeds is kept, to come back.

    Bytes that are not UTF-8 are an error that names the line, or become U+FFFD.
    """
    with _open(path) as file:
        for number, line in _numbered(file, path):
            yield _decode_any(line, str(path), number, replace_invalid)


def read_arriving_lines(pipe: BufferedIOBase, *, replace_invalid: bool) -> Iterator[str | None]:
    """Stream the lines of standard input likewise, and None where more may be long in coming."""
    number, begun = 1, list[bytes]()

    def line() -> str:
        return _decode_any(b"".join(begun), "standard input", number, replace_invalid)

    while arrived := pipe.read1(_READ_SIZE):
        *ends, rest = arrived.split(b"\n")
        for end in ends:
            begun.append(end)
            yield line()
            begun.clear()
            number += 1
        begun.append(rest)
        if len(arrived) < _READ_SIZE:
            yield None
    if any(begun):
        yield line()


def refuse_no_text(path: Path) -> None:
    """Refuse a file that is missing, empty or plainly not text, before any work is done."""
    try:
        is_other = path.exists() and not path.is_dir() and not path.is_file()
    except OSError as error:
        raise _unreadable(path, error) from None
    if is_other:
        raise CorpusError(
            f"{path} is a pipe or a device, but it is read more than once; save it first"
        )
    if next(read_lines(path), None) is None:
        raise CorpusError(f"{path} is empty; give it one sentence per line")


def _numbered(file: BufferedIOBase, path: Path) -> Iterator[tuple[int, bytes]]:
    """Give the lines with their numbers; one that has no end would take all memory."""
    for number in count(1):
        line = file.readline(LONGEST_LINE + 1)
        if not line:
            return
        if len(line) > LONGEST_LINE:
            raise CorpusError(
                f"{path}, line {number}: longer than {LONGEST_LINE >> 20} MB, so this is no text "
                "in lines; break it into lines"
            )
        yield number, line


def _decode(line: bytes, name: str, number: int) -> str:
    if number == 1:
        _refuse_utf16(line, name)
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


def _decode_any(line: bytes, name: str, number: int, replace_invalid: bool) -> str:
    if number == 1 and line.startswith(_GZIP_MAGIC):
        raise CorpusError(f"{name} is gzip; unpack it first, as in: gunzip -c f.gz | heedful ...")
    if number == 1 and not replace_invalid:
        _refuse_utf16(line, name)
    try:
        text = line.decode(errors="replace" if replace_invalid else "strict")
    except UnicodeDecodeError as error:
        raise CorpusError(
            f"{_not_utf8(error, line, name, number)}, or give --replace-invalid"
        ) from error
    return text.removesuffix("\n")


def _refuse_utf16(line: bytes, name: str) -> None:
    if line.startswith(_UTF16_MARKS):
        raise CorpusError(f"{name} is UTF-16 text; save it as UTF-8")


def _not_utf8(error: UnicodeDecodeError, line: bytes, name: str, number: int) -> CorpusError:
    return CorpusError(
        f"{name}, line {number}, byte {error.start + 1}: 0x{line[error.start]:02x} is not "
        "valid UTF-8; convert the file to UTF-8"
    )


@contextmanager
def _open(path: Path) -> Iterator[BufferedIOBase]:
    try:
        plain = path.open("rb")
    except FileNotFoundError:
        raise CorpusError(f"{path}: no such file; check the path") from None
    except IsADirectoryError:
        raise CorpusError(f"{path} is a folder; give a text file") from None
    except OSError as error:
        raise _unreadable(path, error) from None
    with plain:
        try:
            is_gzip = plain.peek(2)[:2] == _GZIP_MAGIC
            yield gzip.GzipFile(fileobj=plain) if is_gzip else plain
        except (gzip.BadGzipFile, zlib.error, EOFError) as error:
            raise CorpusError(f"{path}: damaged gzip file ({error}); fetch it again") from error
        except OSError as error:
            raise _unreadable(path, error) from error


def _unreadable(path: Path, error: OSError) -> CorpusError:
    return CorpusError(f"{path}: cannot be read, {error.strerror}")
