import shutil

import pytest

from heedful import load
from heedful.errors import ModelFolderError
from heedful.storage import shipped
from heedful.storage.shipped import model_and_texts, model_path, shipped_models


@pytest.fixture
def models(model_folder, tmp_path, monkeypatch):
    """A copy of heedful that comes with a model."""
    shutil.copytree(model_folder.path, tmp_path / "models" / "everyday")
    (tmp_path / "models" / "unfinished").mkdir()
    monkeypatch.setattr(shipped, "MODELS", tmp_path / "models")
    return tmp_path / "models"


@pytest.fixture
def no_models(tmp_path, monkeypatch):
    monkeypatch.setattr(shipped, "MODELS", tmp_path / "nothing")


def test_models_that_are_whole_are_known_by_name(models):
    assert list(shipped_models()) == ["everyday"]
    assert model_path() == model_path("everyday") == models / "everyday"


def test_without_a_folder_the_model_that_comes_along_is_loaded(models):
    assert load().translate("a b").text == load(models / "everyday").translate("a b").text


def test_a_folder_of_that_name_goes_before(models, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "everyday").mkdir()

    assert str(model_path("everyday")) == "everyday"


def test_a_copy_without_a_model_says_so(no_models):
    assert shipped_models() == {}
    with pytest.raises(ModelFolderError, match=r"no model comes with this copy of heedful; name"):
        load()


@pytest.mark.parametrize(
    ("words", "texts"),
    [
        ([], []),
        (["Hello"], ["Hello"]),
        (["I love you."], ["I love you."]),
        (["I love you.", "And you?"], ["I love you.", "And you?"]),
        (["everyday", "Hello"], ["Hello"]),
    ],
)
def test_words_that_name_no_model_are_texts_for_that_which_comes_along(models, words, texts):
    assert model_and_texts(words) == (models / "everyday", texts)


@pytest.mark.parametrize("words", [["model/"], ["some/model", "Hello"], ["modle", "Hello"]])
def test_a_word_that_can_only_be_a_model_is_one_there_or_not(models, words):
    folder, texts = model_and_texts(words)

    assert str(folder) == words[0].rstrip("/")
    assert texts == words[1:]


def test_a_folder_that_is_there_is_the_model(models, model_folder):
    assert model_and_texts([str(model_folder.path), "Hello"]) == (model_folder.path, ["Hello"])
