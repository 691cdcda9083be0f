"""What `make pictures` does: it runs the demo, and keeps what one sees of it as SVG.

GitHub shows an SVG as an image, which may load nothing: no font, no script, no other file.
"""

import io
import shutil
import sys
from pathlib import Path

from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

from heedful.cli.demo import run_demo
from heedful.storage.folder import ModelFolder

PICTURES = Path("docs") / "pictures"
COLUMNS = 80
SHOWN_FROM = "held-out"  # the first line that is shown has it: what comes before is the training
TITLE = "make demo"

_SVG = """\
<svg viewBox="0 0 {width} {height}" xmlns="http://www.w3.org/2000/svg">
<title>What the demo shows when it has trained</title>
<style>
.{unique_id}-matrix {{ font: {char_height}px/{line_height}px Consolas, Menlo, monospace }}
.{unique_id}-title {{ font: bold 18px sans-serif }}
{styles}
</style>
<defs>
<clipPath id="{unique_id}-clip-terminal">
<rect width="{terminal_width}" height="{terminal_height}"/>
</clipPath>
{lines}
</defs>
{chrome}
<g transform="translate({terminal_x}, {terminal_y})" clip-path="url(#{unique_id}-clip-terminal)">
{backgrounds}
<g class="{unique_id}-matrix">
{matrix}
</g>
</g>
</svg>
"""


def make_pictures(folder: Path) -> None:
    """Run the demo in a folder, and picture how it ends and how it learned."""
    console = Console(record=True, width=COLUMNS, force_terminal=False)
    run_demo(folder, "fr", console)
    shown = last_screen(console.export_text(styles=True), SHOWN_FROM)
    PICTURES.mkdir(parents=True, exist_ok=True)
    (PICTURES / "demo.svg").write_text(terminal_svg(shown, TITLE), encoding="utf-8")
    shutil.copyfile(ModelFolder(folder / "model").curves_picture, PICTURES / "curves.svg")


def last_screen(text: str, beginning: str) -> str:
    """Return the lines of a terminal from the first that has some words."""
    lines = text.splitlines()
    first = next(number for number, line in enumerate(lines) if beginning in line)
    return "\n".join(lines[first:])


def terminal_svg(text: str, title: str) -> str:
    """Picture what a terminal shows, its colours included, in fonts that every machine has."""
    shown = Text.from_ansi(text)
    width = max(cell_len(line.plain.rstrip()) for line in shown.split())
    console = Console(record=True, width=width, file=io.StringIO())
    console.print(shown, soft_wrap=True)
    return console.export_svg(title=title, code_format=_SVG, unique_id="demo")


if __name__ == "__main__":
    make_pictures(Path(sys.argv[1]))
