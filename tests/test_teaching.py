import threading
from itertools import takewhile

import pytest
from rich.console import Console

from heedful import diversifying, translating
from heedful.decoding.translator import Translation, Translator
from heedful.display import show
from heedful.errors import ConfigError, StoppedError
from heedful.events import Finished, Lesson
from heedful.folder import ModelFolder
from heedful.recipe import load_recipe
from heedful.run import train_model
from heedful.text.corpus import read_pairs
from heedful.training.trainer import Step
from tests.conftest import TINY_RECIPE, write_corpus


@pytest.fixture(scope="module")
def taught_recipe(tmp_path_factory):
    folder = tmp_path_factory.mktemp("taught")
    (folder / "recipe.toml").write_text(f"{TINY_RECIPE}teacher_steps = 4\n")
    return load_recipe(str(folder / "recipe.toml"), **write_corpus(folder))


@pytest.fixture(scope="module")
def events(taught_recipe, tmp_path_factory):
    return list(train_model(taught_recipe, tmp_path_factory.mktemp("run") / "model"))


def test_two_teachers_train_then_translate_and_then_the_model_trains(events):
    told = [event for event in events if isinstance(event, Lesson | Finished | Step)]

    assert [getattr(event, "about", type(event)) for event in told] == [
        *("forward", *[Step] * 4, Finished),
        *("backward", *[Step] * 4, Finished),
        *("translating", "model", *[Step] * 6, Finished),
    ]
    assert events[-1].folder.provenance()["training"]["teacher_steps"] == 4


class Emphatic(Translator):
    """Leaves what it reads as it is, and adds a mark."""

    def __init__(self, folder):
        pass

    def translate_lines(self, lines, **options):
        return (Translation(source=line, text=f"{line} !", score=-1.0) for line in lines)


def test_the_model_learns_from_its_pairs_and_what_the_teachers_add_to_them(
    taught_recipe, tmp_path, monkeypatch
):
    monkeypatch.setattr(diversifying, "load", Emphatic)

    events = train_model(taught_recipe, tmp_path / "model")

    forward, backward, model = (e.folder for e in events if isinstance(e, Finished))

    own = set(read_pairs(forward.corpus / "train.tsv"))
    held_out = list(read_pairs(forward.corpus / "valid.tsv"))
    assert set(read_pairs(backward.corpus / "train.tsv")) == {(b, a) for a, b in own}
    assert list(read_pairs(backward.corpus / "valid.tsv")) == [(b, a) for a, b in held_out]
    assert list(read_pairs(model.corpus / "valid.tsv")) == held_out
    assert set(read_pairs(model.corpus / "train.tsv")) == own | {
        pair for a, b in own for pair in ((a, f"{a} !"), (f"{b} !", b))
    }
    assert {file["name"] for file in model.provenance()["data"]["files"]} == {
        "train.low",
        "train.up",
    }


@pytest.mark.slow
@pytest.mark.parametrize("number", [2, 7, 12])
def test_a_run_that_stops_in_any_lesson_goes_on_to_the_same_weights(
    taught_recipe, events, tmp_path, number
):
    interrupted = train_model(taught_recipe, tmp_path / "model")
    steps = (event for event in interrupted if isinstance(event, Step))
    for _ in range(number):
        next(steps)
    interrupted.close()

    *_, finished = train_model(taught_recipe, tmp_path / "model")

    expected = events[-1].folder.weights_file.read_bytes()
    assert finished.folder.weights_file.read_bytes() == expected


def test_teachers_that_are_stopped_while_they_translate_say_how_to_go_on(
    taught_recipe, events, tmp_path, monkeypatch
):
    monkeypatch.setattr(translating, "CHUNK", 4)
    stop = threading.Event()
    run = train_model(taught_recipe, tmp_path / "model", stop)

    list(takewhile(lambda event: event != Lesson(about="translating"), run))
    stop.set()
    with pytest.raises(StoppedError, match="stopped while the teachers translate; run the same"):
        next(run)
    first, *_, finished = train_model(taught_recipe, tmp_path / "model")

    assert first == Lesson(about="translating")
    taught = finished.folder.taught_file.read_bytes()
    assert taught == events[-1].folder.taught_file.read_bytes()


def test_a_teacher_of_another_recipe_is_refused(taught_recipe, tmp_path):
    run = train_model(taught_recipe, tmp_path / "model")
    list(takewhile(lambda event: not isinstance(event, Finished), run))
    (tmp_path / "other.toml").write_text(f"{TINY_RECIPE}teacher_steps = 5\n")
    data = {"source": taught_recipe.data.source, "target": taught_recipe.data.target}
    other = load_recipe(str(tmp_path / "other.toml"), **data)

    with pytest.raises(ConfigError, match=r"forward holds a run with \[training\] steps = 4, now"):
        list(train_model(other, tmp_path / "model"))


def test_all_of_it_is_shown(events):
    console = Console(record=True, width=100)

    assert show(events, console) == events[-1]
    shown = console.export_text()
    assert shown.index("First a teacher") < shown.index("Then a teacher")
    assert shown.index("Both teachers translate") < shown.index("Now the model")


def test_a_folder_in_other_use_is_refused_before_the_teachers_train(taught_recipe, model_folder):
    with pytest.raises(Exception, match="already holds a finished model"):
        next(train_model(taught_recipe, model_folder.path))

    assert not (ModelFolder(model_folder.path).training / "teachers").exists()
