"""The model card: what a model folder says of itself to whoever opens it."""

from typing import Any

from rich.markup import escape
from rich.table import Table

from heedful.model.config import ModelConfig


def model_card(provenance: dict[str, Any]) -> str:
    """Write the README of a model folder from its provenance."""
    data, training = provenance["data"], provenance["training"]
    files = "\n".join(
        f"- `{file['name']}` ({file['bytes']:,} bytes, sha256 `{file['sha256'][:16]}…`)"
        for file in data["files"]
    )
    scores = "\n".join(
        f"| {score['name']} | {score['value']:.2f} | `{score['signature']}` |"
        for score in provenance["scores"]
    )
    return f"""# A translation model

Trained with heedful {provenance["versions"]["heedful"]} on {provenance["created"]}.

| | |
|---|---|
| parameters | {provenance["model"]["parameters"]:,} |
| vocabulary | {provenance["model"]["vocab_size"]:,} pieces |
| training pairs | {data["train_pairs"]:,} |
| steps | {training["steps"]:,} |
| time | {_minutes(training)} on {provenance["machine"]["threads"]} threads |
| teachers | {_teachers(training)} |

## Scores
On {data["valid_pairs"]:,} validation pairs, beam {provenance["search"]["beam_size"]}:

| score | value | signature |
|---|---|---|
{scores}

## Made from
{files}

`recipe.toml` holds every choice that was made, `provenance.json` the whole record.

## Use
```
heedful translate <this folder> "some text"
```
"""


def _teachers(training: dict[str, Any]) -> str:
    for unit in ("steps", "minutes"):
        if given := training[f"teacher_{unit}"]:
            return f"two, of {round(given, 2):,} {unit} each at most"
    return "none"


def _minutes(training: dict[str, Any]) -> str:
    given = training["minutes_given"]
    return f"{training['seconds'] / 60:.1f}{f' of {round(given, 2):g}' if given else ''} minutes"


def info_table(config: ModelConfig, provenance: dict[str, Any]) -> Table:
    """Lay out what `heedful info` tells."""
    data, training = provenance["data"], provenance["training"]
    table = Table(box=None, show_header=False, pad_edge=False)
    table.add_column(style="bold", no_wrap=True)
    table.add_column(overflow="fold")
    rows = {
        "model": f"{config.num_layers}+{config.num_layers} layers, d_model {config.d_model}, d_ff "
        f"{config.d_ff}, {config.num_heads} heads, {config.normalisation}-norm, "
        f"{config.positions} positions",
        "parameters": f"{provenance['model']['parameters']:,}",
        "vocabulary": f"{provenance['model']['vocab_size']:,} pieces",
        "trained on": ", ".join(file["name"] for file in data["files"]),
        "pairs": f"{data['train_pairs']:,} to train, {data['valid_pairs']:,} to validate",
        "training": f"{training['steps']:,} steps in {_minutes(training)} on "
        f"{provenance['machine']['threads']} threads, seed {training['seed']}",
        "made": f"{provenance['created']} by heedful {provenance['versions']['heedful']}, "
        f"torch {provenance['versions']['torch']}",
        "search": ", ".join(f"{name} {value}" for name, value in provenance["search"].items()),
    }
    for name, value in rows.items():
        table.add_row(name, escape(value))
    for score in provenance["scores"]:
        table.add_row(score["name"], f"{score['value']:.2f} [dim]{score['signature']}[/dim]")
    return table
