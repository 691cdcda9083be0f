"""An output that takes long: written beside its place, and gone on with where it stopped."""

import json
import os
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from heedful.errors import ConfigError, HeedfulError, StoppedError, StorageError
from heedful.storage.folder import write_atomically

_SECONDS_BETWEEN_NOTES = 2
_COUNTED = ("inputs", "bytes")

About = Mapping[str, str | int | float | None]
"""What an output depends on, by names that a user knows."""


class PartialFile:
    """Lines that become a file when all are there; notes beside them say how many are done."""

    def __init__(self, path: Path, about: About) -> None:
        self.path, self._about = path, dict(about)
        self._partial = path.with_name(path.name + ".partial")
        self._notes = path.with_name(path.name + ".progress.json")
        self.num_done = 0
        """Inputs of which the output is written."""

    @contextmanager
    def begun(self, *, resume: bool, note_every: int) -> Iterator[None]:
        """Write to it in a block that ends with the file in its place.

        With `resume` it goes on with what an earlier run has done. Notes are taken after a
        multiple of `note_every` inputs. An error of ours leaves nothing behind; whatever else
        ends the block leaves what is done to another run.
        """
        done = self._noted() if resume and self._notes.exists() else dict.fromkeys(_COUNTED, 0)
        self.num_done, self._note_every = done["inputs"], note_every
        with self._partial.open("ab") as self._file:
            self._file.seek(self._file.truncate(done["bytes"]))
            self.note()
            try:
                yield
            except HeedfulError as error:
                if not isinstance(error, StoppedError | StorageError):
                    self._partial.unlink()
                    self._notes.unlink()
                raise
        self._partial.replace(self.path)
        self._notes.unlink()

    def write(self, text: str) -> None:
        """Add what became of one input."""
        self._file.write(text.encode())
        self.num_done += 1
        is_due = time.monotonic() - self._noted_at > _SECONDS_BETWEEN_NOTES
        if is_due and self.num_done % self._note_every == 0:
            self.note()

    def note(self) -> None:
        """Make sure that what is written so far lasts, and take note of it."""
        self._file.flush()
        os.fsync(self._file.fileno())
        notes = {"about": self._about, "inputs": self.num_done, "bytes": self._file.tell()}
        write_atomically(self._notes, json.dumps(notes, indent=2) + "\n")
        self._noted_at = time.monotonic()

    def _noted(self) -> dict[str, int]:
        begin_anew = "translate without --resume to begin anew"
        try:
            notes = json.loads(self._notes.read_text(encoding="utf-8"))
            about, done = dict(notes["about"]), {name: int(notes[name]) for name in _COUNTED}
            is_whole = self._partial.stat().st_size >= done["bytes"]
        except (OSError, ValueError, TypeError, KeyError):
            is_whole = False
        if not is_whole:
            raise ConfigError(
                f"{self._partial}: damaged or gone; remove {self._notes} to begin anew"
            )
        for name, now in self._about.items():
            if (before := about.get(name)) != now:
                raise ConfigError(
                    f"{self.path} was begun with {name} {before}, and now it is {now}; {begin_anew}"
                )
        return done
