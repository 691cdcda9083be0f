"""Training speed by how OpenMP's threads wait for one another, alone and beside other programs.

Each way has a process of its own, since OpenMP reads it when it is loaded; they take turns.
"""

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Annotated

import typer

from heedful.data.batches import training_batches
from heedful.data.embedded import generate
from heedful.data.prepare import PreparedCorpus
from heedful.runs.begin import prepared
from heedful.runs.recipe import load_recipe
from heedful.runs.recover import first_model
from heedful.storage.folder import ModelFolder
from heedful.training.trainer import Trainer

WAYS = {
    "as OpenMP has it": {},
    "10,000 spins": {"GOMP_SPINCOUNT": "10000"},
    "1,000 spins": {"GOMP_SPINCOUNT": "1000"},
    "asleep": {"OMP_WAIT_POLICY": "passive"},
}
_WARMING_UP = 3  # steps

app = typer.Typer()


@app.command()
def compare(
    rounds: Annotated[int, typer.Option(help="Turns of each way.")] = 3,
    seconds: Annotated[float, typer.Option(help="Of each turn.")] = 8.0,
    busy: Annotated[list[int] | None, typer.Option(help="Other programs that never wait.")] = None,
) -> None:
    """Print one row for each number of busy programs: target pieces a second, median of turns."""
    with TemporaryDirectory() as folder:
        corpus = _corpus(Path(folder))
        print(f"| other programs | {' | '.join(WAYS)} |\n|---{'|---' * len(WAYS)}|")
        for number in busy or (0, 1, 3):
            found: dict[str, list[float]] = {way: [] for way in WAYS}
            with _busy_programs(number):
                for _ in range(rounds):
                    for way, turns in found.items():
                        turns.append(_turn(corpus, seconds, WAYS[way]))
            cells = (f"{median(turns):,.0f}" for turns in found.values())
            print(f"| {number} | {' | '.join(cells)} |", flush=True)


@app.command()
def turn(corpus: Path, seconds: float) -> None:
    """Train for some seconds by the recipe `default`, and print target pieces a second."""
    recipe = load_recipe("default", source=str(corpus))
    prepared_corpus = PreparedCorpus(corpus)
    model = first_model(recipe, prepared_corpus.tokenizer.vocab_size)
    steps = Trainer(model, recipe.training).steps(
        training_batches(
            prepared_corpus.train,
            batch_tokens=recipe.training.batch_tokens,
            seed=recipe.training.seed,
            skip=0,
        )
    )
    for _ in range(_WARMING_UP):
        next(steps)
    began, pieces = time.perf_counter(), 0
    while time.perf_counter() < began + seconds:
        pieces += next(steps).num_pieces
    print(pieces / (time.perf_counter() - began))


def _corpus(folder: Path) -> Path:
    pairs = generate("fr").train
    text = "".join(f"{source}\t{target}\n" for source, target in pairs)
    (folder / "train.tsv").write_text(text, encoding="utf-8")
    recipe = load_recipe("default", source=str(folder / "train.tsv"))
    return prepared(ModelFolder(folder / "model"), recipe).folder


def _turn(corpus: Path, seconds: float, way: dict[str, str]) -> float:
    command = [sys.executable, "-m", "benchmarks.waiting", "turn", str(corpus), str(seconds)]
    done = subprocess.run(
        command, env={**os.environ, **way}, stdout=subprocess.PIPE, text=True, check=True
    )
    return float(done.stdout)


@contextmanager
def _busy_programs(number: int) -> Iterator[None]:
    programs = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(number)]
    try:
        yield
    finally:
        for program in programs:
            program.kill()
            program.wait()


if __name__ == "__main__":
    app()
