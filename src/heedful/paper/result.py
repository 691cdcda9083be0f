"""What every table and figure comes to: tables, pictures, claims, and a word on the scale."""

import csv
import io
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

Value = str | int | float | None

HOLDS = "holds"
FAILS = "does not hold at this scale"
UNTESTED = "cannot be tested here"


@dataclass(frozen=True, kw_only=True)
class Table:
    """Rows under named columns; where the paper prints a number, it stands beside ours."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Value, ...], ...]

    def markdown(self) -> str:
        """Write it as GitHub reads it."""
        lines = [self.columns, ("---",) * len(self.columns), *(map(show, row) for row in self.rows)]
        return "\n".join(f"| {' | '.join(map(_escaped, line))} |" for line in lines)

    _repr_markdown_ = markdown  # in a notebook

    def csv(self) -> str:
        """Write it with all digits."""
        text = io.StringIO()
        table = csv.writer(text, lineterminator="\n")
        table.writerow(self.columns)
        table.writerows(self.rows)
        return text.getvalue()


@dataclass(frozen=True, kw_only=True)
class Picture:
    """A drawing, made when it is wanted, as that takes matplotlib."""

    name: str
    caption: str
    draw: Callable[[], Any]
    """Returns a figure of matplotlib's; called by `style.render`."""

    def _repr_png_(self) -> bytes:
        """Show it in a notebook."""
        from heedful.paper.style import render  # matplotlib, which not everybody has

        return render(self.draw)["png"]


@dataclass(frozen=True, kw_only=True)
class Claim:
    """A sentence of the paper or of those who explain it, and how it fares here."""

    text: str
    source: str
    """Where it is said."""
    printed: str = ""
    measured: str = ""
    verdict: str = UNTESTED
    why: str = ""


@dataclass(frozen=True, kw_only=True)
class Result:
    """All that one name of `heedful paper` comes to."""

    name: str
    title: str
    tables: tuple[Table, ...]
    scale: str
    """What the numbers were measured on, and how far they carry."""
    pictures: tuple[Picture, ...] = field(default=())
    claims: tuple[Claim, ...] = field(default=())

    def markdown(self) -> str:
        """Write all of it, with the pictures by name."""
        return "\n\n".join(self._parts()) + "\n"

    def _parts(self) -> Iterator[str]:
        yield f"# {self.title}"
        for table in self.tables:
            yield f"**{table.title}**"
            yield table.markdown()
        for picture in self.pictures:
            yield f"![{picture.caption}]({picture.name}.svg)"
        yield self.scale
        for claim in self.claims:
            yield f"- {claim.text} ({claim.source}): **{claim.verdict}**. {claim.why}".rstrip()


Events = Iterator[str | Result]
"""Lines on what is being done, and at last the result."""


def claim(text: str, source: str, *, holds: bool, **details: str) -> Claim:
    """Judge what was measured."""
    return Claim(text=text, source=source, verdict=HOLDS if holds else FAILS, **details)


def show(value: Value) -> str:
    """Write a value for people: four digits that count, thousands apart."""
    if value is None:
        return ""
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        return f"{value:,.0f}" if 1_000 <= abs(value) < 1e7 else f"{value:.4g}"
    return value


def _escaped(cell: str) -> str:
    return cell.replace("|", "\\|")
