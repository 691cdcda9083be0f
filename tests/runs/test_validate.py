from dataclasses import replace

import pytest

from heedful.data.prepare import PreparedCorpus
from heedful.decoding.hypothesis import SearchConfig
from heedful.runs.recipe import load_recipe
from heedful.runs.validate import Validator
from heedful.storage.checkpoint import load_model


@pytest.fixture
def validator(model_folder) -> Validator:
    recipe = load_recipe(str(model_folder.recipe_file))
    recipe = replace(
        recipe,
        search=SearchConfig(beam_size=3),
        training=replace(recipe.training, average_last=4),
    )
    return Validator(load_model(model_folder), PreparedCorpus(model_folder.corpus), recipe)


def test_the_end_takes_a_validation_its_means_and_a_beam_for_all_pairs(validator):
    """Of 10 seconds 6 are for searching 200 of 500 pairs: 10, 4 times 4, and 3 * 0.5 * 6 * 2.5."""
    validator.pairs = [("a", "A")] * 500

    ending = validator.ending_seconds(validating=10.0, searching=6.0, length_ratio=0.5)

    assert ending == pytest.approx(10 + 4 * 4 + 3 * 0.5 * 6 * 2.5)


def test_output_that_is_too_long_now_will_take_less_time_at_the_end(validator):
    validator.pairs = [("a", "A")] * 100  # all of which were searched

    ending = validator.ending_seconds(validating=10.0, searching=6.0, length_ratio=4.0)

    assert ending == pytest.approx(10 + 4 * 4 + 3 * 0.5 * 6 / 4)


def test_translations_are_compared_with_their_references(validator, monkeypatch):
    validator.pairs = [("a b", "A B C D E"), ("c", "C D E F G"), ("a b", "A B C D E")]
    monkeypatch.setattr(
        validator.translator,
        "translate_as_found",
        lambda sources, beam_size: {1: ["A B C D E", "C D", "C D"]}[beam_size],
    )

    found = validator.search()

    assert (found.num_distinct, found.num_distinct_references) == (2, 2)
    assert found.length_ratio == pytest.approx((9 + 3 + 3) / 27)
    assert 0 < found.bleu.value < 100
