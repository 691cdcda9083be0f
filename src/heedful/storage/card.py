"""The model card: what a model folder says of itself to whoever opens it."""

from collections.abc import Iterable, Mapping

from heedful.errors import printable
from heedful.storage.provenance import Data, Example, Provenance, Training
from heedful.storage.verdict import verdict

_PRIVATE = "training/"
_ABOUT_FILES = {
    "ctranslate2/": "what heedful translate reads",
    "model.safetensors": "the weights for --engine pytorch and heedful export",
    "onnx/": "the weights for ONNX runtimes",
    "tokenizer.model": "the vocabulary",
    "recipe.toml": "every choice that was made",
    "curves.svg": "how training went",
    _PRIVATE: "holds your text; delete it before you give the folder away",
}


def model_card(provenance: Provenance) -> str:
    """Write the README of a model folder from its provenance, and from nothing else."""
    data = provenance.data
    scores = _table(
        ["score", "value", "signature"],
        ([score.name, f"{score.value:.2f}", _code(score.signature)] for score in provenance.scores),
    )
    files = "\n".join(
        f"- {_code(file.name)} ({file.bytes:,} bytes, sha256 `{file.sha256[:16]}…`)"
        for file in data.files
    )
    return f"""# A translation model

**{_text(_sentence(verdict(provenance, known="what it was trained on")))}**

Trained with heedful {provenance.versions.heedful} on {provenance.created}.

{_table(["", ""], _facts(provenance))}

## Scores
On {data.valid_pairs:,} validation pairs, beam {provenance.search.beam_size}:

{scores}
{_examples(provenance.examples)}
## Files
{_table(["name", "size", ""], _files(provenance.sizes))}

`provenance.json` holds the whole record, and `checksums.json` what `heedful info` checks.

## Made from
{files}
{_credits(data)}
## Use
```
heedful translate <this folder> "some text"
```
"""


def languages(data: Data) -> str:
    """Say from which language to which."""
    if len(data.directions) > 1:
        return printable(", ".join(map(str, data.directions)))
    if not data.from_language and not data.to_language:
        return "not stated"
    return printable(f"{data.from_language or 'not stated'} to {data.to_language or 'not stated'}")


def minutes(training: Training) -> str:
    """Say how long it took, and of how long."""
    given = training.minutes_given
    return f"{training.seconds / 60:.1f}{f' of {round(given, 2):g}' if given else ''} minutes"


def file_rows(sizes: Mapping[str, int]) -> Iterable[tuple[str, str, str]]:
    """Tell name and size of each file that somebody may ask about, and what is to be said of it."""
    for name, about in _ABOUT_FILES.items():
        if name in sizes:
            yield name, size(sizes[name]), about


def size(num_bytes: int) -> str:
    """Write a size as people say it."""
    return f"{num_bytes / 1e6:,.1f} MB" if num_bytes >= 1e5 else f"{num_bytes / 1e3:,.1f} kB"


def _credits(data: Data) -> str:
    lines = "".join(f"- {_text(credit)}\n" for credit in data.credits)
    return f"\nThe text is from:\n{lines}" if lines else ""


def _facts(provenance: Provenance) -> Iterable[list[str]]:
    training = provenance.training
    return [
        ["languages", _text(languages(provenance.data))],
        ["parameters", f"{provenance.model.parameters:,}"],
        ["vocabulary", f"{provenance.model.vocab_size:,} pieces"],
        ["training pairs", f"{provenance.data.train_pairs:,}"],
        ["steps", f"{training.steps:,}"],
        ["time", f"{minutes(training)} on {provenance.machine.threads} threads"],
        ["teachers", _teachers(training)],
        *([["goes on from", _text(training.parent)]] if training.parent else []),
    ]


def _teachers(training: Training) -> str:
    for given, unit in (training.teacher_steps, "steps"), (training.teacher_minutes, "minutes"):
        if given:
            return f"two, of {round(given, 2):,} {unit} each at most"
    return "none"


def _examples(examples: Iterable[Example]) -> str:
    rows = [[_code(it.source), _code(it.translation), _code(it.reference)] for it in examples]
    if not rows:
        return ""
    return f"""
## Examples
Validation sentences, not chosen by how they came out:

{_table(["source", "translation", "reference"], rows)}
"""


def _files(sizes: Mapping[str, int]) -> Iterable[list[str]]:
    for name, num_bytes, about in file_rows(sizes):
        yield [_code(name), num_bytes, f"**{about}**" if name == _PRIVATE else about]


def _table(header: list[str], rows: Iterable[list[str]]) -> str:
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join(f"| {' | '.join(map(_cell, line))} |" for line in lines)


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}."


def _text(text: str) -> str:
    """Spell text so that Markdown takes nothing in it for a mark of its own."""
    return "".join(f"\\{it}" if it in "\\`*_[]<>#|&" else it for it in printable(text))


def _code(text: str) -> str:
    """Spell text so that Markdown shows it as it is."""
    text = printable(text)
    if "`" not in text:
        return f"`{text}`" if text.strip() else ""
    ticks = "`" * (1 + max(map(len, _runs_of_ticks(text))))
    return f"{ticks} {text} {ticks}"


def _runs_of_ticks(text: str) -> list[str]:
    return "".join(it if it == "`" else " " for it in text).split()


def _cell(text: str) -> str:
    """Keep text within its cell of a table."""
    return text.replace("|", "\\|")
