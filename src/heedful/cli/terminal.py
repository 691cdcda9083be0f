"""Lines for people to read."""

from collections.abc import Iterable

from rich.console import Console
from rich.table import Table
from rich.text import Text

from heedful.errors import printable
from heedful.evaluation import Score
from heedful.storage.provenance import Example


def say(console: Console, *lines: str) -> None:
    """Print lines as they are: not broken at the console's width, numbers not coloured."""
    for line in lines:
        console.print(line, highlight=False, soft_wrap=True)


def tell(console: Console, *sentences: str) -> None:
    """Print prose, each sentence on lines of its own: a terminal breaks it between words."""
    for sentence in sentences:
        console.print(sentence, highlight=False, soft_wrap=not console.is_terminal)


def say_scores(console: Console, scores: Iterable[Score]) -> None:
    """Print one score per line, each with its signature, which a terminal gets folded."""
    if not console.is_terminal:
        say(console, *(f"{it.name:<11}  {it.value:6.2f}  {it.signature}" for it in scores))
        return
    table = Table.grid(padding=(0, 2))
    table.add_column(no_wrap=True)
    table.add_column(no_wrap=True, justify="right")
    table.add_column(overflow="fold", style="dim")
    for score in scores:
        table.add_row(score.name, f"{score.value:.2f}", score.signature)
    console.print(table, highlight=False)


def say_example(console: Console, example: Example, *, with_reference: bool = False) -> None:
    """Print a sentence and what became of it, each cut where a terminal's line ends."""
    lines = [Text(f"  {printable(example.source)}", "dim")]
    lines.append(Text(f"   -> {printable(example.translation)}"))
    if with_reference:
        lines.append(Text(f"    = {printable(example.reference)}", "dim"))
    for line in lines:
        if console.is_terminal:
            line.truncate(console.width, overflow="ellipsis")
        console.print(line, soft_wrap=True)
