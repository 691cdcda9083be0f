"""Where a curve will probably end: what the validations so far say of those to come."""

from collections.abc import Sequence

Point = tuple[float, float]
"""How much of the training is over, from 0 to 1, and a value measured there."""

_LOSS_POWER, _BLEU_POWER = 1.0, 0.5  # as measured; docs/decisions/0007 tells how well they fit
_FEWEST = 3  # points from which anything is said
_RECENT = 0.3  # of what is over: where the warm-up shows, a curve has another shape
_PLACES = 20  # of a curve that is drawn


def forecast_loss(points: Sequence[Point]) -> list[Point]:
    """Continue the validation loss to the end of the training."""
    return [(progress, max(loss, 0.0)) for progress, loss in _forecast(points, _LOSS_POWER)]


def forecast_bleu(points: Sequence[Point]) -> list[Point]:
    """Continue the BLEU of the validations to the end of the training."""
    curve = _forecast(points, _BLEU_POWER)
    return [(progress, min(max(bleu, 0.0), 100.0)) for progress, bleu in curve]


def _forecast(points: Sequence[Point], power: float) -> list[Point]:
    """Continue a curve from its last point to the end; with too few points, by nothing.

    The curve a + b / progress^power is fitted to the recent points by least squares. The later
    a point, the more it counts.
    """
    now = points[-1][0] if points else 0.0
    recent = [(progress, value) for progress, value in points if progress >= _RECENT * now > 0]
    if len(recent) < _FEWEST or now >= 1:
        return []
    a, b = _fit([(progress**-power, value, progress) for progress, value in recent])
    places = [now + (1 - now) * place / _PLACES for place in range(_PLACES + 1)]
    return [(progress, a + b * progress**-power) for progress in places]


def _fit(weighted: Sequence[tuple[float, float, float]]) -> tuple[float, float]:
    """Return intercept and slope of the line through points (x, y), each with its weight."""
    total = sum(weight for _, _, weight in weighted)
    mean_x = sum(x * weight for x, _, weight in weighted) / total
    mean_y = sum(y * weight for _, y, weight in weighted) / total
    spread = sum(weight * (x - mean_x) ** 2 for x, _, weight in weighted)
    slope = sum(weight * (x - mean_x) * (y - mean_y) for x, y, weight in weighted) / spread
    return mean_y - slope * mean_x, slope
