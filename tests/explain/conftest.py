"""A model that is told which language to write."""

import pytest

from heedful.runs.recipe import load_recipe
from heedful.runs.train import train_model
from heedful.storage.folder import ModelFolder
from tests.conftest import TINY_RECIPE
from tests.translation.test_languages import CORPORA, in_xa, in_xb, sentences


@pytest.fixture(scope="session")
def several(tmp_path_factory) -> ModelFolder:
    """It knows its languages, and says nothing sensible in them."""
    place = tmp_path_factory.mktemp("several")
    texts = sentences(120)
    (place / "caps.tsv").write_text("".join(f"{in_xa(text)}\t{text}\n" for text in texts))
    (place / "tail.tsv").write_text("".join(f"{text}\t{in_xb(text)}\n" for text in texts))
    (place / "mine.toml").write_text(CORPORA + TINY_RECIPE)
    *_, finished = train_model(load_recipe(place / "mine.toml", folder=place), place / "model")
    return finished.folder
