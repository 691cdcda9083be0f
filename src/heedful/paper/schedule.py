"""Equation 3 for several widths and warm-ups (section 5.3)."""

from typing import Any

from heedful.paper.request import Request
from heedful.paper.result import Events, Picture, Result, Table, claim
from heedful.training.schedule import noam_rate

SETTINGS = ((512, 4_000), (512, 8_000), (256, 4_000), (1_024, 4_000))
"""Width and warm-up; the first is the paper's."""
LAST = 100_000  # steps of the base model (section 5.2)


def run(request: Request) -> Events:
    """Compute the rates, and see that they peak where the warm-up ends."""
    d_model, warmup = SETTINGS[0]
    early = [rate(step, d_model, warmup) for step in range(1, 2 * warmup)]
    peak = early.index(max(early)) + 1
    ratio = rate(4 * warmup, d_model, warmup) / rate(warmup, d_model, warmup)
    yield Result(
        name=request.name,
        title="The learning rate of equation 3",
        tables=(
            Table(
                title="d_model^-0.5 · min(step^-0.5, step · warmup^-1.5)",
                columns=("d_model", "warm-up", "step 1", "highest", "at step", f"step {LAST:,}"),
                rows=tuple(
                    (width, steps, rate(1, width, steps), rate(steps, width, steps), steps,
                     rate(LAST, width, steps))
                    for width, steps in SETTINGS
                ),
            ),
        ),
        scale="A formula: the same at every scale.",
        pictures=(
            Picture(
                name="schedule", caption="Equation 3 for several widths and warm-ups", draw=_draw
            ),
        ),
        claims=(
            claim(
                "The rate climbs linearly for the first warmup_steps, and falls afterwards",
                "section 5.3",
                holds=peak == warmup,
                printed="4,000 steps",
                measured=f"highest at step {peak:,}",
            ),
            claim(
                "After that it falls with the inverse square root of the step",
                "section 5.3",
                holds=abs(ratio - 0.5) < 1e-9,
                printed="four times as late, half as high",
                measured=f"{ratio:.3f} times as high",
            ),
        ),
    )  # fmt: skip


def rate(step: int, d_model: int, warmup: int) -> float:
    """Equation 3."""
    return noam_rate(step, d_model=d_model, warmup_steps=warmup)


def _draw() -> Any:
    from heedful.paper import style

    figure, (axes,) = style.panels()
    steps = range(1, 40_001, 50)
    for width, warmup in SETTINGS:
        heights = [rate(step, width, warmup) * 1e3 for step in steps]
        axes.plot(steps, heights, label=f"d_model {width:,}, warm-up {warmup:,}")
    axes.set_xlabel("step")
    axes.set_ylabel("learning rate, thousandths")
    axes.set_xlim(0)
    axes.set_ylim(0)
    axes.legend()
    return figure
