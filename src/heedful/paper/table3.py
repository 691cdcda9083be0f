"""Table 3: the variations on the base model, at full size counted, at any size trained."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import torch

from heedful.data.prepare import PreparedCorpus
from heedful.errors import ConfigError, near_miss
from heedful.model.config import PRESETS, ModelConfig
from heedful.model.transformer import Transformer
from heedful.paper.corpus import corpus_of, described, fingerprint
from heedful.paper.laboratory import measure, refuse_too_short, training_of
from heedful.paper.request import Cells, Request
from heedful.paper.result import FAILS, HOLDS, Claim, Events, Picture, Result, Table, claim
from heedful.paper.statistics import BleuCounts, chance_of_no_gain, mean_interval

PAPER_ROWS = 40_960  # of the tied matrix, by which the printed counts come out
TARGET_SPACE_ROWS = 32  # of the first public code; docs/departures.md
DEFAULT_SIZE, DEFAULT_MINUTES = "mini", 30.0
TOO_LOW = 5.0  # BLEU, to tell one row from another


@dataclass(frozen=True, kw_only=True)
class Row:
    """A row as printed, and what it changes in the base model, as multiples of its sizes."""

    name: str
    change: str
    perplexity: float
    bleu: float
    millions: int | None = None
    layers: float = 1.0
    d_model: float = 1.0
    d_ff: float = 1.0
    heads: float = 1.0
    d_k: float = 1.0
    d_v: float = 1.0
    dropout: float | None = None
    smoothing: float | None = None
    positions: str | None = None

    def model(self, vocab_size: int, base: ModelConfig) -> ModelConfig:
        """Return its sizes, relative to those of a base."""
        return ModelConfig(
            vocab_size=vocab_size,
            num_layers=max(round(base.num_layers * self.layers), 1),
            d_model=round(base.d_model * self.d_model),
            d_ff=round(base.d_ff * self.d_ff),
            num_heads=max(round(base.num_heads * self.heads), 1),
            d_k=max(round(base.d_k * self.d_k), 1),
            d_v=max(round(base.d_v * self.d_v), 1),
            dropout=base.dropout if self.dropout is None else self.dropout,
            normalisation=base.normalisation,
            positions=self.positions or base.positions,
        )


def _heads(heads: int, d_k: int, perplexity: float, bleu: float) -> Row:
    width = d_k / 64
    return Row(
        name=f"A h={heads}", change=f"h {heads}, d_k = d_v = {d_k}", perplexity=perplexity,
        bleu=bleu, heads=heads / 8, d_k=width, d_v=width,
    )  # fmt: skip


ROWS = (
    Row(name="base", change="", perplexity=4.92, bleu=25.8, millions=65),
    _heads(1, 512, 5.29, 24.9),
    _heads(4, 128, 5.00, 25.5),
    _heads(16, 32, 4.91, 25.8),
    _heads(32, 16, 5.01, 25.4),
    Row(name="B d_k/4", change="d_k 16", perplexity=5.16, bleu=25.1, millions=58, d_k=1 / 4),
    Row(name="B d_k/2", change="d_k 32", perplexity=5.01, bleu=25.4, millions=60, d_k=1 / 2),
    Row(name="C N/3", change="N 2", perplexity=6.11, bleu=23.7, millions=36, layers=1 / 3),
    Row(name="C N·2/3", change="N 4", perplexity=5.19, bleu=25.3, millions=50, layers=2 / 3),
    Row(name="C N·4/3", change="N 8", perplexity=4.88, bleu=25.5, millions=80, layers=4 / 3),
    Row(
        name="C d/2", change="d_model 256, d_k = d_v = 32", perplexity=5.75, bleu=24.5,
        millions=28, d_model=1 / 2, d_k=1 / 2, d_v=1 / 2,
    ),
    Row(
        name="C d·2", change="d_model 1024, d_k = d_v = 128", perplexity=4.66, bleu=26.0,
        millions=168, d_model=2.0, d_k=2.0, d_v=2.0,
    ),
    Row(name="C ff/2", change="d_ff 1024", perplexity=5.12, bleu=25.4, millions=53, d_ff=1 / 2),
    Row(name="C ff·2", change="d_ff 4096", perplexity=4.75, bleu=26.2, millions=90, d_ff=2.0),
    Row(name="D drop 0", change="dropout 0.0", perplexity=5.77, bleu=24.6, dropout=0.0),
    Row(name="D drop .2", change="dropout 0.2", perplexity=4.95, bleu=25.5, dropout=0.2),
    Row(name="D smooth 0", change="smoothing 0.0", perplexity=4.67, bleu=25.3, smoothing=0.0),
    Row(name="D smooth .2", change="smoothing 0.2", perplexity=5.47, bleu=25.7, smoothing=0.2),
    Row(
        name="E learned", change="learned positions", perplexity=4.92, bleu=25.7,
        positions="learned",
    ),
    Row(
        name="big", change="d_model 1024, d_ff 4096, h 16, dropout 0.3", perplexity=4.33,
        bleu=26.4, millions=213, d_model=2.0, d_ff=2.0, heads=2.0, dropout=0.3,
    ),
)  # fmt: skip


def run(request: Request) -> Events:
    """Train every row within the minutes; count all of them at full size."""
    size, minutes = request.size or DEFAULT_SIZE, request.minutes or DEFAULT_MINUTES
    base, rows = base_of(size), trained_rows(size)
    refuse_too_short(minutes, len(rows) * request.seeds)
    corpus, cells = corpus_of(request), Cells(request.out)
    each = minutes / (len(rows) * request.seeds)
    measured: dict[str, list[dict[str, Any]]] = {}
    for number, row in enumerate(rows, start=1):
        yield f"row {number} of {len(rows)}: {row.name}"
        measured[row.name] = [
            trained(cells, row, base, corpus, minutes=each, seed=seed)
            for seed in range(2017, 2017 + request.seeds)
        ]
    yield Result(
        name=request.name,
        title="Table 3: variations on the Transformer",
        tables=(_measured_table(rows, measured, corpus), full_size_table()),
        scale=f"{described(request, corpus)}. Base here is the preset {size}, pre-norm; {each:.2g} "
        f"minutes a training, {request.seeds} of each row. In the same minutes a larger model "
        "makes fewer steps; the paper gave each row the same number of steps. BLEU has 95 % of "
        "resampled sentences, p is the paired bootstrap against base.",
        pictures=(
            Picture(
                name="table3", caption="BLEU of every row, here and printed, against base",
                draw=lambda: _draw(rows, measured, corpus),
            ),
        ),
        claims=tuple(_claims(measured)),
    )  # fmt: skip


def base_of(size: str) -> ModelConfig:
    """Return the base that the rows are relative to: pre-norm, as it trains in few steps."""
    if size not in PRESETS:
        raise ConfigError(f"unknown --size '{size}'; {near_miss(size, PRESETS)}")
    return ModelConfig(vocab_size=1, normalisation="pre", **PRESETS[size])


def trained_rows(size: str) -> list[Row]:
    """Return the rows that differ at this size: of a third of two layers there is one."""
    base, chosen, seen = base_of(size), [], set()
    for row in ROWS:
        settings = (row.model(1, base), row.smoothing)
        if settings not in seen:
            seen.add(settings)
            chosen.append(row)
    return chosen


def trained(
    cells: Cells,
    row: Row,
    base: ModelConfig,
    corpus: PreparedCorpus,
    *,
    minutes: float,
    seed: int,
) -> dict[str, Any]:
    """Train one row with one seed, unless that has been done."""
    smoothing = 0.1 if row.smoothing is None else row.smoothing
    config = training_of(minutes, seed=seed, label_smoothing=smoothing)
    about = {
        "row": row.name,
        "base": [base.num_layers, base.d_model, base.d_ff, base.num_heads],
        "minutes": round(minutes, 4),
        "seed": seed,
        "corpus": fingerprint(corpus),
    }
    name = f"table3-{''.join(it if it.isalnum() else '-' for it in row.name)}"
    return cells.measured(
        name, about, lambda: measure(lambda v: Transformer(row.model(v, base)), corpus, config)
    )


def full_size_parameters(row: Row) -> int:
    """Count the parameters of a row at the size of the paper, by the first code's conventions."""
    base = ModelConfig(vocab_size=1)
    config = row.model(PAPER_ROWS, base)
    with torch.device("meta"):
        model = Transformer(config)
    return model.num_parameters + TARGET_SPACE_ROWS * config.d_model


def full_size_table() -> Table:
    """Set the counted millions beside the printed ones."""
    return Table(
        title="Parameters at full size, in millions",
        columns=("row", "change", "printed", "counted"),
        rows=tuple(
            (row.name, row.change, row.millions, round(full_size_parameters(row) / 1e6, 2))
            for row in ROWS
            if row.millions
        ),
    )


def _measured_table(
    rows: Sequence[Row], measured: dict[str, list[dict[str, Any]]], corpus: PreparedCorpus
) -> Table:
    references = [target for _, target in corpus.valid_pairs()]
    counts = {
        name: [
            BleuCounts.of(it["translations"], references[: len(it["translations"])]) for it in of
        ]
        for name, of in measured.items()
    }
    lines = []
    for row in rows:
        found, own = measured[row.name], counts[row.name]
        low, high = (
            own[0].interval()
            if len(found) == 1
            else mean_interval([float(it["bleu"]) for it in found])
        )
        p = chance_of_no_gain(own[0], counts["base"][0]) if row.name != "base" else None
        lines.append(
            (
                row.name,
                row.perplexity,
                round(_mean(found, "perplexity"), 2),
                row.bleu,
                round(_mean(found, "bleu"), 1),
                f"{low:.1f}-{high:.1f}",
                p,
                f"{found[0]['parameters'] / 1e6:.2f}",
                round(_mean(found, "steps")),
            )
        )
    return Table(
        title="Printed (newstest2013, 100,000 steps) and here",
        columns=("row", "PPL", "here", "BLEU", "here", "95 %", "p", "M", "steps"),
        rows=tuple(lines),
    )


def _mean(found: Sequence[dict[str, Any]], what: str) -> float:
    return sum(float(it[what]) for it in found) / len(found)


def _claims(measured: dict[str, list[dict[str, Any]]]) -> Iterator[Claim]:
    printed = [row for row in ROWS if row.millions and row.name != "big"]
    counted = {row.name: full_size_parameters(row) / 1e6 for row in ROWS}
    yield claim(
        "The parameter column of table 3, base and its variations",
        "table 3",
        holds=all(round(counted[row.name]) == row.millions for row in printed),
        printed=", ".join(str(row.millions) for row in printed),
        measured=", ".join(f"{counted[row.name]:.1f}" for row in printed),
        why="With a tied matrix of 40,960 rows, biases on all projections, and the 32 rows that "
        "the first code adds.",
    )
    yield Claim(
        text="The big model has 213 million parameters",
        source="table 3",
        printed="213",
        measured=f"{counted['big']:.1f}",
        verdict=FAILS,
        why="The conventions by which the ten others come out give 218.3; the reason is not known.",
    )
    bleu = {name: _mean(found, "bleu") for name, found in measured.items()}
    if bleu["base"] < TOO_LOW:
        yield Claim(
            text="Heads, widths, layers, dropout, smoothing and positions matter as rows A-E say",
            source="section 6.2, table 3",
            measured=f"BLEU of base is {bleu['base']:.1f}",
            why=f"Below {TOO_LOW:g} BLEU nothing is learned yet that could be compared; give more "
            "minutes.",
        )
        return
    for text, worse, better in _COMPARISONS:
        if worse in bleu and better in bleu:
            yield Claim(
                text=text,
                source="section 6.2, table 3",
                printed=f"{_printed(worse):.1f} against {_printed(better):.1f} BLEU",
                measured=f"{bleu[worse]:.1f} against {bleu[better]:.1f} BLEU",
                verdict=HOLDS if bleu[worse] < bleu[better] else FAILS,
                why="In equal minutes, not steps; see p in the table for how sure this is.",
            )
    yield Claim(
        text="Learned positions do as well as sinusoids",
        source="section 3.5, table 3 row E",
        printed="25.7 against 25.8 BLEU",
        measured=f"{bleu['E learned']:.1f} against {bleu['base']:.1f} BLEU",
        verdict=HOLDS if abs(bleu["E learned"] - bleu["base"]) < 1 else FAILS,
        why="Counted as holding within 1 BLEU.",
    )


_COMPARISONS = (
    ("Single-head attention is worse than the best setting", "A h=1", "base"),
    ("Too many heads are worse, too", "A h=32", "base"),
    ("Reducing the width of keys hurts", "B d_k/4", "base"),
    ("Fewer layers are worse", "C N/3", "base"),
    ("Bigger models are better: width", "C d/2", "C d·2"),
    ("Bigger models are better: feed-forward", "C ff/2", "C ff·2"),
    ("Dropout is very helpful in avoiding over-fitting", "D drop 0", "base"),
    ("Label smoothing improves BLEU", "D smooth 0", "base"),
)


def _printed(name: str) -> float:
    return next(row.bleu for row in ROWS if row.name == name)


def _draw(
    rows: Sequence[Row], measured: dict[str, list[dict[str, Any]]], corpus: PreparedCorpus
) -> Any:
    from heedful.paper import style

    figure, (axes,) = style.panels(height=4.2)
    bleu = {row.name: _mean(measured[row.name], "bleu") for row in rows}
    names = [row.name for row in rows if row.name != "base"]
    places = range(len(names))
    ours = [bleu[name] - bleu["base"] for name in names]
    axes.barh([it - 0.2 for it in places], ours, height=0.38, label="here")
    printed = [_printed(name) - _printed("base") for name in names]
    axes.barh([it + 0.2 for it in places], printed, height=0.38, label="printed")
    axes.set_yticks(places, names)
    axes.invert_yaxis()
    axes.axvline(0, color=style.GREY, linewidth=0.8)
    axes.set_xlabel("BLEU, difference to base")
    axes.legend()
    return figure
