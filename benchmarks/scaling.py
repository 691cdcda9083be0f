"""How the cost of training grows with the model, the batch, the sentence and the corpus."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import chain
from pathlib import Path
from statistics import median

from benchmarks.turns import Task, process_seats, take_turns
from heedful.data.pair_ids import PairIds, write_pair_ids
from heedful.model.config import preset

SIZES = ("tiny", "small", "base")
BATCH_TOKENS = (512, 1_024, 2_048, 4_096, 8_192)
LENGTHS = (10, 20, 40, 80, 160)
COPIES = (1, 10, 100)


def print_scaling(task: Task, steps: int, cache: Path) -> None:
    """Print one table for each thing that grows, all else being as in `task`."""
    vocab_size, pairs = task.config.vocab_size, PairIds(task.ids)
    print_growth(
        "model",
        {size: replace(task, config=preset(size, vocab_size=vocab_size)) for size in SIZES},
        steps,
    )
    print_growth(
        "tokens in a batch",
        {f"{tokens:,}": replace(task, batch_tokens=tokens) for tokens in BATCH_TOKENS},
        steps,
    )
    lengths = {length: cache / f"length-{length}" for length in LENGTHS}
    for length, folder in lengths.items():
        write_once(folder, cut_to_length(pairs, length), vocab_size)
    print_growth(
        "pieces in a sentence",
        {f"{length}": replace(task, ids=folder) for length, folder in lengths.items()},
        steps,
    )
    corpora = {copies: cache / f"copies-{copies}" for copies in COPIES}
    for copies, folder in corpora.items():
        write_once(folder, repeat_pairs(pairs, copies), vocab_size)
    print_growth(
        "pairs in the corpus",
        {f"{len(pairs) * copies:,}": replace(task, ids=ids) for copies, ids in corpora.items()},
        steps,
    )


def print_growth(what: str, tasks: Mapping[str, Task], steps: int) -> None:
    """Measure tasks that differ in one thing, taking turns, and print a table of them."""
    with process_seats(tasks) as seats:
        rounds = take_turns(seats, steps)
    print(f"\n| {what} | tokens/s, median step | share of sgemm rate | peak memory | first batch |")
    print("|---|---|---|---|---|")
    for name in tasks:
        turns = [each.turns[name] for each in rounds]
        share = median(each.turns[name].flops_per_second / each.sgemm for each in rounds)
        print(
            f"| {name} | {median(turn.pieces_per_second for turn in turns):,.0f} | {share:.0%} "
            f"| {turns[-1].peak_bytes / 1e9:.2f} GB | {turns[0].seconds_to_first_batch:.2f} s |",
            flush=True,
        )


def repeat_pairs(pairs: PairIds, copies: int) -> Iterator[tuple[list[int], list[int]]]:
    """Yield the whole corpus so many times."""
    for row in list(range(len(pairs))) * copies:
        yield pairs[row]


def cut_to_length(pairs: PairIds, length: int) -> Iterator[tuple[list[int], list[int]]]:
    """Join all sentences and cut them anew, so that each has exactly `length` pieces and EOS."""
    sources = list(chain.from_iterable(source for source, _ in repeat_pairs(pairs, 1)))
    targets = list(chain.from_iterable(target for _, target in repeat_pairs(pairs, 1)))
    for start in range(0, min(len(sources), len(targets)) - length + 1, length):
        yield sources[start : start + length], targets[start : start + length]


def write_once(folder: Path, pairs: Iterable[tuple[list[int], list[int]]], vocab_size: int) -> None:
    """Write pairs to a folder that appears when it is complete, unless it is there already."""
    if not folder.exists():
        partial = folder.with_name(folder.name + ".partial")
        write_pair_ids(partial, pairs, vocab_size)
        partial.rename(folder)
