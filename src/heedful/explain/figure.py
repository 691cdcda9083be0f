"""Figures for papers, as SVG that needs no browser."""

import math
from collections.abc import Sequence
from html import escape
from typing import Any
from unicodedata import east_asian_width

from numpy.typing import NDArray

from heedful.errors import printable

_CELL, _LETTER, _GAP = 18, 7.3, 6
_DARK = (0, 72, 141)  # one hue: 9.1 to 1 on white


def map_picture(
    weights: NDArray[Any], rows: Sequence[str], columns: Sequence[str], title: str
) -> str:
    """Draw a row for who looks, a column for at whom; the darker, the more."""
    left = _GAP + _LETTER * max(map(_width, rows), default=0)
    top = 26 + _GAP + _LETTER * max(map(_width, columns), default=0)
    width = max(left + _CELL * len(columns) + _GAP, _LETTER * _width(title) + 2 * _GAP)
    height = top + _CELL * len(rows) + _GAP
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height:.0f}" '
        f'width="{width:.0f}" height="{height:.0f}" font-family="DejaVu Sans, sans-serif" '
        'font-size="12">',
        f"<title>{_said(title)}</title>",
        '<rect width="100%" height="100%" fill="#fff"/>',
        f'<text x="{_GAP}" y="16">{_said(title)}</text>',
    ]
    for column, label in enumerate(columns):
        x = left + _GAP + _CELL * column + _CELL / 2 + 4
        turned = f"translate({x:.1f} {top - _GAP:.1f}) rotate(-90)"
        parts.append(f'<text transform="{turned}">{_said(label)}</text>')
    for row, label in enumerate(rows):
        y = top + _CELL * row
        place = f'x="{left:.1f}" y="{y + _CELL / 2 + 4:.1f}"'
        parts.append(f'<text {place} text-anchor="end">{_said(label)}</text>')
        for column, weight in enumerate(weights[row].tolist()):
            x = left + _GAP + _CELL * column
            shown = f"{label} → {columns[column]}: {weight:.3f}"
            parts.append(
                f'<rect x="{x:.1f}" y="{y:.1f}" width="{_CELL - 1}" height="{_CELL - 1}" '
                f'fill="{_shade(weight)}"><title>{_said(shown)}</title></rect>'
            )
    return "\n".join([*parts, "</svg>"])


def _shade(weight: float) -> str:
    """Mix white and blue by the root of a weight, so that little is seen too."""
    part = math.sqrt(min(max(weight, 0.0), 1.0))
    return "#" + "".join(f"{round(255 - (255 - dark) * part):02x}" for dark in _DARK)


def _width(text: str) -> int:
    return sum(2 if east_asian_width(character) in "WF" else 1 for character in text)


def _said(text: str) -> str:
    return escape(printable(text))
