"""One HTML file of all results, which needs nothing beside it."""

import base64
from collections.abc import Iterator, Sequence
from html import escape

from heedful.paper.result import FAILS, HOLDS, UNTESTED, Claim, Picture, Result, Table, show

_STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; color: #22303c; background: #fff; margin: 0 auto;
  max-width: 60rem; padding: 2rem 1rem 6rem; }
h1 { font-size: 1.9rem; line-height: 1.2; } h2 { margin-top: 3.5rem; border-bottom: 1px solid
  #dde3e8; } table { border-collapse: collapse; font-size: .88rem; }
.wide { overflow-x: auto; margin: .5rem 0 1.2rem; }
caption { text-align: left; font-weight: 600; padding: .6rem 0 .3rem; }
th, td { padding: .2rem .7rem .2rem 0; text-align: left; vertical-align: top;
  border-bottom: 1px solid #eef1f4; } th { color: #55626e; font-weight: 600; }
td.number { text-align: right; font-variant-numeric: tabular-nums; }
img { max-width: 100%; height: auto; } figure { margin: 1rem 0; }
figcaption, .scale { color: #55626e; font-size: .9rem; }
.holds { color: #12704c; } .fails { color: #a34a10; } .untested { color: #55626e; }
nav ol { columns: 2; } @media (max-width: 40rem) { nav ol { columns: 1; } }
@media print { h2 { break-before: page; } }
"""
_CLASSES = {HOLDS: "holds", FAILS: "fails", UNTESTED: "untested"}


def html_report(results: Sequence[Result], title: str, opening: str) -> str:
    """Write contents, claims, and every result with its tables and pictures."""
    return "\n".join(_parts(results, title, opening)) + "\n"


def counted(claims: Sequence[Claim]) -> str:
    """Say how many claims fare how."""
    return ", ".join(
        f"{sum(claim.verdict == verdict for claim in claims)} {words}"
        for verdict, words in (
            (HOLDS, "hold"), (FAILS, "do not hold at this scale"), (UNTESTED, UNTESTED),
        )
    )  # fmt: skip


def _parts(results: Sequence[Result], title: str, opening: str) -> Iterator[str]:
    claims = [(result, claim) for result in results for claim in result.claims]
    yield '<!doctype html><html lang="en"><head><meta charset="utf-8">'
    yield '<meta name="viewport" content="width=device-width, initial-scale=1">'
    yield f"<title>{escape(title)}</title><style>{_STYLE}</style></head><body><main>"
    yield f"<h1>{escape(title)}</h1><p>{escape(opening)}</p>"
    yield '<nav aria-label="Contents"><h2>Contents</h2><ol><li><a href="#claims">The claims</a>'
    yield "</li>"
    for result in results:
        yield f'<li><a href="#{result.name}">{escape(result.title)}</a></li>'
    yield "</ol></nav>"
    yield '<h2 id="claims">The claims</h2>'
    yield f"<p>Of {len(claims)} claims {counted([claim for _, claim in claims])}.</p>"
    yield '<div class="wide"><table><thead><tr>'
    for name in ("Claim", "Said in", "Printed", "Measured", "Verdict", "Why"):
        yield f'<th scope="col">{name}</th>'
    yield "</tr></thead><tbody>"
    for result, claim in claims:
        yield _claim_row(result, claim)
    yield "</tbody></table></div>"
    for result in results:
        yield from _section(result)
    yield "</main></body></html>"


def _claim_row(result: Result, claim: Claim) -> str:
    cells = (claim.source, claim.printed, claim.measured)
    return (
        f'<tr><td><a href="#{result.name}">{escape(claim.text)}</a></td>'
        + "".join(f"<td>{escape(cell)}</td>" for cell in cells)
        + f'<td class="{_CLASSES[claim.verdict]}">{claim.verdict}</td>'
        + f"<td>{escape(claim.why)}</td></tr>"
    )


def _section(result: Result) -> Iterator[str]:
    yield f'<section><h2 id="{result.name}">{escape(result.title)}</h2>'
    for picture in result.pictures:
        yield _figure(picture)
    for table in result.tables:
        yield _table(table)
    yield f'<p class="scale">{escape(result.scale)}</p></section>'


def _table(table: Table) -> str:
    head = "".join(f'<th scope="col">{escape(name)}</th>' for name in table.columns)
    rows = "".join(
        "<tr>"
        + "".join(
            f'<td class="number">{show(value)}</td>'
            if isinstance(value, int | float)
            else f"<td>{escape(show(value))}</td>"
            for value in row
        )
        + "</tr>"
        for row in table.rows
    )
    return (
        f'<div class="wide"><table><caption>{escape(table.title)}</caption><thead><tr>{head}</tr>'
        f"</thead><tbody>{rows}</tbody></table></div>"
    )


def _figure(picture: Picture) -> str:
    from heedful.paper.style import render  # matplotlib, which not everybody has

    drawn = base64.b64encode(render(picture.draw)["svg"]).decode()
    return (
        f'<figure><img alt="{escape(picture.caption)}" src="data:image/svg+xml;base64,{drawn}">'
        f"<figcaption>{escape(picture.caption)}</figcaption></figure>"
    )
