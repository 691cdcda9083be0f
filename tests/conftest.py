"""Fixtures that several test modules share."""

import random
from pathlib import Path

import pytest
import torch
from hypothesis import settings

from heedful.evaluation import Score
from heedful.runs.events import Validation
from heedful.runs.recipe import load_recipe
from heedful.runs.train import train_model
from heedful.storage.folder import ModelFolder

# Who changes nothing breaks nothing, however slow the machine is.
settings.register_profile("repeatable", derandomize=True, deadline=None)
# `make properties` tries other examples, by a seed that it is given.
settings.register_profile("new", database=None, deadline=None, print_blob=True)
settings.load_profile("repeatable")
torch.set_num_threads(1)  # for models this small, threads cost more than they bring


@pytest.fixture(autouse=True)
def _one_thread_again():
    """What a test or CTranslate2 sets shall not show in the bits of the next test."""
    yield
    torch.set_num_threads(1)


SIZES = """
[tokenizer]
vocab_size = 320

[model]
num_layers = 1
d_model = 16
d_ff = 32
num_heads = 2
"""

TINY_RECIPE = f"""{SIZES}
[training]
steps = 6
batch_tokens = 256
warmup_steps = 2
validate_every = 2
average_last = 2
"""


@pytest.fixture(autouse=True)
def _seeded() -> None:
    torch.manual_seed(2017)


def write_corpus(folder: Path, num_pairs: int = 80) -> dict[str, str]:
    """Write sentences of letters and, as their translation, the same in capitals."""
    letters = random.Random(1)
    sources = [
        " ".join(letters.choices("abcdef", k=letters.randint(2, 7))) for _ in range(num_pairs)
    ]
    (folder / "train.low").write_text("".join(f"{s}\n" for s in sources))
    (folder / "train.up").write_text("".join(f"{s.upper()}\n" for s in sources))
    return {"source": str(folder / "train.low"), "target": str(folder / "train.up")}


@pytest.fixture
def corpus(tmp_path) -> dict[str, str]:
    return write_corpus(tmp_path)


@pytest.fixture
def recipe_file(tmp_path) -> str:
    (tmp_path / "recipe.toml").write_text(TINY_RECIPE)
    return str(tmp_path / "recipe.toml")


@pytest.fixture(scope="session")
def model_folder(tmp_path_factory) -> ModelFolder:
    """A model trained for a few steps: it works, and says nothing sensible."""
    folder = tmp_path_factory.mktemp("trained")
    (folder / "recipe.toml").write_text(TINY_RECIPE)
    recipe = load_recipe(str(folder / "recipe.toml"), **write_corpus(folder))
    *_, finished = train_model(recipe, folder / "model")
    return finished.folder


def validation(step: int, **changes: object) -> Validation:
    """Tell of a healthy run, but for some changes."""
    healthy = {
        "loss": 2.0,
        "bleu": Score("BLEU", 20.0, "tok:13a"),
        "is_best": False,
        "num_distinct": 195,
        "num_distinct_references": 198,
        "length_ratio": 0.97,
        "train_loss": 2.0,
        "learning_rate": 1e-3,
        "pieces_per_second": 4_000.0,
        "running_loss": 2.5,
        "progress": 0.5,
        "seconds": 1.5 * step,
    }
    return Validation(step=step, **healthy | changes)


class SilentEngine:
    """An engine that can do nothing, for those that do one thing."""

    most_pieces = 2_048

    def search(self, sources, config, **options):
        raise NotImplementedError

    def read(self, sources, targets):
        raise NotImplementedError

    def look(self, sources, targets):
        return (reading.attention for reading in self.read(sources, targets))

    def next_pieces(self, source, prefix):
        raise NotImplementedError
