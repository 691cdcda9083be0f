import shutil
import threading
from dataclasses import replace
from itertools import takewhile
from pathlib import Path

import pytest
from rich.console import Console

from heedful.cli.display import show
from heedful.data.corpus import read_pairs
from heedful.data.files import DataConfig
from heedful.data.prepare import PreparedCorpus, write_exchanged
from heedful.errors import ConfigError, CorpusError, ModelFolderError, StoppedError
from heedful.runs import diversify
from heedful.runs.events import Finished, Lesson, Validation
from heedful.runs.recipe import load_recipe
from heedful.runs.train import train_model
from heedful.storage.folder import ModelFolder
from heedful.training.step import Step
from heedful.translation import files
from heedful.translation.translator import Translation, Translator
from tests.conftest import TINY_RECIPE, write_corpus

pytestmark = pytest.mark.slow  # each run trains three models


@pytest.fixture(scope="module")
def taught_recipe(tmp_path_factory):
    folder = tmp_path_factory.mktemp("taught")
    (folder / "recipe.toml").write_text(f"{TINY_RECIPE}teachers = 0.66\n")
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
    assert events[-1].folder.provenance().training.teacher_steps == 4


class Emphatic(Translator):
    """Leaves what it reads as it is, and adds a mark."""

    def __init__(self, folder):
        pass

    def translate_lines(self, lines, **options):
        return (Translation(source=line, text=f"{line} !", score=-1.0) for line in lines)


def test_the_model_learns_from_its_pairs_and_what_the_teachers_add_to_them(
    taught_recipe, tmp_path, monkeypatch
):
    monkeypatch.setattr(diversify, "load", Emphatic)

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
    assert {file.name for file in model.provenance().data.files} == {
        "train.low",
        "train.up",
    }
    assert "| teachers | two, of 4 steps each at most |" in model.card_file.read_text()


def test_no_source_to_validate_on_comes_back_by_a_teacher(taught_recipe, tmp_path, monkeypatch):
    held_out = "a b"

    class Remembering(Emphatic):
        def translate_lines(self, lines, **options):
            return (Translation(source=line, text=held_out, score=-1.0) for line in lines)

    monkeypatch.setattr(diversify, "load", Remembering)
    (tmp_path / "valid.tsv").write_text(f"{held_out}\tA B\n")
    data = replace(taught_recipe.data[0], valid_source=str(tmp_path / "valid.tsv"))

    *_, finished = train_model(replace(taught_recipe, data=(data,)), tmp_path / "model")

    assert held_out in finished.folder.taught_file.read_text()
    assert held_out not in dict(read_pairs(finished.folder.corpus / "train.tsv"))


def test_any_character_survives_the_exchange(tmp_path):
    pairs = [("a\u2028b", "A\x85B"), ("c", "C\x1cD")]
    for split in ("train.tsv", "valid.tsv"):
        (tmp_path / split).write_text("".join(f"{a}\t{b}\n" for a, b in pairs), newline="\n")
    (tmp_path / "teachers").mkdir()

    data = write_exchanged(PreparedCorpus(tmp_path), tmp_path / "teachers")

    for file in (data.source, data.valid_source):
        assert list(read_pairs(Path(file))) == [(b, a) for a, b in pairs]


def test_a_folder_that_moved_goes_on(taught_recipe, events, tmp_path):
    run = train_model(taught_recipe, tmp_path / "model")
    list(takewhile(lambda event: event != Lesson(about="backward"), run))
    next(event for event in run if isinstance(event, Validation))
    run.close()

    (tmp_path / "model").rename(tmp_path / "moved")
    *_, finished = train_model(taught_recipe, tmp_path / "moved")

    expected = events[-1].folder.weights_file.read_bytes()
    assert finished.folder.weights_file.read_bytes() == expected


def test_files_that_changed_after_a_teacher_finished_are_refused(taught_recipe, tmp_path):
    files = write_corpus(tmp_path)
    recipe = replace(taught_recipe, data=(DataConfig(**files),))
    run = train_model(recipe, tmp_path / "model")
    list(takewhile(lambda event: not isinstance(event, Finished), run))
    run.close()
    source = Path(files["source"])
    source.write_text(source.read_text().replace("a", "b"))

    with pytest.raises(ModelFolderError, match=r"made from other files: train\.low is not what"):
        list(train_model(recipe, tmp_path / "model"))


def test_teachers_that_are_no_longer_needed_may_go(taught_recipe, tmp_path):
    run = train_model(taught_recipe, tmp_path / "model")
    list(takewhile(lambda event: event != Lesson(about="model"), run))
    next(event for event in run if isinstance(event, Validation))
    run.close()
    shutil.rmtree(tmp_path / "model" / "training" / "teachers")

    first, *_, finished = train_model(taught_recipe, tmp_path / "model")

    assert first == Lesson(about="model")
    assert isinstance(finished, Finished)


def test_a_corpus_prepared_without_teachers_is_prepared_again(taught_recipe, tmp_path):
    alone = replace(taught_recipe, training=replace(taught_recipe.training, teachers=0.0))
    run = train_model(alone, tmp_path / "model")
    next(run)
    run.close()
    (tmp_path / "model" / "recipe.toml").unlink()  # as when memory did not suffice

    *_, finished = train_model(taught_recipe, tmp_path / "model")

    assert PreparedCorpus(finished.folder.corpus).is_taught


def test_a_corpus_that_is_refused_leaves_nothing_behind(taught_recipe, tmp_path):
    missing = replace(taught_recipe, data=(DataConfig(source=str(tmp_path / "missing.tsv")),))

    with pytest.raises(CorpusError, match=r"missing\.tsv"):
        list(train_model(missing, tmp_path / "model"))

    assert not (tmp_path / "model").exists()


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
    monkeypatch.setattr(files, "CHUNK", 4)
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
    run.close()
    (tmp_path / "other.toml").write_text(f"{TINY_RECIPE}teachers = 0.8\n")
    data = {"source": taught_recipe.data[0].source, "target": taught_recipe.data[0].target}
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
