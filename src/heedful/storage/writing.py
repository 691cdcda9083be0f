"""Files and folders that are there whole or not at all, whatever happens meanwhile.

What is written stands beside its place, and is put there when all of it is on the disk.
"""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, BinaryIO

from heedful.errors import ModelFolderError, StorageError
from heedful.storage.outputs import (
    MARK,
    beside,
    is_marked,
    list_contents,
    mark,
    not_ours,
    refuse_foreign,
)


def write_atomically(path: Path, content: str | bytes) -> None:
    """Write a file of a folder of ours whole."""
    with file_written_whole(path) as file:
        file.write(content.encode() if isinstance(content, str) else content)


@contextmanager
def file_written_whole(path: Path) -> Iterator[BinaryIO]:
    """Give a file to write into, which takes the place of `path` when all of it is written.

    It is for folders of ours: what lies beside it, left by one who was killed, is written anew.
    """
    partial = beside(path)
    try:
        partial.unlink(missing_ok=True)
        try:
            with create(partial, like=path) as file:
                yield file
                put_in_place(file, partial, path)
        except BaseException:
            partial.unlink(missing_ok=True)
            raise
    except OSError as error:
        raise StorageError(
            f"{path}: cannot be written, {error.strerror or error}; nothing saved is lost, "
            "so make room and run the same command to go on"
        ) from error


@contextmanager
def folder_written_whole(path: Path) -> Iterator[Path]:
    """Give a folder to write into, which takes the place of `path` when all of it is written.

    Of two programs that would write it, the second is refused; and so is a place that is taken
    by what we did not make.
    """
    path = path.resolve() if path.is_symlink() else path
    partial = beside(path)
    try:
        refuse_foreign(path)
        with _taken(partial):
            yield partial
            list_contents(partial)
            for parent, _, files in os.walk(partial):
                for name in files:
                    _sync(Path(parent, name))
            remove_folder(path)
            os.replace(partial, path)
            _sync(path.parent)
    except OSError as error:
        raise StorageError(
            f"{path}: cannot be written, {error.strerror or error}; "
            "make room and run the same command again"
        ) from error


def remove_folder(path: Path) -> None:
    """Delete a folder of ours, if it is there."""
    refuse_foreign(path)
    if path.exists():
        _delete(path)


def make_folder(path: Path) -> None:
    """Make a folder and those above it, if they are not there."""
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StorageError(
            f"{path}: cannot be made, {error.strerror}; choose another folder, or make room and "
            "run the same command to go on"
        ) from error


def create(partial: Path, *, like: Path) -> BinaryIO:
    """Create a file that is not there, to be read by those who may read `like` if that is there."""
    before = like.stat() if like.exists() else None
    kept = 0o666 if before is None else before.st_mode & 0o777
    file = os.fdopen(os.open(partial, os.O_RDWR | os.O_CREAT | os.O_EXCL, kept), "w+b")
    if before and os.name == "posix":
        with suppress(OSError):  # only root may give a file away
            os.fchown(file.fileno(), before.st_uid, before.st_gid)
        os.fchmod(file.fileno(), kept)
    return file


def put_in_place(file: BinaryIO, partial: Path, path: Path) -> None:
    """Put a file of which all is written in its place, and make that last."""
    file.flush()
    os.fsync(file.fileno())
    file.close()
    os.replace(partial, path)
    _sync(path.parent)


def has_lock(file: IO[bytes] | int, *, wait: bool = False) -> bool:
    """Lock a file or folder until it is closed; False where another program has done so."""
    if os.name != "posix":
        return True
    import fcntl  # which Windows does not have

    try:
        fcntl.flock(file, fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        pass  # a disk that knows no locks
    return True


@contextmanager
def folder_locked(path: Path) -> Iterator[None]:
    """Keep other programs of ours from making or removing marks and notes for a moment."""
    if os.name != "posix":
        yield
        return
    folder = os.open(path, os.O_RDONLY)
    try:
        has_lock(folder, wait=True)
        yield
    finally:
        os.close(folder)


@contextmanager
def _taken(partial: Path) -> Iterator[None]:
    """Have an empty folder of our own for the length of a block, which stays if that ends well."""
    if partial.is_symlink():
        raise not_ours(partial)
    if not is_marked(partial):
        refuse_foreign(partial)
        partial.mkdir(parents=True, exist_ok=True)
        mark(partial)
    with (partial / MARK).open("rb") as marked:
        if not has_lock(marked):
            raise ModelFolderError(f"{partial}: another program is writing it; wait for it")
        try:
            _empty(partial)
            mark(partial)
            yield
        except BaseException:
            with suppress(OSError):
                _delete(partial)
            raise


def _delete(folder: Path) -> None:
    """Delete a folder, and last of all what says that it is ours."""
    _empty(folder)
    (folder / MARK).unlink(missing_ok=True)
    folder.rmdir()


def _empty(folder: Path) -> None:
    for path in folder.iterdir():
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        elif path.name != MARK:
            path.unlink()


def _sync(path: Path) -> None:
    """Make sure that what was written to a file, or renamed in a folder, lasts."""
    if os.name == "posix":
        opened = os.open(path, os.O_RDONLY)
        try:
            os.fsync(opened)
        finally:
            os.close(opened)
