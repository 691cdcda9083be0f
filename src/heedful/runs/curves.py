"""How training went, at every validation: a table, a picture, and TensorBoard where it is."""

import csv
import io
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from heedful.runs.events import Validation
from heedful.storage.folder import ModelFolder
from heedful.storage.writing import write_atomically
from heedful.training.step import perplexity

Number = int | float
Point = tuple[Number, Number]

_WIDTH, _HEIGHT = 720, 540
_LEFT, _RIGHT = 64, 644  # between them lie the panels
_GREY, _BLUE, _ORANGE, _GREEN = "#808890", "#3b8eea", "#ee7b30", "#26a269"  # on white and on black
_MARKS = 5  # at most, on an axis


def write_curves(folder: ModelFolder, history: Sequence[Validation]) -> None:
    """Write the history of a run as a table and as a picture, each whole or not at all."""
    if not history:
        return
    rows = [_row(past) for past in history]
    write_atomically(folder.curves_file, _csv(rows))
    write_atomically(folder.curves_picture, _svg(rows))
    _write_tensorboard(folder.training / "tensorboard", rows[-1])


def _row(validation: Validation) -> dict[str, float]:
    return {
        "step": float(validation.step),
        "seconds": validation.seconds,
        "train_loss": validation.train_loss,
        "validation_loss": validation.loss,
        "perplexity": validation.perplexity,
        "bleu": validation.bleu.value,
        "learning_rate": validation.learning_rate,
        "tokens_per_second": validation.pieces_per_second,
    }


def _csv(rows: Sequence[dict[str, float]]) -> str:
    text = io.StringIO()
    table = csv.writer(text, lineterminator="\n")
    table.writerow(rows[0])
    table.writerows([f"{value:.8g}" for value in row.values()] for row in rows)
    return text.getvalue()


def _write_tensorboard(folder: Path, row: dict[str, float]) -> None:
    """Log one validation for TensorBoard; where that is not installed, do nothing."""
    try:
        from torch.utils.tensorboard import SummaryWriter
    except ImportError:
        return
    step = int(row["step"])
    # Purging lets a run that went back to a checkpoint overwrite what it had logged after that.
    with SummaryWriter(folder, purge_step=step) as writer:
        for name in ("train_loss", "validation_loss", "bleu", "learning_rate", "tokens_per_second"):
            writer.add_scalar(name, row[name], step)


@dataclass(frozen=True, kw_only=True)
class _Panel:
    """A rectangle of the picture, and the values that its edges stand for."""

    top: Number
    bottom: Number
    steps: Number
    """At the right edge; at the left it is 0."""
    lowest: Number
    highest: Number

    def x(self, step: Number) -> Number:
        return _LEFT + (_RIGHT - _LEFT) * step / self.steps

    def y(self, value: Number) -> Number:
        share = (value - self.lowest) / (self.highest - self.lowest)
        return self.bottom - (self.bottom - self.top) * share


def _svg(rows: Sequence[dict[str, float]]) -> str:
    training, validation, bleu = (
        [(row["step"], row[name]) for row in rows if math.isfinite(row[name])]
        for name in ("train_loss", "validation_loss", "bleu")
    )
    steps = rows[-1]["step"]
    best_loss = min(validation, key=_height, default=None)
    best_bleu = max(bleu, key=_height, default=None)
    losses = _panel([*training, *validation], top=48, bottom=300, steps=steps)
    scores = _panel([(0.0, 0.0), *bleu], top=364, bottom=492, steps=steps)
    elements = [
        _text(_LEFT, 28, "Loss per piece", weight="bold"),
        *_legend("training, with dropout", _BLUE, x=184),
        *_legend(_described("validation", best_loss), _ORANGE, x=356),
        *_axes(losses),
        *_perplexity_axis(losses),
        *_curve(losses, training, None, _BLUE),
        *_curve(losses, validation, best_loss, _ORANGE),
        _text(_LEFT, 344, "BLEU", weight="bold"),
        _text(_LEFT + 40, 344, _described("greedy, first validation sentences", best_bleu)),
        *_axes(scores),
        *_curve(scores, bleu, best_bleu, _GREEN),
        _text((_LEFT + _RIGHT) / 2, _HEIGHT - 12, "step", anchor="middle"),
    ]
    opening = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {_HEIGHT}" '
        f'width="{_WIDTH}" height="{_HEIGHT}" font-family="sans-serif" font-size="12" '
        f'fill="{_GREY}">'
    )
    title = "<title>Loss and BLEU over the steps of training</title>"
    return "\n".join([opening, title, *elements, "</svg>", ""])


def _panel(points: Sequence[Point], *, top: Number, bottom: Number, steps: Number) -> _Panel:
    """Choose edges that are marks of the axis and hold every point."""
    heights = [_height(point) for point in points] or [0.0]
    gap = _gap(max(heights) - min(heights))
    lowest = math.floor(min(heights) / gap) * gap
    highest = max(math.ceil(max(heights) / gap) * gap, lowest + gap)
    return _Panel(top=top, bottom=bottom, steps=steps, lowest=lowest, highest=highest)


def _gap(span: Number) -> Number:
    """Return the least of 1, 2 and 5 times a power of ten that needs few marks for a span."""
    smallest = span / _MARKS or 1.0
    power = 10.0 ** math.floor(math.log10(smallest))
    return next(times * power for times in (1, 2, 5, 10) if times * power >= smallest * 0.999)


def _marks(lowest: Number, highest: Number) -> list[Number]:
    gap = _gap(highest - lowest)
    first, last = math.ceil(lowest / gap - 0.001), math.floor(highest / gap + 0.001)
    return [number * gap for number in range(first, last + 1)]


def _axes(panel: _Panel) -> Iterator[str]:
    for value in _marks(panel.lowest, panel.highest):
        y = panel.y(value)
        yield _line((_LEFT, y), (_RIGHT, y), opacity=0.25)
        yield _text(_LEFT - 8, y + 4, f"{value:.6g}", anchor="end")
    for step in _marks(0, panel.steps):
        x = panel.x(step)
        yield _line((x, panel.bottom), (x, panel.bottom + 5), opacity=1)
        yield _text(x, panel.bottom + 18, f"{step:,.0f}", anchor="middle")
    yield _line((_LEFT, panel.bottom), (_RIGHT, panel.bottom), opacity=1)


def _perplexity_axis(panel: _Panel) -> Iterator[str]:
    yield _text(_RIGHT + 8, panel.top - 20, "perplexity")
    for loss in _marks(panel.lowest, panel.highest):
        value = perplexity(loss)
        digits = ",.3g" if value < 1_000 else ",.0f" if value < 1e6 else ".0e"
        yield _text(_RIGHT + 8, panel.y(loss) + 4, f"{value:{digits}}")


def _legend(name: str, colour: str, *, x: Number) -> Iterator[str]:
    yield _line((x, 24), (x + 18, 24), colour=colour, width=2)
    yield _text(x + 24, 28, name)


def _curve(
    panel: _Panel, points: Sequence[Point], best: Point | None, colour: str
) -> Iterator[str]:
    """Draw a line to a small dot, past a larger one where it is at its best."""
    yield _polyline(panel, points, colour)
    for step, value in points[-1:]:
        yield _dot(panel.x(step), panel.y(value), colour, radius=2.5)
    if best:
        yield _dot(panel.x(best[0]), panel.y(best[1]), colour, radius=4)


def _polyline(panel: _Panel, points: Sequence[Point], colour: str) -> str:
    places = [f"{panel.x(step):.1f},{panel.y(value):.1f}" for step, value in points]
    return (
        f'<polyline points="{" ".join(places)}" fill="none" stroke="{colour}" stroke-width="2" '
        f'stroke-linejoin="round" stroke-linecap="round"/>'
    )


def _described(name: str, best: Point | None) -> str:
    """Say of a curve where it is at its best."""
    return f"{name}, best {best[1]:.4g} at step {best[0]:,.0f}" if best else name


def _dot(x: Number, y: Number, colour: str, *, radius: Number) -> str:
    return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{radius}" fill="{colour}"/>'


def _height(point: Point) -> Number:
    return point[1]


def _line(
    start: Point, end: Point, *, colour: str = _GREY, width: Number = 1, opacity: Number = 1
) -> str:
    (x1, y1), (x2, y2) = start, end
    return (
        f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="{colour}" '
        f'stroke-width="{width}" stroke-opacity="{opacity}"/>'
    )


def _text(
    x: Number,
    y: Number,
    text: str,
    *,
    anchor: str = "start",
    weight: str = "normal",
    colour: str = _GREY,
) -> str:
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" font-weight="{weight}" '
        f'fill="{colour}">{text}</text>'
    )
