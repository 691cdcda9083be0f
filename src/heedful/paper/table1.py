"""Table 1, measured: time, operations and memory by n and d, sequential operations, paths."""

import math
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from random import Random
from statistics import median
from typing import Any

import torch
from torch.utils.flop_counter import FlopCounterMode

from heedful.paper.layers import KERNEL, KINDS, NEIGHBOURS, Kind
from heedful.paper.paths import (
    DISTANCES,
    STACKED,
    arriving_gradients,
    longest_path,
    sequential_operations,
)
from heedful.paper.request import Cells, Request
from heedful.paper.result import Claim, Events, Picture, Result, Table, claim

Sizes = list[tuple[int, int, int]]
# Batch, n and d by which axis grows: such that products outweigh all else, and caches hold them.
SIZES: dict[str, dict[str, Sizes]] = {
    "self-attention": {
        "n": [(1, n, 64) for n in (256, 512, 1024, 2048)],
        "d": [(1, 256, d) for d in (256, 512, 1024, 2048)],
    },
    "recurrent": {
        "n": [(16, n, 256) for n in (16, 32, 64, 128)],
        "d": [(64, 8, d) for d in (128, 256, 512, 1024)],
    },
    "convolutional": {
        "n": [(1, n, 128) for n in (512, 1024, 2048, 4096)],
        "d": [(1, 256, d) for d in (128, 256, 512, 1024)],
    },
    "self-attention, restricted": {
        "n": [(1, n, 32) for n in (256, 512, 1024, 2048)],
        "d": [(1, 256, d) for d in (64, 128, 256, 512)],
    },
}
REPEATS = 7
NEAR = 0.25  # of the printed power
LENGTHS = (8, 27, 81, 243)

Samples = list[dict[str, Any]]


def run(request: Request) -> Events:
    """Measure each layer as n and as d grow, then trace what depends on what."""
    cells, fitted = Cells(request.out), {}
    for kind in KINDS:
        for axis, sizes in SIZES[kind.name].items():
            first, last = (size["nd".index(axis) + 1] for size in (sizes[0], sizes[-1]))
            yield f"{kind.name}: {axis} from {first:,} to {last:,}"
            samples = measured(cells, kind, axis)
            fitted[kind.name, axis] = {
                what: fit(samples, axis, what) for what in ("seconds", "flops", "bytes")
            }
    yield "tracing paths and gradients"
    paths = {name: [longest_path(name, n) for n in LENGTHS] for name in STACKED}
    chains = {kind.name: [sequential_operations(kind, n) for n in LENGTHS] for kind in KINDS}
    arriving = arriving_gradients()
    yield Result(
        name=request.name,
        title="Table 1: complexity, sequential operations, path lengths",
        tables=(
            _complexity_table(fitted),
            _chain_table(chains),
            _path_table(paths),
            _gradient_table(arriving),
        ),
        scale=_SCALE,
        pictures=(
            Picture(
                name="table1", caption="Seconds by n and by d, with the fitted powers",
                draw=lambda: _draw_times(cells),
            ),
            Picture(
                name="table1-gradients", caption="How much gradient arrives at distance k",
                draw=lambda: _draw_gradients(arriving),
            ),
        ),
        claims=(*_complexity_claims(fitted), *_path_claims(chains, paths, arriving)),
    )  # fmt: skip


_SCALE = (
    f"One layer, float32, forward and backward, r = {NEIGHBOURS}, k = {KERNEL}, on one core of "
    "this machine, by the time that the core spent on it. Operations are multiplications and "
    "additions of matrix products, counted, not timed; bytes are what is kept for the backward "
    "pass, input and weights aside, counted as well. The interval is that of 95 % of resamplings. "
    "As the paper does, the projections of attention (O(n·d²)) are left aside. Paths and chains "
    "are read from the graph."
)


def measured(cells: Cells, kind: Kind, axis: str) -> Samples:
    """Time and count one layer over the sizes of an axis; sizes take turns."""
    sizes = SIZES[kind.name][axis]
    about = {"layer": kind.name, "sizes": sizes, "repeats": REPEATS}

    def measure() -> dict[str, Any]:
        torch.manual_seed(2017)
        ready = [(torch.randn(size, requires_grad=True), kind.weights(size[2])) for size in sizes]
        for _, weights in ready:
            for weight in weights:
                weight.requires_grad_()
        seconds: list[list[float]] = [[] for _ in sizes]
        with one_core():
            for repeat in range(REPEATS + 1):
                for place, (x, weights) in enumerate(ready):
                    began = time.thread_time()
                    kind.layer(x, weights).sum().backward()
                    if repeat:  # the first warms up
                        seconds[place].append(time.thread_time() - began)
        return {
            "samples": [
                {"n": size[1], "d": size[2], "seconds": taken, **counted(kind, size)}
                for size, taken in zip(sizes, seconds, strict=True)
            ]
        }

    name = f"table1-{kind.name.replace(', ', '-').replace(' ', '-')}-{axis}"
    found: Samples = cells.measured(name, about, measure)["samples"]
    return found


@contextmanager
def one_core() -> Iterator[None]:
    """Let an operation keep to one core: sharing it out costs time of its own."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def counted(kind: Kind, size: tuple[int, int, int]) -> dict[str, int]:
    """Count the operations of forward and backward, and the bytes kept between them."""
    x, weights = torch.randn(size, requires_grad=True), kind.weights(size[2])
    kept: dict[int, int] = {}

    def keep(tensor: torch.Tensor) -> torch.Tensor:
        kept[tensor.untyped_storage().data_ptr()] = tensor.untyped_storage().nbytes()
        return tensor

    for weight in weights:
        weight.requires_grad_()
    own = {it.untyped_storage().data_ptr() for it in (x, *weights)}
    with FlopCounterMode(display=False) as counter:
        with torch.autograd.graph.saved_tensors_hooks(keep, lambda tensor: tensor):
            output = kind.layer(x, weights)
        output.sum().backward()
    num_bytes = sum(size for place, size in kept.items() if place not in own)
    return {"flops": int(counter.get_total_flops()), "bytes": num_bytes}


def fit(samples: Samples, axis: str, what: str) -> tuple[float, float, float]:
    """Fit the power of n or d over the three largest sizes; return it and 95 % around it."""
    samples = samples[-3:]
    sizes = [math.log(sample[axis]) for sample in samples]
    if what != "seconds":
        power = slope(sizes, [math.log(sample[what] or 1) for sample in samples])
        return power, power, power
    draw = Random(2017)
    power = slope(sizes, [math.log(median(sample[what])) for sample in samples])
    resampled = sorted(
        slope(
            sizes,
            [math.log(median(draw.choices(sample[what], k=REPEATS))) for sample in samples],
        )
        for _ in range(500)
    )
    return power, resampled[12], resampled[487]


def slope(x: Sequence[float], y: Sequence[float]) -> float:
    """Return the slope of the line that fits best."""
    middle = sum(x) / len(x)
    across = sum((it - middle) ** 2 for it in x)
    return sum((a - middle) * b for a, b in zip(x, y, strict=True)) / across


def _complexity_table(fitted: dict[tuple[str, str], Any]) -> Table:
    rows = []
    for kind in KINDS:
        for axis, printed in zip("nd", kind.powers, strict=True):
            found = fitted[kind.name, axis]
            power, low, high = found["seconds"]
            rows.append(
                (
                    f"{kind.name} {kind.printed[0]}",
                    axis,
                    printed,
                    round(found["flops"][0], 3),
                    round(power, 2),
                    f"{low:.2f} to {high:.2f}",
                    round(found["bytes"][0], 2),
                )
            )
    return Table(
        title="The power of n and of d: printed, counted operations, time, kept bytes",
        columns=("layer", "of", "printed", "counted", "time", "95 %", "bytes"),
        rows=tuple(rows),
    )


def _chain_table(chains: dict[str, list[int]]) -> Table:
    return Table(
        title="Operations that wait for one another, by n",
        columns=("layer", "printed", *(f"n = {n}" for n in LENGTHS)),
        rows=tuple((kind.name, kind.printed[1], *chains[kind.name]) for kind in KINDS),
    )


def _path_table(paths: dict[str, list[int]]) -> Table:
    printed = {kind.name: kind.printed[2] for kind in KINDS}
    printed |= {"convolutional": "O(n/k)", "convolutional, dilated": "O(log_k(n))"}
    return Table(
        title="Hops from the first input to the last output, by n",
        columns=("layer", "printed", *(f"n = {n}" for n in LENGTHS)),
        rows=tuple((name, printed[name], *paths[name]) for name in STACKED),
    )


_SHOWN = (0, 1, 10, 30, 99)


def _gradient_table(arriving: dict[str, list[float]]) -> Table:
    return Table(
        title="Share of the last output's gradient that arrives k positions back",
        columns=("network", *(f"k = {k}" for k in _SHOWN)),
        rows=tuple((name, *(shares[k] for k in _SHOWN)) for name, shares in arriving.items()),
    )


def _complexity_claims(fitted: dict[tuple[str, str], Any]) -> list[Claim]:
    claims = []
    for kind in KINDS:
        found = [
            (printed, fitted[kind.name, axis]["flops"][0], fitted[kind.name, axis]["seconds"][0])
            for axis, printed in zip("nd", kind.powers, strict=True)
        ]
        off = max(abs(power - printed) for printed, _, power in found)
        exact = all(abs(power - printed) < 0.05 for printed, power, _ in found)
        powers = [f"{axis}^{power:.2f}" for axis, (_, _, power) in zip("nd", found, strict=True)]
        claims.append(
            claim(
                f"A {kind.name} layer takes {kind.printed[0]}",
                "section 4, table 1",
                holds=exact and off < NEAR,
                printed=kind.printed[0],
                measured=f"time {' '.join(powers)}; operations exact: {'yes' if exact else 'no'}",
                why="" if off < NEAR else _WHY_OFF,
            )
        )
    return claims


_WHY_OFF = (
    "Times on a CPU follow the counted operations only where these outweigh what is done once for "
    "each operation and what is read from memory; smaller or busier machines show other powers."
)


def _path_claims(
    chains: dict[str, list[int]], paths: dict[str, list[int]], arriving: dict[str, list[float]]
) -> list[Claim]:
    is_constant = all(len(set(chains[k.name])) == 1 for k in KINDS if not k.sequential)
    grown = slope([*map(math.log, LENGTHS)], [math.log(it) for it in chains["recurrent"]])
    attention, recurrent = arriving["self-attention"], arriving["RNN"]
    return [
        claim(
            "Self-attention and convolution take a constant number of sequential operations, a "
            "recurrent layer O(n)",
            "section 4, table 1",
            holds=is_constant and abs(grown - 1) < NEAR,
            printed="O(1), O(n)",
            measured=f"constant: {'yes' if is_constant else 'no'}; recurrent n^{grown:.2f}",
        ),
        claim(
            "The longest path is O(1) in self-attention, O(n) in a recurrent layer, O(log_k(n)) in "
            "dilated convolutions, O(n/r) where attention is restricted",
            "section 4, table 1",
            holds=set(paths["self-attention"]) == {1}
            and paths["recurrent"] == list(LENGTHS)
            and all(
                it == math.ceil(math.log(n, KERNEL) - 1e-9)
                for it, n in zip(paths["convolutional, dilated"], LENGTHS, strict=True)
            ),
            printed="1, n, log_k(n), n/r",
            measured="; ".join(f"{name}: {', '.join(map(str, it))}" for name, it in paths.items()),
            why=f"For n = {', '.join(map(str, LENGTHS))}. Plain convolutions, not dilated, take "
            "O(n/k) layers, as section 4 says.",
        ),
        claim(
            "Recurrent networks forget: the gradient vanishes with the distance, and in "
            "self-attention it does not",
            "section 4, explanations",
            holds=recurrent[30] < 1e-3 * recurrent[0] and attention[99] > 0.2 * attention[1],
            measured=f"RNN at distance 30: {recurrent[30] / recurrent[0]:.0e} of distance 0; "
            f"self-attention at 99: {attention[99] / attention[1]:.2f} of distance 1",
            why="Of untrained networks with their usual first weights.",
        ),
    ]


def _draw_times(cells: Cells) -> Any:
    from heedful.paper import style

    figure, axes = style.panels(1, 2, height=3.4)
    for panel, axis in zip(axes, "nd", strict=True):
        for kind in KINDS:
            samples = measured(cells, kind, axis)
            times = [1_000 * median(sample["seconds"]) for sample in samples]
            power, *_ = fit(samples, axis, "seconds")
            sizes = [sample[axis] for sample in samples]
            panel.loglog(sizes, times, "o-", markersize=4, label=f"{kind.name}: {axis}^{power:.2f}")
        panel.set_xlabel("n: positions" if axis == "n" else "d: width")
        panel.set_ylabel("milliseconds, forward and backward")
        low, high = panel.get_ylim()
        panel.set_ylim(low, high * 8)  # room for the legend
        panel.legend(fontsize=7.5, loc="upper left")
    return figure


def _draw_gradients(arriving: dict[str, list[float]]) -> Any:
    from heedful.paper import style

    figure, (axes,) = style.panels(height=3.4)
    for name, shares in arriving.items():
        seen = [share if share > 1e-20 else math.nan for share in shares]
        axes.semilogy(range(DISTANCES), seen, label=name)
    axes.set_ylim(1e-22, 2)
    axes.set_xlabel("k: positions back from the last output")
    axes.set_ylabel("share of the gradient")
    axes.legend(ncols=5, loc="lower center", fontsize=8)
    return figure
