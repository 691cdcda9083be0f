"""`heedful data`: a look at a corpus before anything is trained on it."""

from collections.abc import Iterator
from itertools import tee
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from heedful.errors import printable

if TYPE_CHECKING:
    from heedful.data.check import Findings

_SHOWN = 28  # characters of a side, so that both fit on a line of 80

data_app = typer.Typer(help="Look at a corpus.", no_args_is_help=True)


@data_app.command()
def check(
    source: Annotated[Path, typer.Argument(metavar="SOURCE", help="Sentences, or a TSV of pairs.")],
    target: Annotated[
        Path | None, typer.Argument(metavar="[TARGET]", help="Their translations, line by line.")
    ] = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="A TSV to write all that is odd to.")
    ] = None,
) -> None:
    """Tell what is odd about a corpus: what training would drop, and what it would keep.

    heedful data check train.en train.fr

    heedful data check pairs.tsv --output odd.tsv
    """
    from heedful.data.check import Odd, check_pairs, find
    from heedful.data.corpus import CleaningConfig, read_pairs
    from heedful.translation.files import write_lines

    def lines(odd: Iterator[Odd]) -> Iterator[str]:
        for judged, reasons in odd:
            for reason in reasons:
                fate = "dropped" if judged.is_dropped else "kept"
                yield "\t".join((fate, reason, judged.source, judged.target))

    found, listed = tee(check_pairs(read_pairs(source, target), CleaningConfig()))
    findings = find(found)
    if output:
        write_lines(output, lines(listed), [source, *([target] if target else [])])
    _tell(findings, Console())


@data_app.command()
def dates(
    output: Annotated[Path, typer.Option("--output", "-o", help="The TSV to write.")],
    to_language: Annotated[
        str, typer.Option("--to", help="The locale of the translations: fr, de, ja, pt_BR, ...")
    ] = "fr",
    pairs: Annotated[int, typer.Option(help="How many.")] = 20_000,
) -> None:
    """Write pairs of dates, numbers, money, units and names, from English into any locale (CLDR).

    heedful data dates --to fr --pairs 5000 --output dates.en-fr.tsv
    """
    from heedful.data.embedded import generate
    from heedful.translation.files import write_lines

    corpus = generate(to_language, train=pairs, held_out=1)
    write_lines(output, (f"{source}\t{target}" for source, target in corpus.train))


def _tell(findings: "Findings", console: Console) -> None:
    from heedful.data.check import REASONS

    ours, theirs = findings.typical_words
    console.print(
        f"{findings.read:,} pairs, {findings.kept:,} of them to train on, with "
        f"{findings.distinct_sources:,} different sources; typically {ours:g} words and "
        f"{theirs:g}",
        highlight=False,
    )
    odd = {reason: count for reason, count in findings.counts.items() if count}
    if not odd:
        console.print("Nothing odd was found.")
        return
    table = Table(box=None, pad_edge=False, show_edge=False)
    for heading, side in (("pairs", "right"), ("share", "right"), ("", "left")):
        table.add_column(heading, justify=side, overflow="fold")  # type: ignore[arg-type]
    for reason, count in sorted(odd.items(), key=lambda item: -item[1]):
        table.add_row(f"{count:,}", f"{count / findings.read:.1%}", f"[bold]{REASONS[reason]}")
        for one, other in findings.examples[reason]:
            shown = f"{_short(one)}  |  {_short(other)}"
            table.add_row("", "", f"[dim]{escape(shown)}[/dim]")
    console.print(table, highlight=False)


def _short(text: str) -> str:
    shown = printable(text)
    return shown if len(shown) <= _SHOWN else f"{shown[: _SHOWN - 2]} …"
