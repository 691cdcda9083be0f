"""An output that takes long: written beside its place, and gone on with where it stopped."""

import json
import os
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO, NamedTuple

from heedful.errors import ConfigError, HeedfulError, StoppedError
from heedful.storage.outputs import NOTES, beside, is_plain_file
from heedful.storage.writing import create, folder_locked, has_lock, put_in_place

SECONDS_BETWEEN_NOTES = 2
_FIRST_LINE = b'{"notes": "how far heedful is with the file that it writes"}\n'
_MOST_NOTES = 1 << 26  # bytes

About = Mapping[str, str | int | float | None]
"""What an output depends on, by names that a user knows."""


class _Done(NamedTuple):
    inputs: int = 0
    bytes: int = 0


class PartialFile:
    """Lines that become a file when all are there; notes beside them say how many are done.

    The notes are lines of JSON that are only added to: one that says that they are ours, one that
    says what the output depends on whenever it is begun, and one for each time notes are taken.
    As long as it is written they are locked. Without `about` it cannot be gone on with.
    """

    def __init__(self, path: Path, about: About | None = None) -> None:
        self.path, self._about = path, None if about is None else dict(about)
        self._partial, self._notes_path = beside(path), beside(path, NOTES)
        self.num_done = 0
        """Inputs of which the output is written."""

    @contextmanager
    def begun(self, *, resume: bool = False, note_every: int = 1) -> Iterator[BinaryIO]:
        """Write to it in a block that ends with the file in its place, by `write` or as it is.

        With `resume` it goes on with what an earlier run has done. Notes are taken after a
        multiple of `note_every` inputs. An error of ours leaves nothing behind; whatever else
        ends the block leaves what is done to another run.
        """
        self._note_every = note_every
        try:
            with self._taken() as self._notes:
                done = self._noted() if resume else None
                try:
                    with self._opened(done) as self._file:
                        self.note()
                        yield self._file
                        put_in_place(self._file, self._partial, self.path)
                except BaseException as error:
                    if not self._is_kept(error):
                        self._partial.unlink(missing_ok=True)
                        self._remove_notes()
                    raise
                self._remove_notes()
        except OSError as error:
            raise ConfigError(f"{self.path}: cannot be written, {error.strerror}") from error

    def write(self, text: str) -> None:
        """Add what became of one input."""
        self._file.write(text.encode())
        self.num_done += 1
        is_due = time.monotonic() - self._noted_at > SECONDS_BETWEEN_NOTES
        if is_due and self.num_done % self._note_every == 0:
            self.note()

    def note(self) -> None:
        """Make sure that what is written so far lasts, and take note of it."""
        self._file.flush()
        os.fsync(self._file.fileno())
        self._add_note(_Done(self.num_done, self._file.tell())._asdict())
        self._noted_at = time.monotonic()

    def _taken(self) -> BinaryIO:
        """Open and lock the notes, which are made if need be; refuse what is not ours."""
        with folder_locked(self.path.parent):
            is_new = not os.path.lexists(self._notes_path)
            for path, may_be_there in (self._notes_path, True), (self._partial, not is_new):
                if os.path.lexists(path) and not (may_be_there and is_plain_file(path)):
                    raise self._in_the_way(path)
            notes = (
                create(self._notes_path, like=self.path) if is_new else self._notes_path.open("r+b")
            )
            try:
                self._make_sure(notes, is_new)
            except BaseException:
                notes.close()
                if is_new:
                    self._notes_path.unlink()
                raise
        return notes

    def _make_sure(self, notes: BinaryIO, is_new: bool) -> None:
        """See that we alone have the notes, and that they are ours."""
        if not has_lock(notes):
            raise ConfigError(
                f"{self.path}: another program is writing it; wait for it, or name another output"
            )
        if is_new:
            notes.write(_FIRST_LINE)
            notes.flush()
        elif notes.readline(len(_FIRST_LINE)) != _FIRST_LINE:
            raise self._in_the_way(self._notes_path)

    def _opened(self, done: _Done | None) -> BinaryIO:
        """Open what is not whole yet, at the place where it is gone on with."""
        if done:
            begun = self._partial.open("r+b")
            begun.seek(begun.truncate(done.bytes))
            self.num_done = done.inputs
            return begun
        self._partial.unlink(missing_ok=True)
        self._add_note({"about": self._about})
        return create(self._partial, like=self.path)

    def _add_note(self, note: Mapping[str, object]) -> None:
        self._notes.seek(0, os.SEEK_END)
        self._notes.write(json.dumps(note).encode() + b"\n")
        self._notes.flush()
        os.fsync(self._notes.fileno())

    def _noted(self) -> _Done | None:
        """Read how far an earlier run has come, if there was one."""
        about, done = self._read_notes()
        if about is None:
            return None
        if done is None or not _has_size(self._partial, done.bytes):
            raise ConfigError(
                f"{self._partial}: damaged or gone; remove {self._notes_path} to begin anew"
            )
        for name, now in (self._about or {}).items():
            if (before := about.get(name)) != now:
                raise ConfigError(
                    f"{self.path} was begun with {name} {before}, and now it is {now}; "
                    "translate without --resume to begin anew"
                )
        return done

    def _read_notes(self) -> tuple[dict[str, object] | None, _Done | None]:
        """Read what the output depends on and how much of it is done; None is unknown."""
        about, done = None, None
        self._notes.seek(0)
        _, *lines, _ = self._notes.read(_MOST_NOTES).split(b"\n")  # the last may be cut short
        for line in lines:
            try:
                note = json.loads(line)
            except (ValueError, RecursionError):
                return about or {}, None
            match note:
                case {"about": dict() | None as begun_with}:
                    about, done = begun_with or {}, _Done()
                case {"inputs": int(inputs), "bytes": int(size)} if min(inputs, size) >= 0:
                    done = _Done(inputs, size)
                case _:
                    return about or {}, None
        return about, done

    def _is_kept(self, error: BaseException) -> bool:
        """Whether another run is to go on with what is done."""
        if isinstance(error, OSError):
            return self._about is not None and self.num_done > 0
        is_ours = isinstance(error, HeedfulError) and not isinstance(error, StoppedError)
        return self._about is not None and not is_ours

    def _remove_notes(self) -> None:
        with folder_locked(self.path.parent):
            self._notes_path.unlink(missing_ok=True)

    def _in_the_way(self, path: Path) -> ConfigError:
        return ConfigError(
            f"{path} is in the way, and heedful did not write it; move it, or name another output"
        )


def _has_size(path: Path, size: int) -> bool:
    with suppress(OSError):
        return path.stat().st_size >= size
    return False
