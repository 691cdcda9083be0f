"""Going on from a model, by the command and by Python."""

import shutil
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from heedful import load
from heedful.data.batches import ordered_batches
from heedful.data.parent import checksum_of
from heedful.errors import ConfigError, ModelFolderError
from heedful.runs.events import Validation
from heedful.runs.recipe import load_recipe
from heedful.runs.train import train_model
from heedful.storage.checkpoint import load_model
from heedful.storage.folder import ModelFolder
from heedful.training.loss import validation_loss
from tests.conftest import TINY_RECIPE

NEW = [(f"g{'abc'[n % 3]} h{n}", f"G{'ABC'[n % 3]} H{n}") for n in range(60)]


@pytest.fixture
def new_pairs(tmp_path) -> Path:
    path = tmp_path / "new.tsv"
    path.write_text("".join(f"{source}\t{target}\n" for source, target in NEW))
    return path


@pytest.fixture
def recipe(new_pairs, tmp_path, model_folder):
    (tmp_path / "mine.toml").write_text(TINY_RECIPE)
    recipe = load_recipe(tmp_path / "mine.toml", source=new_pairs)
    return recipe.going_on_from(model_folder.path)


def without_text(folder: ModelFolder, into: Path) -> ModelFolder:
    """Copy a model as one gives it away."""
    shutil.copytree(folder.path, into, ignore=shutil.ignore_patterns("training"))
    return ModelFolder(into)


def sides(path: Path) -> set[tuple[str, ...]]:
    return {tuple(line.split("\t")) for line in path.read_text().splitlines()}


def test_vocabulary_and_sizes_stay_and_the_rate_is_a_tenth(recipe, model_folder, tmp_path):
    default = load_recipe(tmp_path / "mine.toml", source="any.tsv").training

    *_, finished = train_model(recipe, tmp_path / "model")

    assert finished.folder.config() == model_folder.config()
    assert finished.folder.tokenizer().model == model_folder.tokenizer().model
    assert recipe.training.peak_rate == pytest.approx(default.peak_rate / 10)
    assert recipe.training.schedule == "linear"


def test_it_begins_with_the_weights_of_that_model(recipe, model_folder, tmp_path):
    hardly = replace(recipe, training=replace(recipe.training, peak_rate=1e-9))

    events = train_model(hardly, tmp_path / "model")
    corpus = next(events).corpus
    first = next(event for event in events if isinstance(event, Validation))

    batches = ordered_batches(corpus.valid, batch_tokens=recipe.training.batch_tokens)
    known = validation_loss(load_model(model_folder), batches)
    assert first.loss == pytest.approx(known, abs=1e-5)


def test_half_of_the_pairs_are_old_ones_that_were_trained_on(recipe, model_folder, tmp_path):
    *_, finished = train_model(recipe, tmp_path / "model")

    known = sides(model_folder.corpus / "train.tsv")
    trained = [
        tuple(line.split("\t"))
        for line in (finished.folder.corpus / "train.tsv").read_text().splitlines()
    ]
    new = [pair for pair in trained if pair in {*NEW}]
    old = [pair for pair in trained if pair in known]
    assert len(new) + len(old) == len(trained)
    assert len(old) == len(new) > 50


def test_where_the_old_text_is_gone_it_learns_what_the_model_makes_of_the_new(
    model_folder, new_pairs, tmp_path
):
    given = without_text(model_folder, tmp_path / "given")
    (tmp_path / "mine.toml").write_text(TINY_RECIPE)
    recipe = load_recipe(tmp_path / "mine.toml", source=new_pairs).going_on_from(given.path, 0.25)

    *_, finished = train_model(recipe, tmp_path / "model")

    translator = load(given.path)
    old = sides(finished.folder.old_file(checksum_of(given), 0.25))
    assert len(old) == 19  # a third of 57, so that it is a quarter of all
    assert all(translator.translate(source).text == target for source, target in old)


def test_scores_before_and_after_are_told_and_the_card_names_the_model(
    recipe, model_folder, tmp_path
):
    *_, finished = train_model(recipe, tmp_path / "model")

    names = [score.name for score in finished.folder.provenance().scores]
    assert names[0] == "BLEU"
    assert names[-3:] == ["BLEU before", "BLEU old pairs", "BLEU before old pairs"]
    assert all(score.signature for score in finished.folder.provenance().scores)
    assert checksum_of(model_folder) in finished.folder.card_file.read_text()


def test_a_run_that_stops_goes_on_to_the_same_weights(recipe, tmp_path):
    *_, whole = train_model(recipe, tmp_path / "whole")
    begun = train_model(recipe, tmp_path / "halves")
    for event in begun:
        if isinstance(event, Validation) and event.step == 4:
            begun.close()
            break

    *_, finished = train_model(recipe, tmp_path / "halves")

    ours, theirs = (load_model(it.folder).state_dict() for it in (whole, finished))
    assert all(torch.equal(ours[name], theirs[name]) for name in ours)


def test_a_run_does_not_go_on_from_a_model_that_has_changed(recipe, model_folder, tmp_path):
    given = without_text(model_folder, tmp_path / "given")
    recipe = load_recipe(tmp_path / "mine.toml", source=tmp_path / "new.tsv")
    recipe = recipe.going_on_from(given.path, 0.0)
    begun = train_model(recipe, tmp_path / "model")
    next(begun)
    begun.close()
    given.weights_file.write_bytes(given.weights_file.read_bytes()[:-1] + b"\1")

    with pytest.raises(ModelFolderError, match=r"given is not the model that the run in .* began"):
        next(train_model(recipe, tmp_path / "model"))


def test_sizes_beside_a_model_to_go_on_from_are_its_own(model_folder, new_pairs, tmp_path):
    text = TINY_RECIPE.replace("d_ff = 32", "d_ff = 64")
    (tmp_path / "mine.toml").write_text(f'{text}[start]\nmodel = "{model_folder.path}"\n')

    with pytest.raises(ConfigError, match=r"\[start\]: the sizes are not those of .* give --from"):
        load_recipe(tmp_path / "mine.toml", source=new_pairs)


@pytest.mark.parametrize("languages", [{"from_language": "en", "to_language": "fr"}, {}])
def test_a_model_that_does_not_say_its_languages_takes_any(
    languages, new_pairs, model_folder, tmp_path
):
    (tmp_path / "mine.toml").write_text(TINY_RECIPE)
    recipe = load_recipe(tmp_path / "mine.toml", source=new_pairs, **languages)

    prepared = next(train_model(recipe.going_on_from(model_folder.path), tmp_path / "model"))

    assert prepared.vocab_size == model_folder.tokenizer().vocab_size


def test_weights_that_were_left_out_are_asked_for(model_folder, new_pairs, tmp_path):
    given = without_text(model_folder, tmp_path / "given")
    given.weights_file.unlink()
    recipe = load_recipe(source=new_pairs).going_on_from(given.path)

    with pytest.raises(ModelFolderError, match=r"has no model\.safetensors, which going on needs"):
        next(train_model(recipe, tmp_path / "model"))


def test_a_share_of_old_pairs_is_less_than_all(model_folder, new_pairs):
    with pytest.raises(ConfigError, match=r"mix must be from 0 to less than 1, got 1"):
        load_recipe(source=new_pairs).going_on_from(model_folder.path, 1)
