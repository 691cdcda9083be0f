import json
import os
from pathlib import Path

import pytest

from heedful.data.prepare import PreparedCorpus
from heedful.errors import ConfigError, CorpusError, HeedfulError, ModelFolderError
from heedful.runs.events import Prepared
from heedful.runs.recipe import load_recipe
from heedful.runs.train import train_model
from heedful.storage.folder import ModelFolder
from tests.conftest import write_corpus
from tests.foreign import snapshot


@pytest.fixture
def begun(corpus, recipe_file, tmp_path) -> ModelFolder:
    """A run that has prepared its corpus and then ended."""
    next(train_model(load_recipe(recipe_file, **corpus), tmp_path / "model"))
    return ModelFolder(tmp_path / "model")


def test_a_corpus_in_the_folder_to_write_is_refused_and_stays(recipe_file, tmp_path):
    folder = tmp_path / "proj" / "training" / "corpus"
    folder.mkdir(parents=True)
    recipe = load_recipe(recipe_file, **write_corpus(folder))
    before = snapshot(tmp_path)

    with pytest.raises(ModelFolderError, match="proj exists and is not a model folder; choose a n"):
        next(train_model(recipe, tmp_path / "proj"))

    assert snapshot(tmp_path) == before


def test_what_is_trained_on_may_not_lie_in_a_folder_of_ours_either(begun, recipe_file, tmp_path):
    recipe = load_recipe(recipe_file, source=str(begun.corpus / "train.tsv"))
    (tmp_path / "link").symlink_to(begun.path)
    before = snapshot(tmp_path)

    for out in begun.path, tmp_path / "link":
        with pytest.raises(HeedfulError, match=r"train\.tsv lies in .*, which is to be written"):
            next(train_model(recipe, out))

    assert snapshot(tmp_path) == before


FOREIGN = [
    "training/corpus/x",
    "training/corpus/corpus.json",
    "training/corpus.partial/x",
    "training/corpus.partial",
    "training/checkpoints/step-1000.safetensors",
    "training/checkpoints/x.partial",
    "training/diagnoses.jsonl",
    "training/heedful.txt",
    "recipe.toml",
    "recipe.toml.partial",
    "README.md",
    "model.safetensors",
]


@pytest.mark.parametrize("name", FOREIGN)
def test_a_folder_that_is_not_ours_is_refused_and_stays(corpus, recipe_file, tmp_path, name):
    path = tmp_path / "model" / name
    path.parent.mkdir(parents=True)
    path.write_text("precious")
    before = snapshot(tmp_path)

    with pytest.raises(ModelFolderError, match="model exists and is not a model folder; choose a "):
        next(train_model(load_recipe(recipe_file, **corpus), tmp_path / "model"))

    assert snapshot(tmp_path) == before


@pytest.mark.parametrize("content", ["precious", "[]", '"x"', "[" * 100_000, '{"name": 1}', "\xff"])
def test_diagnoses_of_somebody_else_are_refused_at_once_and_stay(
    begun, corpus, recipe_file, content
):
    begun.diagnoses_file.write_bytes(content.encode("latin-1"))

    with pytest.raises(
        ModelFolderError, match=r"diagnoses\.jsonl was not made by heedful and is i"
    ):
        next(train_model(load_recipe(recipe_file, **corpus), begun.path))

    assert begun.diagnoses_file.read_bytes() == content.encode("latin-1")


def test_a_readme_of_ones_own_in_a_run_that_goes_on_is_refused_and_stays(
    begun, corpus, recipe_file
):
    begun.card_file.write_text("my notes")

    with pytest.raises(ModelFolderError, match=r"README\.md was not made by heedful and is in the"):
        next(train_model(load_recipe(recipe_file, **corpus), begun.path))

    assert begun.card_file.read_text() == "my notes"


@pytest.mark.parametrize("name", ["corpus/mine", "corpus.partial/mine"])
def test_what_was_put_into_a_corpus_of_ours_is_not_deleted_with_it(
    begun, corpus, recipe_file, tmp_path, name
):
    begun.recipe_file.unlink()
    (begun.training / name).parent.mkdir(exist_ok=True)
    (begun.training / name).write_text("precious")
    other = tmp_path / "other.toml"
    other.write_text((tmp_path / "recipe.toml").read_text().replace("= 320", "= 330"))

    with pytest.raises(ModelFolderError, match=rf"{name} was not made by heedful and is in the wa"):
        next(train_model(load_recipe(str(other), **corpus), begun.path))

    assert (begun.training / name).read_text() == "precious"


def test_a_run_that_is_refused_leaves_nothing_and_one_that_began_stays(
    corpus, recipe_file, tmp_path
):
    recipe = load_recipe(recipe_file, **corpus)
    long = tmp_path / "long.toml"
    learned = 'positions = "learned"\nmax_length = 5\n'
    long.write_text(
        (tmp_path / "recipe.toml").read_text().replace("[model]\n", f"[model]\n{learned}")
    )
    with (tmp_path / "train.up").open("a") as file:
        file.write("one more\n")
    with pytest.raises(CorpusError):
        next(train_model(recipe, tmp_path / "model"))
    assert not (tmp_path / "model").exists()
    corpus = write_corpus(tmp_path)

    with pytest.raises(HeedfulError, match="too few learned positions"):
        next(train_model(load_recipe(str(long), **corpus), tmp_path / "model"))
    assert not (tmp_path / "model").exists()

    next(train_model(load_recipe(recipe_file, **corpus), tmp_path / "model"))
    assert json.loads((tmp_path / "model" / "training" / "corpus" / "corpus.json").read_text())


@pytest.mark.parametrize(
    ("section", "name", "before", "now"),
    [("cleaning", "max_ratio", "6.0", "9.0"), ("training", "accumulate", "1", "2")],
)
def test_a_run_goes_on_with_the_recipe_it_began_with_alone(
    begun, corpus, recipe_file, tmp_path, section, name, before, now
):
    text = Path(recipe_file).read_text()
    heading = f"[{section}]\n"
    text = text if heading in text else f"{text}\n{heading}"
    other = tmp_path / "other.toml"
    other.write_text(text.replace(heading, f"{heading}{name} = {now}\n"))

    with pytest.raises(
        ConfigError, match=rf"a run with \[{section}\] {name} = {before}, now it is {now}; go on"
    ):
        next(train_model(load_recipe(str(other), **corpus), begun.path))


@pytest.mark.parametrize(("more", "is_refused"), [(0, True), (1, False)])
def test_learned_positions_suffice_for_the_longest_sentence_and_its_end(
    corpus, recipe_file, tmp_path, model_folder, more, is_refused
):
    prepared = PreparedCorpus(model_folder.corpus)  # of the same text
    longest = max(prepared.train.lengths.max(), prepared.valid.lengths.max())
    learned = f'[model]\npositions = "learned"\nmax_length = {longest + more}\n'
    path = tmp_path / "learned.toml"
    path.write_text(Path(recipe_file).read_text().replace("[model]\n", learned))
    run = train_model(load_recipe(str(path), **corpus), tmp_path / "model")

    if is_refused:
        with pytest.raises(ConfigError, match=f"sentences of up to {longest + 1} pieces"):
            next(run)
    else:
        assert isinstance(next(run), Prepared)


@pytest.mark.parametrize("name", ["", "training"])
def test_a_run_that_was_killed_when_it_had_hardly_begun_goes_on(
    corpus, recipe_file, tmp_path, name
):
    (tmp_path / "model" / name).mkdir(parents=True)

    next(train_model(load_recipe(recipe_file, **corpus), tmp_path / "model"))

    assert set(os.listdir(tmp_path / "model" / "training")) == {"heedful.txt", "corpus"}
