import pytest

from heedful.errors import ConfigError
from heedful.storage.languages import UNSTATED, Direction
from heedful.text.language_table import Guess
from heedful.translation.options import Options
from heedful.translation.routes import Course, find_course, find_route, grouped

WAYS = [Direction(*way.split("-")) for way in ("en-fr", "fr-en", "en-de", "de-en", "es-en")]


def route(from_language: str, to_language: str, ways=WAYS) -> list[str]:
    return list(map(str, find_route(ways, from_language, to_language)))


def test_a_way_that_was_learned_is_taken():
    assert route("fr", "en") == ["fr-en"]


def test_another_goes_through_a_third_language():
    assert route("fr", "de") == ["fr-en", "en-de"]
    assert route("es", "fr") == ["es-en", "en-fr"]


def test_a_language_that_is_not_known_is_taken_as_any():
    assert route("", "de") == ["en-de"]


def test_a_model_of_one_direction_needs_no_wish():
    assert find_route([UNSTATED], "", "") == (UNSTATED,)
    assert find_route([UNSTATED], "en", "fr") == (UNSTATED,)
    assert route("", "", WAYS[:1]) == ["en-fr"]


def test_an_open_wish_is_told_what_there_is():
    with pytest.raises(ConfigError, match=r"to which language\? Give one \(--to\) of: de, en, fr"):
        route("en", "")


def test_a_language_that_is_not_there_is_named():
    with pytest.raises(ConfigError, match=r"does not translate to 'es'; known names: de, en, fr"):
        route("en", "es")
    with pytest.raises(ConfigError, match=r"does not translate from 'it'"):
        route("it", "en")


def test_no_way_is_an_error():
    apart = [Direction("en", "fr"), Direction("it", "es")]
    with pytest.raises(ConfigError, match=r"no way from en to es; this model has: en-fr, it-es"):
        route("en", "es", apart)


def test_items_are_worked_on_in_groups_and_come_back_in_order():
    asked = []

    def each(key, items):
        asked.append(items)
        return [item * 10 for item in items]

    assert grouped([5, 2, 3, 4], by=lambda item: item % 2, each=each) == [50, 20, 30, 40]
    assert asked == [[5, 3], [2, 4]]


def test_a_guess_without_a_way_gives_place_to_one_that_has_one():
    one_way = [Direction("en", "xb"), Direction("en", "xc")]

    def guess(text):
        return [Guess("xc", 0.9), Guess("en", 0.1)] if text == "both" else [Guess("xc", 1.0)]

    asked = Options(to_language="xb")
    assert find_course("both", one_way, asked, guess) == Course((one_way[0],))
    assert find_course("strange", one_way, asked, guess) == Course((one_way[0],), "language")


def test_nothing_goes_round_to_its_own_language():
    with pytest.raises(ConfigError, match=r"no way from en to en; this model has: en-fr, fr-en"):
        route("en", "en", WAYS[:2])
