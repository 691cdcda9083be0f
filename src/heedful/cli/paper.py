"""What `heedful paper` does."""

from rich.console import Console
from rich.markup import escape
from rich.table import Table as Drawn
from rich.text import Text

from heedful.cli.terminal import say, tell
from heedful.errors import printable
from heedful.paper.catalogue import ENTRIES, run
from heedful.paper.request import Request, write_pictures, write_tables
from heedful.paper.result import Result, Table, show


def measure(request: Request) -> None:
    """Measure what was named, show it, and write it down."""
    console = Console()
    for event in run(request):
        if isinstance(event, str):
            say(console, f"[dim]{escape(printable(event))}[/dim]")
        else:
            _tell_result(event, console)
            written = write_tables(event, request.out) + write_pictures(event, request.out)
            names = ", ".join(path.name for path in written)
            folder = escape(printable(str(request.out)))
            tell(console, f"Written to {folder}: {escape(names)}")


def tell_names() -> None:
    """List what there is."""
    table = Drawn.grid(padding=(0, 2))
    table.add_column(no_wrap=True, style="bold")
    table.add_column()
    for name, entry in ENTRIES.items():
        table.add_row(name, entry.about)
    Console().print(table, highlight=False)


def _tell_result(result: Result, console: Console) -> None:
    console.rule(escape(result.title), align="left")
    for table in result.tables:
        console.print(_drawn(table), highlight=False)
    tell(console, escape(printable(result.scale)))
    for claim in result.claims:
        colour = "green" if claim.verdict == "holds" else "yellow"
        tell(
            console,
            f"[{colour}]{claim.verdict}[/{colour}]: {escape(claim.text)} "
            f"[dim]({escape(claim.source)}; {escape(claim.measured)})[/dim]",
        )


def _drawn(table: Table) -> Drawn:
    drawn = Drawn(title=Text(table.title), title_justify="left", title_style="bold", box=None)
    is_number = [
        any(isinstance(row[column], int | float) for row in table.rows)
        for column in range(len(table.columns))
    ]
    for name, right in zip(table.columns, is_number, strict=True):
        drawn.add_column(Text(name), justify="right" if right else "left", overflow="fold")
    for row in table.rows:
        drawn.add_row(*(Text(printable(show(value))) for value in row))
    return drawn
