"""The model card: what a model folder says of itself to whoever opens it."""

from heedful.errors import printable
from heedful.storage.provenance import Data, Provenance, Training


def model_card(provenance: Provenance) -> str:
    """Write the README of a model folder from its provenance."""
    data, training = provenance.data, provenance.training
    files = "\n".join(
        f"- {_code(file.name)} ({file.bytes:,} bytes, sha256 `{file.sha256[:16]}…`)"
        for file in data.files
    )
    scores = "\n".join(
        f"| {_cell(score.name)} | {score.value:.2f} | {_cell(_code(score.signature))} |"
        for score in provenance.scores
    )
    return f"""# A translation model

Trained with heedful {provenance.versions.heedful} on {provenance.created}.

| | |
|---|---|
| languages | {_cell(languages(data))} |
| parameters | {provenance.model.parameters:,} |
| vocabulary | {provenance.model.vocab_size:,} pieces |
| training pairs | {data.train_pairs:,} |
| steps | {training.steps:,} |
| time | {minutes(training)} on {provenance.machine.threads} threads |
| teachers | {_teachers(training)} |

## Scores
On {data.valid_pairs:,} validation pairs, beam {provenance.search.beam_size}:

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


def languages(data: Data) -> str:
    """Say from which language to which."""
    if not data.from_language and not data.to_language:
        return "not stated"
    return printable(f"{data.from_language or 'not stated'} to {data.to_language or 'not stated'}")


def minutes(training: Training) -> str:
    """Say how long it took, and of how long."""
    given = training.minutes_given
    return f"{training.seconds / 60:.1f}{f' of {round(given, 2):g}' if given else ''} minutes"


def _teachers(training: Training) -> str:
    for given, unit in (training.teacher_steps, "steps"), (training.teacher_minutes, "minutes"):
        if given:
            return f"two, of {round(given, 2):,} {unit} each at most"
    return "none"


def _code(text: str) -> str:
    """Spell text so that Markdown shows it as it is."""
    text = printable(text)
    return f"`` {text} ``" if "`" in text else f"`{text}`"


def _cell(text: str) -> str:
    """Keep text within its cell of a table."""
    return text.replace("|", "\\|")
