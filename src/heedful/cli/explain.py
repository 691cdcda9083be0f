"""What `heedful explain` does."""

import os
import sys
import webbrowser
from pathlib import Path

from rich.console import Console
from rich.markup import escape

from heedful.cli.terminal import say
from heedful.errors import printable
from heedful.explain.page import write_page
from heedful.storage.folder import ModelFolder
from heedful.text.normalise import refuse_halves


def write_and_open(folder: ModelFolder, text: str, out: Path, *, is_opened: bool) -> None:
    """Write the page of a model, and show it where there is a display."""
    refuse_halves(text)
    path = write_page(out, folder, text)
    size = path.stat().st_size / 1e6
    say(Console(), f"Written: {escape(printable(str(path)))} ({size:.1f} MB)")
    if is_opened and not (_has_display() and webbrowser.open(path.resolve().as_uri())):
        say(Console(), "There is no display here; open it in a browser on your own machine.")


def _has_display() -> bool:
    """Whether a browser could show something: text browsers would take over the terminal."""
    if sys.platform in ("win32", "darwin"):
        return True
    return any(os.environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY"))
