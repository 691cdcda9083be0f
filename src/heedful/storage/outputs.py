"""What an output may be: never what is read, nor in place of what heedful did not make.

A folder that heedful makes holds a file that says so. Once the folder is whole, that file lists
what heedful made in it, so that nothing else is ever replaced or deleted with it.
"""

import os
import stat
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import BinaryIO

from heedful.errors import ConfigError, ModelFolderError

MARK = "heedful.txt"
PARTIAL, NOTES = ".partial", ".progress.json"
_SENTENCE = "heedful made this folder; it may replace or delete what it made here.\n"


def beside(path: Path, ending: str = PARTIAL) -> Path:
    """Return where something is while it is not whole yet, or what is noted of that."""
    return path.with_name(path.name + ending)


def real_output(path: Path, inputs: Iterable[Path] = ()) -> Path:
    """Return where a file is really written, which is behind links; refuse what must not be.

    That is a folder, and whatever is read: `inputs`, all that is in those that are folders, and
    standard input.
    """
    try:
        if path.is_dir():
            raise ConfigError(f"{path} is a folder; name a file to write")
        if not becomes_a_file(path):
            return path
        real = path.resolve() if path.is_symlink() else path
        if real.exists() and not os.access(real, os.W_OK):
            raise ConfigError(f"{path}: cannot be written, it is read-only")
        _refuse_inputs(path, [real, beside(real), beside(real, NOTES)], inputs)
    except (OSError, RuntimeError) as error:  # a link to itself is a RuntimeError
        reason = error.strerror if isinstance(error, OSError) else "its links go round in a circle"
        raise ConfigError(f"{path}: cannot be written, {reason}") from error
    return real


def becomes_a_file(path: Path) -> bool:
    """Tell a file, or what is not there yet, from a folder, a pipe, a device or our own output."""
    return not os.path.exists(path) or (os.path.isfile(path) and _own_stream(path) is None)


def is_plain_file(path: Path) -> bool:
    """Tell a file from all else, links to files included."""
    return stat.S_ISREG(path.lstat().st_mode)


def open_as_it_is(path: Path) -> BinaryIO:
    """Open what does not become a file, to write into it."""
    stream = _own_stream(path)
    if stream is None:
        return path.open("wb")
    sys.stdout.flush()
    return os.fdopen(os.dup(stream), "wb")


def mark(folder: Path) -> None:
    """Mark a folder as ours."""
    (folder / MARK).write_text(_SENTENCE, encoding="utf-8", newline="\n")


def list_contents(folder: Path) -> None:
    """Note in the mark of a folder what has been made in it."""
    names = sorted(str(path.relative_to(folder)) for path in _contents(folder))
    with (folder / MARK).open("a", encoding="utf-8", newline="\n") as file:
        file.writelines(f"{name}\n" for name in names if name != MARK)


def is_marked(folder: Path) -> bool:
    """Whether a folder says that heedful made it."""
    return _read_mark(folder).startswith(_SENTENCE)


def is_free(folder: Path) -> bool:
    """Whether nothing is there, or an empty folder."""
    return not os.path.lexists(folder) or (folder.is_dir() and not any(folder.iterdir()))


def refuse_foreign(folder: Path) -> None:
    """Refuse to replace or delete a folder in which there is anything that we did not make."""
    if is_free(folder):
        return
    if not folder.is_dir() or folder.is_symlink():
        raise not_ours(folder)
    marked, *listed = _read_mark(folder).splitlines() or [""]
    known = {MARK, *listed} if f"{marked}\n" == _SENTENCE else set()
    for path in _contents(folder):
        if str(path.relative_to(folder)) not in known:
            raise not_ours(path)


def not_ours(path: Path) -> ModelFolderError:
    """Say that something must not be replaced or deleted."""
    return ModelFolderError(
        f"{path} was not made by heedful and is in the way; move it, or choose another folder"
    )


def _read_mark(folder: Path) -> str:
    path = folder / MARK
    try:
        return path.read_text(encoding="utf-8") if is_plain_file(path) else ""
    except (OSError, UnicodeDecodeError):
        return ""


def _contents(folder: Path) -> Iterator[Path]:
    """Yield what is in a folder and those below it; links are not followed."""
    for parent, folders, files in os.walk(folder):
        for name in sorted(folders) + sorted(files):
            yield Path(parent, name)


def _refuse_inputs(path: Path, written: Iterable[Path], inputs: Iterable[Path]) -> None:
    identities = {_identity(file) for file in written} - {None}
    if not identities:
        return
    for file in _files(inputs):
        if _identity(file) in identities:
            raise ConfigError(
                f"{path}: writing it would destroy {file}, which is read; name another output"
            )
    if _stream_identity(0) in identities:
        raise ConfigError(
            f"{path}: writing it would destroy what is read from standard input; "
            "name another output"
        )


def _files(inputs: Iterable[Path]) -> Iterator[Path]:
    for path in inputs:
        if path.is_dir():
            yield from _contents(path)
        yield path


def _identity(path: Path) -> tuple[int, int] | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino


def _stream_identity(number: int) -> tuple[int, int] | None:
    try:
        found = os.fstat(number)
    except OSError:  # closed
        return None
    return found.st_dev, found.st_ino


def _own_stream(path: Path) -> int | None:
    """Return our standard output or error if that is what a path leads to."""
    found = _identity(path)
    return next((number for number in (1, 2) if found and _stream_identity(number) == found), None)
