"""Lines for people to read."""

from collections.abc import Iterable, Iterator

from rich.console import Console

from heedful.evaluation import Score


def say(console: Console, *lines: str) -> None:
    """Print lines as they are: not broken at the console's width, numbers not coloured."""
    for line in lines:
        console.print(line, highlight=False, soft_wrap=True)


def score_lines(scores: Iterable[Score]) -> Iterator[str]:
    """Write one score per line, aligned, each with its signature."""
    for score in scores:
        yield f"  {score.name:<12}{score.value:7.2f}   [dim]{score.signature}[/dim]"
