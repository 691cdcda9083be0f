"""Translation speed beside others, as Markdown: `make bench-translate DATA=folder MODEL=folder`."""

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median, quantiles
from time import perf_counter
from typing import Annotated

import typer

from benchmarks.agreement import agreement_table
from benchmarks.fresh import print_fresh_processes
from benchmarks.translators import FAST, OURS, Translate, systems
from heedful.evaluation import evaluate
from heedful.storage.folder import ModelFolder
from heedful.text.lines import read_lines


@dataclass(frozen=True, kw_only=True)
class Turn:
    """What one system made of one part of the texts."""

    seconds: float
    translations: list[str]


def main(
    data: Annotated[Path, typer.Argument(help="Folder of Multi30k.")],
    model: Annotated[Path, typer.Argument(help="A model folder, pre-norm for HuggingFace.")],
    sentences: Annotated[int, typer.Option(help="Of the test set.")] = 1_000,
    single: Annotated[int, typer.Option(help="Sentences that are translated one at a time.")] = 200,
    rounds: Annotated[int, typer.Option(help="Times that the whole is translated.")] = 3,
) -> None:
    """Show that the engines agree, and measure them beside others, in bulk and alone."""
    texts, references = (
        list(read_lines(data / f"test_2016_flickr.lc.norm.tok.{side}.gz"))[:sentences]
        for side in ("en", "de")
    )
    print(f"\nThe engines on {len(texts):,} sentences:\n")
    print(agreement_table(ModelFolder(model), texts, references), flush=True)
    for beam_size in (1, 4):
        print(f"\n{len(texts):,} sentences at once, beam {beam_size}:\n")
        parts = [texts] * rounds
        turns = take_turns(systems(model, parts, beam_size), parts, beam_size)
        print(bulk_table(turns, references, ModelFolder(model)), flush=True)
    alone = [[text] for text in texts[:single]]
    print(f"\n{len(alone):,} sentences one at a time, greedy:\n")
    print(single_table(take_turns(systems(model, alone, 1), alone, 1)), flush=True)
    print("\nA fresh process, from the command to the translation of one sentence:\n")
    print_fresh_processes(model, texts[0], rounds=3 * rounds)


def take_turns(
    loaded: Mapping[str, Translate], parts: Sequence[Sequence[str]], beam_size: int
) -> dict[str, list[Turn]]:
    """Let every system translate a part before any begins the next; who begins changes.

    One turn of each goes before, unmeasured.
    """
    names = list(loaded)
    turns: dict[str, list[Turn]] = {name: [] for name in names}
    for number, texts in enumerate([parts[0], *parts]):
        print(f"part {number} of {len(parts)}", file=sys.stderr)
        first = number % len(names)
        for name in names[first:] + names[:first]:
            turn = _timed(loaded[name], texts, beam_size)
            if number:
                turns[name].append(turn)
    return turns


def _timed(translate: Translate, texts: Sequence[str], beam_size: int) -> Turn:
    began = perf_counter()
    translations = translate(texts, beam_size)
    return Turn(seconds=perf_counter() - began, translations=translations)


def bulk_table(
    turns: Mapping[str, list[Turn]], references: Sequence[str], folder: ModelFolder
) -> str:
    """Lay out speed, our lead over each, and BLEU, which shows that all did the same work."""
    tokenizer = folder.tokenizer()
    lines = [
        "| system | sentences/s | pieces/s | ours / it | --fast / it | BLEU |",
        "|---|---|---|---|---|---|",
    ]
    for name, taken in turns.items():
        seconds = median(turn.seconds for turn in taken)
        translations = taken[-1].translations
        num_pieces = sum(len(tokenizer.encode(text)) for text in translations)
        bleu, *_ = evaluate(translations, references, tokenize="none")
        lines.append(
            f"| {name} | {len(translations) / seconds:,.0f} | {num_pieces / seconds:,.0f} "
            f"| {_lead(turns, OURS, name)} | {_lead(turns, FAST, name)} | {bleu.value:.2f} |"
        )
    return "\n".join(lines)


def single_table(turns: Mapping[str, list[Turn]]) -> str:
    """Lay out how long a sentence takes that is translated by itself."""
    lines = ["| system | sentences/s | p50 | p95 | ours / it |", "|---|---|---|---|---|"]
    for name, taken in turns.items():
        seconds = [turn.seconds for turn in taken]
        lines.append(
            f"| {name} | {len(seconds) / sum(seconds):,.0f} | {median(seconds) * 1e3:.1f} ms "
            f"| {quantiles(seconds, n=20)[-1] * 1e3:.1f} ms | {_lead(turns, OURS, name)} |"
        )
    return "\n".join(lines)


def _lead(turns: Mapping[str, list[Turn]], ours: str, name: str) -> str:
    """Return how many times faster we are, by the median over turns on the same part."""
    if name == ours or ours not in turns:
        return ""
    pairs = zip(turns[name], turns[ours], strict=True)
    return f"{median(theirs.seconds / ours.seconds for theirs, ours in pairs):.2f}"


if __name__ == "__main__":
    typer.run(main)
