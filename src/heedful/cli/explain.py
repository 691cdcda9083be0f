"""What `heedful explain` does."""

import os
import sys
import webbrowser
from pathlib import Path

from rich.console import Console
from rich.markup import escape

from heedful.cli.terminal import say
from heedful.cli.walk import show_walk
from heedful.errors import ConfigError, printable
from heedful.explain.explanation import explain
from heedful.explain.page import write_page
from heedful.storage.folder import ModelFolder
from heedful.text.normalise import refuse_halves
from heedful.text.sentences import LONGEST, cut_text
from heedful.translation.translator import load

_ENDINGS = (".svg", ".json")


def explain_text(
    folder: ModelFolder,
    text: str,
    out: Path | None,
    translation: str | None,
    to_language: str,
    *,
    is_opened: bool,
) -> None:
    """Write the page of a model, or what it does with a sentence; without a file, print that."""
    refuse_halves(text)
    is_page = out is not None and out.suffix not in _ENDINGS
    if translation is not None and is_page:
        raise ConfigError("--translation is for the terminal, .svg and .json; leave it out")
    if is_opened and not is_page:
        raise ConfigError("--open shows a page; say where to write it: --out page.html")
    if out is None or not is_page:
        if not text.strip():
            raise ConfigError('there is no text; type: heedful explain MODEL "A sentence."')
        _walk(folder, text, out, translation, to_language)
        return
    path = write_page(out, folder, text, to_language)
    _say_written(path)
    if is_opened and not (_has_display() and webbrowser.open(path.resolve().as_uri())):
        say(Console(), "There is no display here; open it in a browser on your own machine.")


def _walk(
    folder: ModelFolder, text: str, out: Path | None, translation: str | None, to_language: str
) -> None:
    translator = load(folder.path)
    if out is not None:
        explanation = explain(translator, text, translation=translation, to_language=to_language)
        _say_written(explanation.save(out))
        return
    longest = min(LONGEST, translator.engine.most_pieces - 2)
    sentences = [text[start:end] for start, end in cut_text(text, longest)]
    if translation is not None and len(sentences) > 1:
        raise ConfigError("--translation is read with one sentence, and this text has several")
    for sentence in sentences:
        explanation = explain(
            translator, sentence, translation=translation, to_language=to_language
        )
        show_walk(explanation, Console())


def _say_written(path: Path) -> None:
    size = path.stat().st_size / 1e6
    say(Console(), f"Written: {escape(printable(str(path)))} ({size:.1f} MB)")


def _has_display() -> bool:
    """Whether a browser could show something: text browsers would take over the terminal."""
    if sys.platform in ("win32", "darwin"):
        return True
    return any(os.environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY"))
