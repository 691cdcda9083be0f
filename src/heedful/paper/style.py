"""How pictures look: the one place that knows matplotlib's settings."""

import io
from collections.abc import Callable
from typing import Any

from heedful.errors import missing_extra

try:
    import matplotlib
    from cycler import cycler  # type: ignore[import-untyped,unused-ignore]
    from matplotlib.colors import LinearSegmentedColormap
    from matplotlib.figure import Figure
except ImportError as error:
    raise missing_extra("a picture", "matplotlib", "paper") from error

INK, GREY, PALE = "#22303c", "#8794a0", "#dde3e8"
COLOURS = ("#2f6fde", "#e8702a", "#1d9a6c", "#b0479b", "#8b6f1f", "#5b6bb0")
"""Told apart by those who see no red or green, too: they differ in lightness."""
WEIGHTS: Any = LinearSegmentedColormap.from_list("weights", ["#ffffff", "#9cc0f5", "#173f8a"])
"""Attention weights from 0 to 1."""
SIGNED: Any = LinearSegmentedColormap.from_list("signed", ["#b3471d", "#ffffff", "#1f57b8"])
"""Numbers around zero."""

SETTINGS: Any = {
    "axes.edgecolor": GREY,
    "axes.grid": False,
    "axes.labelcolor": INK,
    "axes.prop_cycle": cycler(color=COLOURS),
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.titlesize": 10,
    "axes.titleweight": "bold",
    "figure.constrained_layout.use": True,
    "font.family": "DejaVu Sans",  # which comes with matplotlib
    "font.size": 9,
    "legend.frameon": False,
    "lines.linewidth": 1.6,
    "savefig.facecolor": "white",
    "svg.fonttype": "none",  # text stays text
    "svg.hashsalt": "heedful",  # the same picture has the same bytes
    "text.color": INK,
    "xtick.color": GREY,
    "xtick.labelcolor": INK,
    "ytick.color": GREY,
    "ytick.labelcolor": INK,
}
_DOTS_PER_INCH = 160


def panels(rows: int = 1, columns: int = 1, *, width: float = 7.2, height: float = 3.6) -> Any:
    """Return a figure, and its axes as a list, row by row."""
    figure = Figure(figsize=(width, height))
    axes = figure.subplots(rows, columns, squeeze=False)
    return figure, [panel for row in axes for panel in row]


def bare(axes: Any) -> Any:
    """Leave nothing of the axes but what is drawn on them."""
    axes.set_axis_off()
    return axes


def render(draw: Callable[[], Any]) -> dict[str, bytes]:
    """Let a picture be drawn; return its bytes by the ending of a file: svg and png."""
    with matplotlib.rc_context(SETTINGS):
        figure = draw()
        return {kind: _saved(figure, kind) for kind in ("svg", "png")}


def _saved(figure: Any, kind: str) -> bytes:
    file = io.BytesIO()
    dated = {"Date": None} if kind == "svg" else {}
    figure.savefig(file, format=kind, dpi=_DOTS_PER_INCH, metadata=dated)
    return file.getvalue()
