from typing import get_type_hints

import pytest

from heedful.decoding.hypothesis import Sampling, SearchConfig
from heedful.errors import ConfigError
from heedful.translation.options import Changes, Options

USUAL_SEARCH = SearchConfig(beam_size=3, alpha=1.5)


def test_the_keywords_are_the_options():
    assert get_type_hints(Changes) == get_type_hints(Options)


def test_what_is_left_out_is_searched_as_is_usual():
    assert Options().search_config(USUAL_SEARCH) == USUAL_SEARCH
    asked = Options(beam_size=2, alpha=0.0, n_best=2).search_config(USUAL_SEARCH)
    assert asked == SearchConfig(beam_size=2, alpha=0.0, n_best=2)


def test_what_is_drawn_is_drawn_without_a_beam():
    assert Options(sampling=Sampling()).search_config(USUAL_SEARCH).beam_size == 1


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"beam_size": 2}, "no beam_size = 2; for another one"),
        ({"n_best": 2}, "no n_best = 2; for another one"),
        ({"beam_size": 4, "n_best": 3}, "no beam_size = 4 and no n_best = 3; for another one"),
    ],
)
def test_what_is_drawn_is_one_translation(changes, message):
    with pytest.raises(
        ConfigError, match=f"draws one translation, and takes {message}, draw again"
    ):
        Options(sampling=Sampling(), **changes)


def test_a_glossary_is_made_ready_once():
    options = Options(glossary={"dog": "Hund"})

    assert options.terms is options.terms
    assert [span.text for span in options.terms.find("a dog")] == ["Hund"]
