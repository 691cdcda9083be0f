"""What `heedful info` tells of a model folder, and what training says of it when it ends."""

from collections.abc import Mapping
from dataclasses import asdict

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from heedful.cli.terminal import say_example
from heedful.errors import printable
from heedful.model.config import ModelConfig
from heedful.storage.card import file_rows, languages, minutes, size
from heedful.storage.checksums import Comparison
from heedful.storage.folder import ModelFolder
from heedful.storage.provenance import Provenance
from heedful.storage.verdict import verdict


def tell_worth(folder: ModelFolder, console: Console) -> None:
    """Say what a model is good for, and what lies in its folder."""
    provenance = folder.provenance()
    console.print(
        f"Verdict (languages: {languages(provenance.data)}): {verdict(provenance)}.",
        style="bold",
        highlight=False,
        markup=False,
    )
    if provenance.examples:
        console.print("Validation sentences, not chosen by how they came out:")
        for example in provenance.examples:
            say_example(console, example, with_reference=True)
    console.print("Files:")
    console.print(_file_table(folder), highlight=False)


def info_table(config: ModelConfig, provenance: Provenance, comparison: Comparison) -> Table:
    """Lay out sizes, data, training and scores; what a file says is shown as it is spelt."""
    data, training, versions = provenance.data, provenance.training, provenance.versions
    table = Table(box=None, show_header=False, pad_edge=False)
    table.add_column(style="bold", no_wrap=True)
    table.add_column(overflow="fold")
    rows = {
        "languages": languages(data),
        "model": f"{config.num_layers}+{config.num_layers} layers, d_model {config.d_model}, d_ff "
        f"{config.d_ff}, {config.num_heads} heads, {config.normalisation}-norm, "
        f"{config.positions} positions",
        "parameters": f"{provenance.model.parameters:,}",
        "vocabulary": f"{provenance.model.vocab_size:,} pieces",
        "trained on": ", ".join(file.name for file in data.files),
        **({"text from": "; ".join(data.credits)} if data.credits else {}),
        "pairs": f"{data.train_pairs:,} to train, {data.valid_pairs:,} to validate",
        "training": f"{training.steps:,} steps in {minutes(training)} on "
        f"{provenance.machine.threads} threads, seed {training.seed}",
        **({"goes on from": training.parent} if training.parent else {}),
        "made": f"{provenance.created} by heedful {versions.heedful}, torch {versions.torch}",
        "search": ", ".join(f"{name} {it}" for name, it in asdict(provenance.search).items()),
        "checksums": str(comparison),
    }
    for name, value in rows.items():
        table.add_row(name, escape(printable(value)))
    for score in provenance.scores:
        signature = escape(printable(score.signature))
        table.add_row(escape(printable(score.name)), f"{score.value:.2f} [dim]{signature}[/dim]")
    return table


def models_table(models: Mapping[str, ModelFolder]) -> Table | str:
    """Lay out what models there are, what they translate and how good they are."""
    if not models:
        return "No model comes with this copy of heedful. To make one: heedful demo"
    table = Table(box=None, pad_edge=False)
    for heading in ("name", "languages", "size", "verdict"):
        table.add_column(heading, overflow="fold")
    for name, folder in models.items():
        provenance = folder.provenance()
        table.add_row(
            name,
            escape(languages(provenance.data)),
            size(sum(folder.sizes().values())),
            escape(verdict(provenance, known="what it was trained on")),
        )
    return table


def _file_table(folder: ModelFolder) -> Table:
    sizes = folder.sizes()
    table = Table(box=None, show_header=False, pad_edge=False)
    table.add_column(no_wrap=True)
    table.add_column(no_wrap=True, justify="right")
    table.add_column()
    for name, num_bytes, about in file_rows(sizes):
        table.add_row(f"  {name}", num_bytes, about)
    return table
