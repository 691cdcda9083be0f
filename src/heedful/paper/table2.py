"""Table 2: quality and cost of three kinds of network on the same data, in the same minutes."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from heedful.data.prepare import PreparedCorpus
from heedful.model.config import ModelConfig
from heedful.model.sequence_to_sequence import SequenceToSequence
from heedful.model.transformer import Transformer
from heedful.paper.baselines.convolutional import ConvolutionalConfig, ConvolutionalNetwork
from heedful.paper.baselines.recurrent import RecurrentConfig, RecurrentNetwork
from heedful.paper.corpus import corpus_of, described, fingerprint
from heedful.paper.laboratory import measure, refuse_too_short, training_of
from heedful.paper.request import Cells, Request
from heedful.paper.result import Claim, Events, Picture, Result, Table, claim
from heedful.paper.statistics import BleuCounts, chance_of_no_gain
from heedful.paper.table3 import base_of

DEFAULT_SIZE, DEFAULT_MINUTES = "mini", 15.0
RATES = (1e-3, 3e-3, 6e-3)
"""Peak learning rates that each network tries; the one that validates best is taken."""
TUNING_SHARE = 0.1  # of the minutes of a network, for each rate

Make = Callable[[int], SequenceToSequence]

_PRINTED: tuple[tuple[str, float | None, float | None, float | None, float | None], ...] = (
    ("ByteNet", 23.75, None, None, None),
    ("Deep-Att + PosUnk", None, 39.2, None, 1.0e20),
    ("GNMT + RL", 24.6, 39.92, 2.3e19, 1.4e20),
    ("ConvS2S", 25.16, 40.46, 9.6e18, 1.5e20),
    ("MoE", 26.03, 40.56, 2.0e19, 1.2e20),
    ("Deep-Att + PosUnk, ensemble", None, 40.4, None, 8.0e20),
    ("GNMT + RL, ensemble", 26.30, 41.16, 1.8e20, 1.1e21),
    ("ConvS2S, ensemble", 26.36, 41.29, 7.7e19, 1.2e21),
    ("Transformer (base)", 27.3, 38.1, 3.3e18, None),
    ("Transformer (big)", 28.4, 41.8, 2.3e19, None),
)
P100 = 9.5e12  # floating-point operations a second that the paper reckons with
GPUS = 8
COSTS = (("Transformer (base)", 12.0, 3.3e18), ("Transformer (big)", 84.0, 2.3e19))
"""Hours of training (section 5.2) and printed operations."""


def run(request: Request) -> Events:
    """Tune and train three networks of like size, each in as many minutes."""
    minutes = request.minutes or DEFAULT_MINUTES
    base = base_of(request.size or DEFAULT_SIZE)
    kinds = networks(base, vocab_size=1_000)
    refuse_too_short(minutes * TUNING_SHARE, len(kinds))
    corpus, cells = corpus_of(request), Cells(request.out)
    kinds = networks(base, corpus.tokenizer.vocab_size)
    measured = {}
    for name, make in kinds.items():
        yield f"{name}: tuning, then training"
        measured[name] = tuned(cells, name, make, corpus, base, minutes / len(kinds))
    yield Result(
        name=request.name,
        title="Table 2: quality and cost",
        tables=(_here(measured, corpus), _printed(), _costs()),
        scale=f"{described(request, corpus)}. {minutes / len(kinds):.2g} minutes for each network: "
        f"{len(RATES)} learning rates ({', '.join(f'{it:g}' for it in RATES)}) of a tenth each, "
        "then the best of them for the rest. Adam, the same batches and vocabulary, beam 4; sizes "
        "are chosen so that all have about as many parameters. Operations are those of matrix "
        "products, counted on one batch. p is the paired bootstrap against the Transformer.",
        pictures=(
            Picture(
                name="table2", caption="BLEU by training cost", draw=lambda: _draw(measured)
            ),
        ),
        claims=_claims(measured),
    )  # fmt: skip


def networks(base: ModelConfig, vocab_size: int) -> dict[str, Make]:
    """Return the three networks, the older ones as wide as gives them as many parameters."""
    wanted = _size(Transformer(replace(base, vocab_size=vocab_size)))

    def recurrent(width: int) -> Make:
        config = RecurrentConfig(vocab_size=1, d_model=width, num_layers=2, dropout=base.dropout)
        return lambda vocab: RecurrentNetwork(replace(config, vocab_size=vocab))

    def convolutional(width: int) -> Make:
        config = ConvolutionalConfig(
            vocab_size=1, d_model=width, num_layers=4, dropout=base.dropout, max_length=256
        )
        return lambda vocab: ConvolutionalNetwork(replace(config, vocab_size=vocab))

    return {
        "Transformer": lambda vocab: Transformer(replace(base, vocab_size=vocab)),
        "recurrent, LSTM": recurrent(_width(recurrent, vocab_size, wanted)),
        "convolutional, GLU": convolutional(_width(convolutional, vocab_size, wanted)),
    }


def _width(make: Callable[[int], Make], vocab_size: int, wanted: int) -> int:
    """Return the width, a multiple of 4, that comes nearest to a number of parameters."""
    width, sizes = 16, [_size(make(16)(vocab_size))]
    while sizes[-1] < wanted:
        width += 4
        sizes.append(_size(make(width)(vocab_size)))
    return width if sizes[-1] - wanted < wanted - sizes[-2:][0] else width - 4


def _size(network: SequenceToSequence) -> int:
    return sum(parameter.numel() for parameter in network.parameters())


def tuned(
    cells: Cells, name: str, make: Make, corpus: PreparedCorpus, base: ModelConfig, minutes: float
) -> dict[str, Any]:
    """Try the learning rates for a tenth of the time each, and train by the best."""
    about = {
        "network": name,
        "base": [base.num_layers, base.d_model, base.d_ff, base.num_heads],
        "minutes": round(minutes, 4),
        "corpus": fingerprint(corpus),
    }
    key = f"table2-{name.split(',')[0].lower()}"

    def tried(rate: float) -> float:
        config = training_of(minutes * TUNING_SHARE, peak_rate=rate)
        cell = cells.measured(
            f"{key}-rate", {**about, "rate": rate}, lambda: measure(make, corpus, config)
        )
        return float(cell["perplexity"])

    rate = min(RATES, key=tried)
    config = training_of(minutes * (1 - TUNING_SHARE * len(RATES)), peak_rate=rate)
    found = cells.measured(key, {**about, "rate": rate}, lambda: measure(make, corpus, config))
    return {**found, "rate": rate}


def _here(measured: dict[str, dict[str, Any]], corpus: PreparedCorpus) -> Table:
    references = [target for _, target in corpus.valid_pairs()]
    counts = {
        name: BleuCounts.of(it["translations"], references[: len(it["translations"])])
        for name, it in measured.items()
    }
    rows = []
    for name, found in measured.items():
        low, high = counts[name].interval()
        rows.append(
            (
                name,
                round(found["bleu"], 1),
                f"{low:.1f}-{high:.1f}",
                None
                if name == "Transformer"
                else chance_of_no_gain(counts[name], counts["Transformer"]),
                round(found["perplexity"], 2),
                round(found["pieces_per_second"]),
                f"{found['flops']:.1e}",
                f"{found['parameters'] / 1e6:.2f}",
                found["rate"],
            )
        )
    return Table(
        title="Here, on the validation pairs",
        columns=("network", "BLEU", "95 %", "p", "PPL", "pieces/s", "FLOPs", "M", "rate"),
        rows=tuple(rows),
    )


def _printed() -> Table:
    return Table(
        title="Printed (newstest2014)",
        columns=("network", "EN-DE", "EN-FR", "FLOPs EN-DE", "FLOPs EN-FR"),
        rows=tuple(
            (name, de, fr, *("" if it is None else f"{it:.1e}" for it in costs))
            for name, de, fr, *costs in _PRINTED
        ),
    )


def training_cost(hours: float) -> float:
    """Return seconds times GPUs times what each does in a second, as the paper reckons."""
    return hours * 3_600 * GPUS * P100


def _costs() -> Table:
    return Table(
        title="The paper's cost formula: seconds · 8 GPUs · 9.5 TFLOPS",
        columns=("network", "hours", "printed", "recomputed"),
        rows=tuple(
            (name, hours, f"{printed:.1e}", f"{training_cost(hours):.2e}")
            for name, hours, printed in COSTS
        ),
    )


def _claims(measured: dict[str, dict[str, Any]]) -> tuple[Claim, ...]:
    bleu = {name: float(it["bleu"]) for name, it in measured.items()}
    speed = {name: float(it["pieces_per_second"]) for name, it in measured.items()}
    others = [name for name in bleu if name != "Transformer"]
    listed = ", ".join(f"{name} {bleu[name]:.1f}" for name in bleu)
    fast = ", ".join(f"{name} {speed[name]:,.0f}" for name in speed)
    is_exact = all(f"{training_cost(hours):.1e}" == f"{printed:.1e}" for _, hours, printed in COSTS)
    return (
        claim(
            "The Transformer translates better than recurrent and convolutional networks at a "
            "fraction of the training cost",
            "abstract, section 6.1, table 2",
            holds=all(bleu["Transformer"] > bleu[name] for name in others),
            printed="27.3 against 24.6 (GNMT + RL) and 25.16 (ConvS2S) on EN-DE",
            measured=f"BLEU in equal minutes: {listed}",
            why="In equal minutes on this machine; p in the table says how sure it is.",
        ),
        claim(
            "It is more parallelisable and takes less time to train",
            "abstract",
            holds=all(speed["Transformer"] > speed[name] for name in others),
            measured=f"pieces a second: {fast}",
            why="On a CPU, where little is parallel; the claim is about GPUs.",
        ),
        claim(
            "Training costs of the base and the big model",
            "table 2",
            holds=is_exact,
            printed=", ".join(f"{printed:.1e}" for _, _, printed in COSTS),
            measured=", ".join(f"{training_cost(hours):.2e}" for _, hours, _ in COSTS),
        ),
    )


def _draw(measured: dict[str, dict[str, Any]]) -> Any:
    from heedful.paper import style

    figure, axes = style.panels(1, 2, height=3.0)
    printed: Sequence[tuple[str, float, float]] = [
        (name, cost, bleu) for name, bleu, _, cost, _ in _PRINTED if bleu and cost
    ]
    ours = [(name, float(it["flops"]), float(it["bleu"])) for name, it in measured.items()]
    for panel, title, points in (axes[0], "here", ours), (axes[1], "printed, EN-DE", printed):
        for name, cost, bleu in points:
            is_ours = name.startswith("Transformer")
            panel.plot(cost, bleu, "o", color=style.COLOURS[0 if is_ours else 1])
            panel.annotate(
                name, (cost, bleu), textcoords="offset points", xytext=(5, 4), fontsize=7
            )
        panel.set_xscale("log")
        panel.margins(0.25)
        panel.set_title(title)
        panel.set_xlabel("FLOPs of training")
        panel.set_ylabel("BLEU")
    return figure
