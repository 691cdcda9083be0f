import math
from itertools import count, islice, takewhile
from pathlib import Path

import pytest
import torch

import heedful
from heedful.errors import ConfigError, CorpusError, ModelFolderError, StorageError
from heedful.runs.budget import Stopwatch
from heedful.runs.events import Examples, Finished, Prepared, Started, Validation
from heedful.runs.recipe import load_recipe
from heedful.runs.train import train_model
from heedful.storage.checkpoint import Checkpoints, load_model
from heedful.storage.outputs import mark
from heedful.training.averaging import running_means
from heedful.training.step import Step


def test_a_run_is_told_as_a_sequence_of_events(corpus, recipe_file, tmp_path):
    events = list(train_model(load_recipe(recipe_file, **corpus), tmp_path / "model"))

    assert [type(event) for event in events] == [
        Prepared, Started, *[Step, Step, Validation, Examples] * 3, Finished,
    ]  # fmt: skip
    assert [event.number for event in events if isinstance(event, Step)] == [1, 2, 3, 4, 5, 6]
    for *steps, validation in (events[at : at + 3] for at in (2, 6, 10)):  # of these alone
        num_pieces = sum(step.num_pieces for step in steps)
        surprise = sum(step.num_pieces * math.log(step.perplexity) for step in steps)
        assert validation.train_loss == pytest.approx(surprise / num_pieces)
        seconds = sum(step.seconds for step in steps)
        assert validation.pieces_per_second == pytest.approx(num_pieces / seconds)


def test_a_finished_folder_holds_all_that_its_readers_need(model_folder):
    assert {path.name for path in model_folder.path.iterdir()} == {
        "config.json",
        "model.safetensors",
        "tokenizer.model",
        "recipe.toml",
        "provenance.json",
        "README.md",
        "curves.csv",
        "curves.svg",
        "alignment.json",
        "checksums.json",
        "habits.json",
        "ctranslate2",
        "training",
    }


def test_provenance_names_data_versions_seed_and_scores_with_signatures(model_folder):
    provenance = model_folder.provenance()

    assert [file.name for file in provenance.data.files] == ["train.low", "train.up"]
    assert all(len(file.sha256) == 64 for file in provenance.data.files)
    assert provenance.versions.heedful == heedful.__version__
    assert (provenance.training.steps, provenance.training.seed) == (6, 2017)
    assert [score.name for score in provenance.scores] == ["BLEU", "chrF2", "TER", "exact match"]
    assert all(score.signature for score in provenance.scores)
    assert str(model_folder.path) not in model_folder.provenance_file.read_text()


@pytest.mark.parametrize(("losses", "num_averaged"), [([5.0, 4.0], 2), ([4.0, 5.0], 1)])
def test_the_model_is_the_mean_of_as_many_of_the_last_checkpoints_as_validate_best(
    corpus, recipe_file, tmp_path, monkeypatch, losses, num_averaged
):
    told = iter([3.0, 2.0, 1.0, *losses])  # at steps 2, 4 and 6, and of the two means
    monkeypatch.setattr("heedful.runs.validate.validation_loss", lambda *_: next(told))

    *_, finished = train_model(load_recipe(recipe_file, **corpus), tmp_path / "model")

    checkpoints = list(Checkpoints(finished.folder.training / "checkpoints", keep=3))
    assert [checkpoint.step for checkpoint in checkpoints] == [2, 4, 6]  # one to spare
    newest_first = (checkpoint.read().weights() for checkpoint in reversed(checkpoints))
    *_, mean = islice(running_means(newest_first), num_averaged)
    assert finished.num_averaged == num_averaged
    for name, tensor in load_model(finished.folder).state_dict().items():
        assert torch.equal(tensor, mean[name])


@pytest.mark.slow
def test_an_interrupted_run_goes_on_and_ends_with_the_same_weights(
    corpus, recipe_file, tmp_path, model_folder
):
    recipe = load_recipe(recipe_file, **corpus)
    interrupted = train_model(recipe, tmp_path / "model")
    before = list(
        takewhile(lambda event: not isinstance(event, Step) or event.number < 5, interrupted)
    )
    interrupted.close()

    events = list(train_model(recipe, tmp_path / "model"))

    (started,) = [event for event in events if isinstance(event, Started)]
    assert started.step == 4
    assert started.validations == tuple(e for e in before if isinstance(e, Validation))
    ours, whole = load_model(events[-1].folder), load_model(model_folder)
    for one, other in zip(ours.parameters(), whole.parameters(), strict=True):
        assert torch.equal(one, other)


@pytest.mark.slow
def test_what_validates_no_better_than_before_is_not_the_best_and_one_checkpoint_is_spare(
    corpus, recipe_file, tmp_path, monkeypatch
):
    (tmp_path / "impatient.toml").write_text(f"{Path(recipe_file).read_text()}patience = 0\n")
    losses = iter([3.0, 3.0, 2.0, 2.0, 2.0])  # at steps 2, 4 and 6, and of the two means
    monkeypatch.setattr("heedful.runs.validate.validation_loss", lambda *_: next(losses))

    events = list(
        train_model(load_recipe(str(tmp_path / "impatient.toml"), **corpus), tmp_path / "model")
    )

    validations = [event for event in events if isinstance(event, Validation)]
    assert [validation.is_best for validation in validations] == [True, False, True]
    assert events[-1].num_averaged == 1  # the mean of two is no better
    kept = Checkpoints(events[-1].folder.training / "checkpoints", keep=9)
    assert [checkpoint.step for checkpoint in kept] == [2, 4, 6]  # two for the mean, one to spare


@pytest.mark.slow
def test_the_time_of_a_run_that_goes_on_is_counted_on(corpus, recipe_file, tmp_path):
    recipe, out = load_recipe(recipe_file, **corpus), tmp_path / "model"

    def run():
        ticks = count()  # a clock that goes on by one whenever it is looked at
        return train_model(recipe, out, stopwatch=Stopwatch(lambda: float(next(ticks))))

    validated = [e for e in islice(run(), 10) if isinstance(e, Validation)]

    started = next(event for event in run() if isinstance(event, Started))

    assert started.validations == tuple(validated)
    assert started.seconds > validated[-1].seconds > validated[0].seconds > 0


@pytest.mark.slow
def test_training_stops_early_when_validation_gets_no_better(corpus, tmp_path):
    path = tmp_path / "hot.toml"
    path.write_text(
        "[tokenizer]\nvocab_size = 320\n"
        "[model]\nnum_layers = 1\nd_model = 16\nd_ff = 16\nnum_heads = 2\n"
        "[training]\nsteps = 40\nbatch_tokens = 256\nwarmup_steps = 1\npeak_rate = 0.1\n"
        "validate_every = 1\npatience = 2\n"
    )

    events = list(train_model(load_recipe(str(path), **corpus), tmp_path / "model"))

    validations = [event for event in events if isinstance(event, Validation)]
    assert events[-1].stopped_early
    assert len(validations) < 40
    assert [v.is_best for v in validations[-3:]] == [True, False, False]


@pytest.mark.slow
def test_stopping_early_keeps_the_best_and_not_what_came_after(corpus, tmp_path):
    path = tmp_path / "hot.toml"
    path.write_text(
        "[tokenizer]\nvocab_size = 320\n"
        "[model]\nnum_layers = 1\nd_model = 16\nd_ff = 16\nnum_heads = 2\n"
        "[training]\nsteps = 40\nbatch_tokens = 256\nwarmup_steps = 1\npeak_rate = 0.1\n"
        "validate_every = 1\npatience = 2\naverage_last = 1\n"
    )

    events = list(train_model(load_recipe(str(path), **corpus), tmp_path / "model"))

    best = max(e.step for e in events if isinstance(e, Validation) and e.is_best)
    saved = Checkpoints(tmp_path / "model" / "training" / "checkpoints", keep=9).at(best).read()
    for name, tensor in load_model(events[-1].folder).state_dict().items():
        assert torch.equal(tensor, saved.weights()[name])


@pytest.mark.skipif(torch.cuda.is_available(), reason="says what happens on a CPU")
def test_bfloat16_is_refused_before_anything_is_done_where_there_is_none(corpus, tmp_path):
    path = tmp_path / "half.toml"
    path.write_text('[training]\nprecision = "bfloat16"\n')

    with pytest.raises(
        ConfigError,
        match=r'precision = "bfloat16" needs a GPU that has it, and this device is a cpu; choose',
    ):
        next(train_model(load_recipe(str(path), **corpus), tmp_path / "model"))

    assert not (tmp_path / "model").exists()


def test_a_damaged_recipe_in_the_folder_is_named(corpus, recipe_file, tmp_path):
    recipe = load_recipe(recipe_file, **corpus)
    next(train_model(recipe, tmp_path / "model"))
    (tmp_path / "model" / "recipe.toml").write_text("garbage[")

    with pytest.raises(ModelFolderError, match=r"recipe\.toml: damaged, .*; choose another folder"):
        next(train_model(recipe, tmp_path / "model"))


def test_a_folder_that_cannot_be_made_is_named(corpus, recipe_file, tmp_path):
    out = tmp_path / "train.low" / "model"

    with pytest.raises(
        StorageError, match=r"model: cannot be made, Not a directory; choose another folder"
    ):
        next(train_model(load_recipe(recipe_file, **corpus), out))


def test_a_finished_model_is_not_trained_over(model_folder, corpus, recipe_file):
    recipe = load_recipe(recipe_file, **corpus)

    with pytest.raises(ModelFolderError, match=r"already holds a finished model; choose another"):
        next(train_model(recipe, model_folder.path))


def test_another_recipe_for_a_started_run_is_refused_naming_the_difference(
    corpus, recipe_file, tmp_path
):
    recipe = load_recipe(recipe_file, **corpus)
    next(train_model(recipe, tmp_path / "model"))
    other = tmp_path / "other.toml"
    other.write_text((tmp_path / "recipe.toml").read_text().replace("steps = 6", "steps = 7"))

    with pytest.raises(ConfigError, match=r"holds a run with \[training\] steps = 6, now it is 7"):
        next(train_model(load_recipe(str(other), **corpus), tmp_path / "model"))


def test_a_run_killed_while_it_wrote_its_recipe_goes_on(corpus, recipe_file, tmp_path):
    (tmp_path / "model" / "training").mkdir(parents=True)
    mark(tmp_path / "model" / "training")
    (tmp_path / "model" / "recipe.toml.partial").write_text("[data]\nsour")

    event = next(train_model(load_recipe(recipe_file, **corpus), tmp_path / "model"))

    assert isinstance(event, Prepared)
    assert not (tmp_path / "model" / "recipe.toml.partial").exists()


def test_a_folder_with_other_things_in_it_is_left_alone(corpus, recipe_file, tmp_path):
    (tmp_path / "photos").mkdir()
    (tmp_path / "photos" / "cat.png").write_bytes(b"meow")

    with pytest.raises(ModelFolderError, match=r"photos exists and is not a model folder"):
        next(train_model(load_recipe(recipe_file, **corpus), tmp_path / "photos"))


def test_a_refused_corpus_leaves_no_folder(corpus, recipe_file, tmp_path):
    with (tmp_path / "train.up").open("a") as file:
        file.write("one more\n")

    with pytest.raises(CorpusError, match="not parallel"):
        next(train_model(load_recipe(recipe_file, **corpus), tmp_path / "model"))

    assert not (tmp_path / "model").exists()


def test_sentences_longer_than_learned_positions_are_refused_before_the_first_step(
    corpus, recipe_file, tmp_path
):
    recipe = Path(recipe_file)
    recipe.write_text(
        recipe.read_text().replace("[model]", '[model]\npositions = "learned"\nmax_length = 5')
    )

    with pytest.raises(ConfigError, match=r"max_length = 5 is too few learned positions for sente"):
        next(train_model(load_recipe(recipe_file, **corpus), tmp_path / "model"))

    recipe.write_text(recipe.read_text().replace("max_length = 5", "max_length = 50"))
    *_, finished = train_model(load_recipe(recipe_file, **corpus), tmp_path / "model")
    assert isinstance(finished, Finished)  # so the advice can be followed in the same folder


def test_a_folder_that_cannot_be_read_is_told_in_a_line(corpus, recipe_file, tmp_path):
    with pytest.raises(StorageError, match=r"cannot be read, File name too long; choose another"):
        next(train_model(load_recipe(recipe_file, **corpus), tmp_path / ("x" * 300)))


def test_of_two_runs_in_a_folder_the_second_is_refused(corpus, recipe_file, tmp_path):
    recipe = load_recipe(recipe_file, **corpus)
    run = train_model(recipe, tmp_path / "model")
    next(run)

    with pytest.raises(ModelFolderError, match=r"model: another program is training here; wait fo"):
        next(train_model(recipe, tmp_path / "model"))

    run.close()
    assert isinstance(next(train_model(recipe, tmp_path / "model")), Prepared)
