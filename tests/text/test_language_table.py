import json
from dataclasses import asdict, replace

import pytest

from heedful.errors import ConfigError
from heedful.storage.documents import read_whole_record
from heedful.text.language_table import LanguageTable, learn_languages

# Articles of the Universal Declaration of Human Rights, which are in the public domain.
ENGLISH = [
    "All human beings are born free and equal in dignity and rights.",
    "They are endowed with reason and conscience and should act towards one another in a spirit of "
    "brotherhood.",
    "Everyone has the right to life, liberty and the security of person.",
    "No one shall be held in slavery or servitude.",
    "Everyone has the right to recognition everywhere as a person before the law.",
]
FRENCH = [
    "Tous les êtres humains naissent libres et égaux en dignité et en droits.",
    "Ils sont doués de raison et de conscience et doivent agir les uns envers les autres dans un "
    "esprit de fraternité.",
    "Tout individu a droit à la vie, à la liberté et à la sûreté de sa personne.",
    "Nul ne sera tenu en esclavage ni en servitude.",
    "Chacun a le droit à la reconnaissance en tous lieux de sa personnalité juridique.",
]
POLISH = "Wszyscy ludzie rodzą się wolni i równi pod względem swej godności i swych praw."


@pytest.fixture(scope="module")
def table() -> LanguageTable:
    judged = [("en", text) for text in ENGLISH] + [("fr", text) for text in FRENCH]
    return learn_languages({"en": ENGLISH, "fr": FRENCH}, judged)


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("The right to liberty", "en"),
        ("le droit à la liberté", "fr"),
        ("LE DROIT À LA LIBERTÉ", "fr"),
        ("the law", "en"),
        ("Tous", "fr"),
        ("egaux en dignite", "fr"),
    ],
)
def test_a_language_is_told_by_its_letters(table, text, language):
    assert table.guess(text)[0].language == language


def test_probabilities_are_those_of_all_languages(table):
    (surely,) = table.guess(FRENCH[0])
    assert surely == ("fr", 1.0)
    unsure = table.guess("en")
    assert [guess.probability for guess in unsure] == sorted(
        (guess.probability for guess in unsure), reverse=True
    )
    assert sum(guess.probability for guess in unsure) == pytest.approx(1, abs=1e-3)


@pytest.mark.parametrize("text", ["", "123", "東京", "?!", POLISH])
def test_what_is_in_none_of_them_is_in_none(table, text):
    assert table.guess(text) == []


def test_sentences_like_those_that_were_judged_are_in_one(table):
    assert all(table.guess(text) for text in ENGLISH + FRENCH)


def test_a_table_is_read_as_it_was_written(table, tmp_path):
    (tmp_path / "languages.json").write_text(json.dumps(asdict(table)))

    again = read_whole_record(LanguageTable, tmp_path / "languages.json")

    assert again == table
    assert again.guess("the law") == table.guess("the law")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"weights": "AAAA"}, r"the weights are not as many as runs and languages"),
        ({"weights": "no base64!"}, r"the weights cannot be read"),
        ({"languages": []}, r"the weights are not as many"),
    ],
)
def test_a_damaged_table_is_refused(table, change, message):
    with pytest.raises(ConfigError, match=message):
        replace(table, **change)
