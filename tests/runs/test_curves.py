import csv
import math
import sys
from itertools import takewhile
from threading import Event
from types import ModuleType
from xml.etree import ElementTree

import pytest

from heedful.errors import StoppedError
from heedful.evaluation import Score
from heedful.runs.curves import write_curves
from heedful.runs.events import Validation
from heedful.runs.recipe import load_recipe
from heedful.runs.train import train_model
from heedful.storage.folder import ModelFolder
from heedful.training.step import Step
from tests.conftest import validation

SVG = "{http://www.w3.org/2000/svg}"


def past(step: int, loss: float, bleu: float) -> Validation:
    score = Score("BLEU", bleu, "tok:13a")
    return validation(step, loss=loss, train_loss=loss + 0.5, bleu=score, learning_rate=5e-3)


HISTORY = [past(100, 5.0, 1.0), past(200, 3.0, 12.0), past(300, 2.0, 25.0), past(400, 2.5, 24.0)]


@pytest.fixture
def folder(tmp_path) -> ModelFolder:
    return ModelFolder(tmp_path)


def rows(folder: ModelFolder) -> list[dict[str, str]]:
    return list(csv.DictReader(folder.curves_file.read_text().splitlines()))


def untimed(folder: ModelFolder) -> list[dict[str, str]]:
    """Return the rows without what differs from run to run."""
    timed = ("seconds", "tokens_per_second")
    return [{name: row[name] for name in row if name not in timed} for row in rows(folder)]


def words(folder: ModelFolder) -> list[str]:
    picture = ElementTree.parse(folder.curves_picture)
    return [text.text for text in picture.iter(f"{SVG}text")]


def test_every_validation_is_a_row_of_the_table(folder):
    write_curves(folder, HISTORY)

    assert [row["step"] for row in rows(folder)] == ["100", "200", "300", "400"]
    assert rows(folder)[1] == {
        "step": "200",
        "seconds": "300",
        "train_loss": "3.5",
        "validation_loss": "3",
        "perplexity": "20.085537",  # e cubed
        "bleu": "12",
        "learning_rate": "0.005",
        "tokens_per_second": "4000",
    }


def test_the_picture_has_two_panels_with_labelled_axes_and_marks_the_best(folder):
    write_curves(folder, HISTORY)

    said = words(folder)
    assert "Loss per piece" in said
    assert {"step", "perplexity", "BLEU", "training, with dropout"} <= set(said)
    assert {"2", "3", "4", "5", "20.1", "100", "200", "300", "400", "10", "20"} <= set(said)
    assert "validation, best 2 at step 300" in said
    assert "greedy, first validation sentences, best 25 at step 300" in said


def test_a_higher_value_stands_higher(folder):
    write_curves(folder, HISTORY)

    picture = ElementTree.parse(folder.curves_picture)
    training, validation, bleu = (
        [tuple(map(float, place.split(","))) for place in line.get("points").split()]
        for line in picture.iter(f"{SVG}polyline")
    )
    assert all(t[1] < v[1] for t, v in zip(training, validation, strict=True))
    assert [y for _, y in bleu] == [*sorted((y for _, y in bleu[:3]), reverse=True), bleu[3][1]]
    assert bleu[3][1] > bleu[2][1]
    assert [x for x, _ in validation] == sorted(x for x, _ in validation)


@pytest.mark.parametrize(
    "history",
    [
        HISTORY[:1],
        [past(1, 2.0, 0.0), past(2, 2.0, 0.0)],
        [past(1, 9.0, 0.0), past(2, math.inf, 0.0), past(3, math.nan, 0.0)],
        [past(1, 5_000.0, 0.0), past(2, 3.0, 0.1)],
        [past(1, math.inf, 0.0)],
    ],
    ids=["one point", "flat", "diverged", "far out", "nothing finite"],
)
def test_no_history_is_too_odd_to_draw(folder, history):
    write_curves(folder, history)

    assert len(rows(folder)) == len(history)
    assert "step" in words(folder)
    assert "nan" not in folder.curves_picture.read_text()


def test_nothing_is_written_before_the_first_validation(folder):
    write_curves(folder, [])

    assert list(folder.path.iterdir()) == []


def test_curves_are_refreshed_at_every_validation(corpus, recipe_file, tmp_path):
    run = train_model(load_recipe(recipe_file, **corpus), tmp_path / "model")

    validations = (event for event in run if isinstance(event, Validation))

    assert [len(rows(ModelFolder(tmp_path / "model"))) for _ in validations] == [1, 2, 3]


@pytest.mark.slow
def test_an_interrupted_run_ends_with_the_curves_of_one_never_stopped(
    corpus, recipe_file, tmp_path, model_folder
):
    recipe = load_recipe(recipe_file, **corpus)
    interrupted = train_model(recipe, tmp_path / "model")
    list(takewhile(lambda event: not isinstance(event, Step) or event.number < 5, interrupted))
    interrupted.close()

    *_, finished = train_model(recipe, tmp_path / "model")

    assert untimed(finished.folder) == untimed(model_folder)


@pytest.mark.slow
def test_a_run_stopped_between_validations_ends_with_the_same_curves(
    corpus, recipe_file, tmp_path, model_folder
):
    recipe, stop = load_recipe(recipe_file, **corpus), Event()
    stopped = train_model(recipe, tmp_path / "model", stop)
    list(takewhile(lambda event: not isinstance(event, Step) or event.number < 3, stopped))
    stop.set()
    with pytest.raises(StoppedError, match="stopped after step 3"):
        next(stopped)

    *_, finished = train_model(recipe, tmp_path / "model")

    assert untimed(finished.folder) == untimed(model_folder)


@pytest.mark.slow
def test_curves_lost_after_the_last_checkpoint_are_drawn_at_the_end(corpus, recipe_file, tmp_path):
    folder = ModelFolder(tmp_path / "model")
    run = train_model(load_recipe(recipe_file, **corpus), folder.path)
    list(takewhile(lambda event: not isinstance(event, Validation) or event.step < 6, run))
    run.close()
    folder.curves_file.unlink()

    list(train_model(load_recipe(recipe_file, **corpus), folder.path))

    assert [row["step"] for row in rows(folder)] == ["2", "4", "6"]


def test_tensorboard_is_told_where_it_is_installed(folder, monkeypatch):
    told = []

    class SummaryWriter:
        def __init__(self, log_dir, purge_step):
            told.append((log_dir, purge_step))

        def __enter__(self):
            return self

        def __exit__(self, *error):
            told.append("closed")

        def add_scalar(self, name, value, step):
            told.append((name, value, step))

    module = ModuleType("torch.utils.tensorboard")
    module.SummaryWriter = SummaryWriter
    monkeypatch.setitem(sys.modules, "torch.utils.tensorboard", module)

    write_curves(folder, HISTORY)

    assert told == [
        (folder.training / "tensorboard", 400),
        ("train_loss", 3.0, 400),
        ("validation_loss", 2.5, 400),
        ("bleu", 24.0, 400),
        ("learning_rate", 5e-3, 400),
        ("tokens_per_second", 4_000.0, 400),
        "closed",
    ]


def test_without_tensorboard_nothing_is_said_or_written(folder, monkeypatch):
    monkeypatch.setitem(sys.modules, "torch.utils.tensorboard", None)

    write_curves(folder, HISTORY)

    assert {path.name for path in folder.path.iterdir()} == {"curves.csv", "curves.svg"}
