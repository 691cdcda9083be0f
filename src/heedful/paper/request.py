"""What is asked of a table or a figure, and the folder that it is written to."""

import hashlib
import json
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from heedful.errors import ConfigError
from heedful.paper.result import Result
from heedful.storage.outputs import MARK, is_free, is_marked, mark, not_ours
from heedful.storage.writing import make_folder, write_atomically


@dataclass(frozen=True, kw_only=True)
class Request:
    """One name, and what goes with it; what a name does not take is refused."""

    name: str
    out: Path = Path("paper")
    """Where tables and pictures go, and the measurements that they are made from."""
    model: Path | None = None
    """A model folder to look into."""
    text: str = ""
    """A sentence to look at."""
    trees: Path | None = None
    """A folder of bracketed trees."""
    source: str = ""
    target: str = ""
    valid_source: str = ""
    valid_target: str = ""
    minutes: float | None = None
    """For all of it."""
    size: str = ""
    """The preset that is the base of a table."""
    seeds: int = 1
    """Trainings of each row."""

    def __post_init__(self) -> None:
        if self.minutes is not None and not 0 < self.minutes < 1e6:
            raise ConfigError(f"--minutes must be a number above 0, got {self.minutes:g}")

        if not 1 <= self.seeds <= 100:
            raise ConfigError(f"--seeds must be from 1 to 100, got {self.seeds}")

    @property
    def given(self) -> set[str]:
        """The names of what was said besides name and folder."""
        return {
            field.name
            for field in fields(self)
            if field.name not in ("name", "out") and getattr(self, field.name) != field.default
        }


class Cells:
    """Measurements on disk, so that what was measured is not measured again."""

    def __init__(self, out: Path) -> None:
        self.folder = out / "cells"

    def measured(
        self, name: str, about: Mapping[str, Any], measure: Callable[[], dict[str, Any]]
    ) -> dict[str, Any]:
        """Return what was measured under this name and for all of `about`, or measure it now."""
        path = self._path(name, about)
        if not self.has(name, about):
            content = {"about": dict(about), "measured": measure()}
            make_folder(self.folder)
            write_atomically(path, json.dumps(content, indent=1) + "\n")
        found: dict[str, Any] = json.loads(path.read_bytes())["measured"]
        return found

    def has(self, name: str, about: Mapping[str, Any]) -> bool:
        """Whether a cell is finished; one that cannot be read is not."""
        try:
            return "measured" in json.loads(self._path(name, about).read_bytes())
        except (OSError, ValueError):
            return False

    def _path(self, name: str, about: Mapping[str, Any]) -> Path:
        digest = hashlib.sha256(json.dumps(dict(about), sort_keys=True).encode()).hexdigest()
        return self.folder / f"{name}-{digest[:10]}.json"


def claim_folder(out: Path) -> None:
    """Make the folder of results ours, or refuse one that is not."""
    if is_marked(out):
        return
    if not is_free(out):
        raise not_ours(out)
    make_folder(out)
    mark(out)


def give_up(out: Path) -> None:
    """Leave nothing behind where nothing came of it."""
    with suppress(OSError):
        if [path.name for path in out.iterdir()] == [MARK]:
            (out / MARK).unlink()
            out.rmdir()


def write_tables(result: Result, out: Path) -> list[Path]:
    """Write a result as Markdown and its tables as CSV; return the files."""
    contents = {f"{result.name}.md": result.markdown()}
    for number, table in enumerate(result.tables, start=1):
        suffix = "" if number == 1 else f"-{number}"
        contents[f"{result.name}{suffix}.csv"] = table.csv()
    for name, content in contents.items():
        write_atomically(out / name, content)
    return [out / name for name in contents]


def write_pictures(result: Result, out: Path) -> list[Path]:
    """Draw the pictures of a result as SVG and PNG; return the files."""
    if not result.pictures:
        return []
    from heedful.paper.style import render  # matplotlib, which not everybody has

    written = []
    for picture in result.pictures:
        for ending, content in render(picture.draw).items():
            write_atomically(path := out / f"{picture.name}.{ending}", content)
            written.append(path)
    return written
