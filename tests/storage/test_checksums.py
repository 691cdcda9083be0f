import json
import os
import shutil
from pathlib import Path

import pytest

import heedful
from heedful.__main__ import main
from heedful.errors import ModelFolderError
from heedful.runs.recipe import load_recipe
from heedful.runs.train import train_model
from heedful.storage.folder import ModelFolder
from tests.conftest import TINY_RECIPE, write_corpus


@pytest.fixture(scope="module")
def other(tmp_path_factory) -> ModelFolder:
    """A model like that of the other tests, with weights of its own."""
    folder = tmp_path_factory.mktemp("other")
    (folder / "recipe.toml").write_text(f"{TINY_RECIPE}seed = 5\n")
    recipe = load_recipe(str(folder / "recipe.toml"), **write_corpus(folder, num_pairs=90))
    *_, finished = train_model(recipe, folder / "model")
    return finished.folder


@pytest.fixture
def copied(model_folder, tmp_path) -> ModelFolder:
    path = shutil.copytree(model_folder.path, tmp_path / "copied")
    return ModelFolder(Path(path))


@pytest.mark.parametrize(
    ("name", "engine"),
    [
        ("ctranslate2/model.bin", None),
        ("ctranslate2/vmap.txt", None),
        ("tokenizer.model", None),
        ("alignment.json", None),
        ("model.safetensors", "pytorch"),
    ],
)
def test_a_file_of_another_model_is_refused(copied, other, name, engine):
    shutil.copy(other.path / name, copied.path / name)

    with pytest.raises(ModelFolderError, match=f"{name} is not the file that was made with"):
        heedful.load(copied.path, engine)


def test_a_file_that_an_engine_does_not_read_does_not_matter_to_it(copied, other):
    shutil.copy(other.weights_file, copied.weights_file)

    assert heedful.load(copied.path).translate("a b").text


def test_what_translating_does_not_need_may_go(copied):
    copied.weights_file.unlink()

    assert heedful.load(copied.path).translate("a b").text


def test_a_folder_that_is_exported_anew_belongs_together(copied, monkeypatch):
    shutil.rmtree(copied.training)
    monkeypatch.setattr("sys.argv", ["heedful", "export", str(copied.path)])

    main()

    assert heedful.load(copied.path).translate("a b").text


def test_an_export_of_weights_of_another_model_is_refused(copied, other, monkeypatch, capsys):
    shutil.copy(other.weights_file, copied.weights_file)
    monkeypatch.setattr("sys.argv", ["heedful", "export", str(copied.path)])

    with pytest.raises(SystemExit) as ended:
        main()

    assert ended.value.code == 2
    assert "model.safetensors is not the file that was made with" in capsys.readouterr().err


@pytest.mark.parametrize("content", ["null", "[1, 2]", "{}", "[[[[", '["a"]'])
def test_a_vocabulary_that_is_none_is_refused(copied, content):
    copied.checksums_file.unlink()
    (copied.ctranslate2 / "shared_vocabulary.json").write_text(content)

    with pytest.raises(ModelFolderError, match=r"ctranslate2: damaged, .*; make it again with"):
        heedful.load(copied.path)


@pytest.mark.parametrize("content", ["", "\n", "a\n", "\ta b"])
def test_a_shortlist_that_is_none_is_refused_before_it_is_read(copied, content):
    copied.checksums_file.unlink()
    copied.shortlist_file.write_text(content)

    with pytest.raises(ModelFolderError, match=r"damaged, vmap\.txt is no shortlist; make it agai"):
        heedful.load(copied.path)


@pytest.mark.parametrize("name", ["model.bin", "config.json", "shared_vocabulary.json", "vmap.txt"])
@pytest.mark.timeout(20)
def test_a_device_or_a_pipe_in_an_export_is_not_read(copied, name):
    path = copied.ctranslate2 / name
    path.unlink()

    path.symlink_to("/dev/zero")
    with pytest.raises(ModelFolderError, match=rf"{name} is no file; train or copy it again"):
        heedful.load(copied.path)
    path.unlink()
    os.mkfifo(path)
    with pytest.raises(ModelFolderError, match=rf"{name} is no file; train or copy it again"):
        heedful.load(copied.path)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("decoder_start_token", None),
        ("decoder_start_token", "no piece"),
        ("add_source_eos", "x"),
        ("add_source_eos", False),
        ("unk_token", 1),
    ],
)
def test_an_export_that_says_otherwise_how_it_is_asked_is_refused(copied, name, value):
    copied.checksums_file.unlink()
    path = copied.ctranslate2 / "config.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {name: value}))

    with pytest.raises(ModelFolderError, match=r"config\.json.* again"):
        heedful.load(copied.path)


def test_weights_without_the_names_that_are_looked_for_are_refused(copied):
    copied.checksums_file.unlink()
    path = copied.ctranslate2 / "model.bin"
    path.write_bytes(path.read_bytes().replace(b"encoder/embeddings_0/weight", b"\xff" * 27))

    with pytest.raises(ModelFolderError, match=r"ctranslate2: damaged, .*; make it again with"):
        heedful.load(copied.path)
