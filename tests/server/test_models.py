import shutil

import pytest

from heedful.errors import ConfigError
from heedful.server.models import Model, Models, load_models
from heedful.storage.languages import Direction
from heedful.text.language_table import Guess
from heedful.translation.options import Options
from heedful.translation.translator import Translator


@pytest.fixture
def two(translator):
    return Models(
        [
            Model("first", translator, (Direction("en", "de"), Direction("en", "fr"))),
            Model("second", translator, (Direction("de", "en"), Direction("en", "de"))),
        ]
    )


def test_the_first_model_of_a_direction_is_taken_unless_another_is_named(two):
    assert two.way("en", "de").model.name == "first"
    assert two.way("en", "de", "second").model.name == "second"
    assert two.way("fr", "de") is None
    assert two.sources == ["en", "de"]
    assert two.targets_of("en") == ["de", "fr"]


def test_names_are_there_once(translator):
    with pytest.raises(ConfigError, match="two models are named 'a'"):
        Models([Model("a", translator, ()), Model("a", translator, ())])
    with pytest.raises(ConfigError, match="no model is given"):
        Models([])


def test_a_folder_says_its_languages_or_is_told_them(model_folder, tmp_path):
    shutil.copytree(model_folder.path, tmp_path / "x")

    assert load_models([tmp_path / "x"]).ways[0].direction == Direction("und", "und")
    told = load_models([tmp_path / "x"], from_language="en", to_language="fr")
    assert told.ways[0].direction == Direction("en", "fr")
    assert told.all["x"].folder.path == tmp_path / "x"
    with pytest.raises(ConfigError, match="--from and --to are for one model"):
        load_models([tmp_path / "x", model_folder.path], from_language="en")


def test_only_a_model_of_several_languages_is_told_of_them(translator):
    ways = (Direction("en", "de"), Direction("de", "en"))
    several = Translator(translator.tokenizer, translator.engine, languages=ways)

    assert Model("a", translator, ()).options(ways[0], beam_size=2) == Options(beam_size=2)
    assert Model("a", several, ()).options(ways[0]) == Options(from_language="en", to_language="de")


def test_of_all_that_is_guessed_the_likeliest_comes_first(translator):
    class Guessing(Translator):
        def guess(self, text):
            return [Guess("fr", 0.9), Guess("de", 0.2), Guess("xx", 1.0)]

    ways = (Direction("fr", "de"), Direction("de", "fr"))
    guessing = Guessing(translator.tokenizer, translator.engine, languages=ways)
    models = Models([Model("a", guessing, ways), Model("b", guessing, (Direction("en", "de"),))])

    assert models.guess("text") == [("fr", 0.9), ("de", 0.2)]


def test_a_model_of_one_language_takes_all_text_for_that(models):
    assert models.guess("text") == [("en", 1.0)]
