"""Positions (section 3.5): the sinusoids in both layouts, and learned vectors beside them."""

import math
import random
from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch import Tensor

from heedful.errors import ConfigError
from heedful.model.batch import Batch, make_batch
from heedful.model.config import ModelConfig
from heedful.model.transformer import Transformer, half_sinusoids, interleaved_sinusoids
from heedful.paper.request import Request
from heedful.paper.result import Claim, Events, Picture, Result, Table, claim
from heedful.storage.checkpoint import load_model
from heedful.storage.folder import ModelFolder
from heedful.training.config import TrainingConfig
from heedful.training.trainer import Trainer

WIDTH, LENGTH = 512, 100
OFFSETS = (1, 5, 20, 50)
LAYOUTS: dict[str, Callable[[Tensor, int], Tensor]] = {
    "interleaved, as printed": interleaved_sinusoids,
    "halves, as in the first code": half_sinusoids,
}
_SHORT, _LETTERS = 32, 16
"""Positions of the small model that learns them, and its letters."""
_STEPS = 400


def run(request: Request) -> Events:
    """Look at the formula, and at vectors that a model has learned."""
    if request.model is None:
        yield f"learning {_SHORT} positions by reversing letters, {_STEPS} steps"
    learned, whose = learned_positions(request)
    errors = [linear_error(layout, k) for layout in LAYOUTS for k in OFFSETS]
    waves = {layout: wavelengths(layout) for layout in LAYOUTS}
    near = similarity(learned)
    yield Result(
        name=request.name,
        title="Positions",
        tables=(_wave_table(waves), _linear_table(errors), _distance_table(near)),
        scale=f"Formulas: d_model {WIDTH}, the first {LENGTH} positions. Learned vectors: {whose}.",
        pictures=(
            Picture(name="positions", caption="The sinusoids in both layouts", draw=_draw_layouts),
            Picture(
                name="positions-curves", caption="Single dimensions of the sinusoids",
                draw=_draw_curves,
            ),
            Picture(
                name="positions-distance",
                caption="Likeness of two positions by their distance, by formula and learned",
                draw=lambda: _draw_distance(near),
            ),
        ),
        claims=_claims(near, errors, waves),
    )  # fmt: skip


def _claims(
    near: list[float], errors: list[float], waves: dict[str, list[float]]
) -> tuple[Claim, ...]:
    printed = waves["interleaved, as printed"]
    return (
        claim(
            "The wavelengths form a geometric progression from 2π to 10000 · 2π",
            "section 3.5",
            holds=math.isclose(printed[0], 2 * math.pi, rel_tol=1e-4)
            and math.isclose(printed[-1], 20_000 * math.pi, rel_tol=0.05),
            printed="2π to 10000 · 2π",
            measured=f"2π to {printed[-1] / (2 * math.pi):,.0f} · 2π",
            why="The last pair of the printed formula has exponent (d-2)/d, a little under 1; "
            "the first code's exponent reaches 1.",
        ),
        claim(
            "For any fixed offset k, PE(pos+k) is a linear function of PE(pos)",
            "section 3.5",
            holds=max(errors) < 1e-3,
            printed="linear",
            measured=f"the rotation by k is off by at most {max(errors):.1e}",
        ),
        claim(
            "The dot product of two positions depends on their distance alone, and is largest "
            "where it is 0",
            "explanations of section 3.5",
            holds=spread_of_products() < 1e-3 and near[0] == max(near),
            measured=f"at one distance they differ by {spread_of_products():.1e} at most, "
            f"of {WIDTH // 2}",
        ),
        claim(
            "Values are between -1 and 1, and no two positions are alike",
            "explanations of section 3.5",
            holds=_is_bounded_and_distinct(),
            measured=f"true of the first {LENGTH * 100:,} positions",
        ),
    )


def wavelengths(layout: str, width: int = WIDTH) -> list[float]:
    """Return 2π over the angle by which each pair of dimensions turns a position."""
    (turned,) = LAYOUTS[layout](torch.tensor([1]), width)
    sines, cosines = _pairs(layout, turned.double())
    return [2 * math.pi / angle for angle in torch.atan2(sines, cosines).tolist()]


def linear_error(layout: str, offset: int, width: int = WIDTH) -> float:
    """Return how far PE(pos+k) is at most from PE(pos) rotated by what k turns."""
    here = LAYOUTS[layout](torch.arange(LENGTH), width).double()
    there = LAYOUTS[layout](torch.arange(LENGTH) + offset, width).double()
    (turn,) = LAYOUTS[layout](torch.tensor([offset]), width).double()
    (sines, cosines), (sin_k, cos_k) = _pairs(layout, here), _pairs(layout, turn)
    rotated = sines * cos_k + cosines * sin_k, cosines * cos_k - sines * sin_k
    wanted = _pairs(layout, there)
    return max(float((a - b).abs().max()) for a, b in zip(rotated, wanted, strict=True))


def similarity(vectors: Tensor) -> list[float]:
    """Return the mean cosine of two vectors by the distance of their positions."""
    unit = vectors / vectors.norm(dim=-1, keepdim=True)
    cosines = unit @ unit.T
    return [float(cosines.diagonal(k).mean()) for k in range(len(vectors) // 2)]


def learned_positions(request: Request) -> tuple[Tensor, str]:
    """Take those of a model, or let a small one learn some."""
    if request.model is None:
        return learn_by_reversing(), (
            f"{_SHORT} of them, learned by a Transformer of width 32 that reverses letters, "
            f"{_STEPS} steps"
        )
    folder = ModelFolder(request.model)
    config = folder.config()
    if config.positions != "learned":
        raise ConfigError(
            f"{request.model}: its positions are sinusoids ({config.positions}); "
            "leave out --model, or name one that was trained with positions = \"learned\""
        )  # fmt: skip
    learned = load_model(folder).positions.learned.detach()
    return learned[: min(len(learned), LENGTH)], f"those of {request.model}"


def learn_by_reversing() -> Tensor:
    """Train a small model on reversing letters, which takes positions."""
    torch.manual_seed(2017)
    model = Transformer(
        ModelConfig(
            vocab_size=4 + _LETTERS, num_layers=1, d_model=32, d_ff=64, num_heads=2, dropout=0.0,
            positions="learned", max_length=_SHORT,
        )
    )  # fmt: skip
    config = TrainingConfig(
        steps=_STEPS, batch_tokens=64, warmup_steps=50, peak_rate=5e-3, label_smoothing=0.0
    )
    for _ in Trainer(model, config).steps(_reversals()):
        pass
    return model.positions.learned.detach()


def _reversals() -> Iterator[Batch]:
    draw = random.Random(2017)
    while True:
        letters = [
            draw.choices(range(4, 4 + _LETTERS), k=draw.randint(4, _SHORT - 2)) for _ in range(16)
        ]
        yield make_batch([(it, it[::-1]) for it in letters])


def _pairs(layout: str, encoded: Tensor) -> tuple[Tensor, Tensor]:
    """Return the sines and the cosines."""
    if layout.startswith("interleaved"):
        return encoded[..., 0::2], encoded[..., 1::2]
    half = encoded.size(-1) // 2
    return encoded[..., :half], encoded[..., half:]


def spread_of_products() -> float:
    """Return how much dot products differ at most among pairs of positions of one distance."""
    encoded = interleaved_sinusoids(torch.arange(LENGTH), WIDTH).double()
    products = encoded @ encoded.T
    diagonals = [products.diagonal(k) for k in range(LENGTH - 1)]
    return max(float(it.max() - it.min()) for it in diagonals)


def _is_bounded_and_distinct() -> bool:
    encoded = interleaved_sinusoids(torch.arange(LENGTH * 100), WIDTH)
    steps = (encoded[:, None, :2] - encoded[None, :200, :2]).abs().sum(-1)
    near = (steps < 1e-2).nonzero().tolist()
    alike = [(a, b) for a, b in near if a != b and torch.allclose(encoded[a], encoded[b])]
    return float(encoded.abs().max()) <= 1 and not alike


def _wave_table(waves: dict[str, list[float]]) -> Table:
    return Table(
        title="Wavelengths, in multiples of 2π",
        columns=("layout", "shortest", "printed", "middle", "longest", "printed"),
        rows=tuple(
            (
                layout,
                *(it[0] / (2 * math.pi), 1),
                it[len(it) // 2] / (2 * math.pi),
                *(it[-1] / (2 * math.pi), 10_000),
            )
            for layout, it in waves.items()
        ),
    )


def _linear_table(errors: list[float]) -> Table:
    names = [(layout, k) for layout in LAYOUTS for k in OFFSETS]
    return Table(
        title="PE(pos+k) as a linear map of PE(pos): each pair of dimensions turned by k",
        columns=("layout", "k", "largest error"),
        rows=tuple((*name, error) for name, error in zip(names, errors, strict=True)),
    )


def _distance_table(learned: list[float]) -> Table:
    by_formula = similarity(interleaved_sinusoids(torch.arange(LENGTH), WIDTH))
    return Table(
        title="Cosine of two positions, by distance",
        columns=("distance", "sinusoids", "learned"),
        rows=tuple(
            (k, by_formula[k], learned[k] if k < len(learned) else None)
            for k in (0, 1, 2, 4, 8, 15, 30)
        ),
    )


def _draw_layouts() -> Any:
    from heedful.paper import style

    figure, axes = style.panels(1, 2, height=3.4)
    for panel, (layout, encode) in zip(axes, LAYOUTS.items(), strict=True):
        values = encode(torch.arange(LENGTH), WIDTH).numpy()
        image = panel.imshow(values, cmap=style.SIGNED, vmin=-1, vmax=1, aspect="auto")
        panel.set_title(layout)
        panel.set_xlabel("dimension")
        panel.set_ylabel("position")
    figure.colorbar(image, ax=axes, shrink=0.8)
    return figure


def _draw_curves() -> Any:
    from heedful.paper import style

    figure, (axes,) = style.panels(height=2.8)
    values = interleaved_sinusoids(torch.arange(LENGTH), 20).numpy()
    for dimension in range(4, 8):
        axes.plot(values[:, dimension], label=f"dimension {dimension}")
    axes.set_xlabel("position, d_model 20")
    axes.legend(loc="upper right", ncols=4)
    axes.set_ylim(-1.1, 1.5)
    return figure


def _draw_distance(learned: list[float]) -> Any:
    from heedful.paper import style

    figure, (axes,) = style.panels(height=2.8)
    by_formula = similarity(interleaved_sinusoids(torch.arange(LENGTH), WIDTH))
    axes.plot(by_formula, label="sinusoids")
    axes.plot(learned, "o-", markersize=3, label="learned")
    axes.axhline(0, color=style.GREY, linewidth=0.6)
    axes.set_xlabel("distance of two positions")
    axes.set_ylabel("cosine")
    axes.legend()
    return figure
