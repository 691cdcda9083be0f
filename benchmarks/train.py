"""Training speed beside other implementations, as Markdown: `make bench-train DATA=folder`."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from statistics import median, quantiles
from typing import Annotated

import torch
import typer

from benchmarks.multi30k import prepare_multi30k
from benchmarks.scaling import print_scaling
from benchmarks.systems import OURS, SYSTEMS, installed_systems
from benchmarks.turns import LocalSeat, Round, Task, process_seats, take_turns
from heedful.model.config import preset


def main(
    data: Annotated[Path, typer.Argument(help="Folder of Multi30k.")],
    size: Annotated[str, typer.Option(help="Preset of the model: tiny, small, base.")] = "tiny",
    steps: Annotated[int, typer.Option(min=2, help="Measured steps of each system.")] = 30,
    batch_tokens: Annotated[int, typer.Option(help="Tokens a side, padding included.")] = 4_096,
    threads: Annotated[int, typer.Option(help="0: as many as torch takes by itself.")] = 0,
    scaling: Annotated[bool, typer.Option("--scaling", help="How our cost grows.")] = False,
    cache: Annotated[Path, typer.Option(help="Where the prepared corpus is kept.")] = Path(
        "build/bench"
    ),
) -> None:
    """Measure training speed and memory, every system on the same batches in turn."""
    corpus = prepare_multi30k(data, cache)
    task = Task(
        system=OURS,
        config=preset(size, vocab_size=corpus.tokenizer.vocab_size),
        ids=corpus.folder / "train",
        batch_tokens=batch_tokens,
        threads=threads or torch.get_num_threads(),
    )
    torch.set_num_threads(task.threads)
    if scaling:
        print_scaling(task, steps, cache)
    else:
        print_comparison(task, steps, size)


def print_comparison(task: Task, steps: int, size: str) -> None:
    """Print one table of systems in processes of their own, one of systems that share ours."""
    names = installed_systems()
    tasks = {name: replace(task, system=name) for name in names}
    print(
        f"Model `{size}`, {task.config.vocab_size:,} pieces; batches of {task.batch_tokens:,} "
        f"padded tokens a side; {steps} steps; {task.threads} threads, float32."
    )
    for name in SYSTEMS.keys() - set(names):
        print(f"{name} left out: transformers is not installed (extra `bench`).")
    print("\nEach in a process of its own, with the memory allocator its users have:\n")
    with process_seats(tasks) as seats:
        print(comparison_table(take_turns(seats, steps)), flush=True)
    print("\nAll in one process, where the peers share our allocator's settings:\n")
    shared = {name: LocalSeat(task) for name, task in tasks.items()}
    print(comparison_table(take_turns(shared, steps), shows_memory=False), flush=True)


def comparison_table(rounds: Sequence[Round], *, shows_memory: bool = True) -> str:
    """Lay out what each system did, and our lead over it, step by step on the same batches."""
    lines = [
        "| system | tokens/s, median step | all steps | ours / it, median (middle half) "
        "| share of sgemm rate | peak memory | loss, second batch |",
        "|---|---|---|---|---|---|---|",
    ]
    for name in sorted(rounds[0].turns, key=list(SYSTEMS).index):
        turns = [each.turns[name] for each in rounds]
        leads = [each.turns[name].seconds / each.turns[OURS].seconds for each in rounds]
        low, middle, high = quantiles(leads, n=4, method="inclusive")
        lead = f"{middle:.2f} ({low:.2f} to {high:.2f})" if name != OURS else ""
        share = median(each.turns[name].flops_per_second / each.sgemm for each in rounds)
        memory = f"{turns[-1].peak_bytes / 1e9:.2f} GB" if shows_memory else ""
        lines.append(
            f"| {name} | {median(turn.pieces_per_second for turn in turns):,.0f} "
            f"| {sum(turn.pieces for turn in turns) / sum(turn.seconds for turn in turns):,.0f} "
            f"| {lead} | {share:.0%} | {memory} | {turns[0].loss:.2f} |"
        )
    low, middle, high = quantiles((each.sgemm / 1e9 for each in rounds), n=4, method="inclusive")
    noise = f"sgemm beside them: {middle:.0f} GFLOPS (middle half {low:.0f} to {high:.0f})."
    return "\n".join([*lines, "", noise])


if __name__ == "__main__":
    typer.run(main)
