"""What is in a folder, to see that it stays as it is."""

import os
import stat
from pathlib import Path


def snapshot(folder: Path) -> dict[str, tuple[object, ...]]:
    """Return type, mode and content of all that is in a folder, links as links."""
    return {str(path.relative_to(folder)): described(path) for path in sorted(folder.rglob("*"))}


def described(path: Path) -> tuple[object, ...]:
    """Return type and mode of what is there, and what is in it."""
    mode = path.lstat().st_mode
    if stat.S_ISLNK(mode):
        return mode, os.readlink(path)
    return mode, path.read_bytes() if stat.S_ISREG(mode) else None
