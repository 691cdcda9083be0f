from dataclasses import replace

import pytest

from heedful.storage.provenance import Example, Scored
from heedful.storage.verdict import verdict


def scored(
    provenance, bleu: float, *, train: int = 100_000, valid: int = 500, reference="ein Satz"
):
    """Return a provenance with such a BLEU, such numbers of pairs and such an example."""
    return replace(
        provenance,
        scores=[Scored(name="BLEU", value=bleu, signature="tok:13a")],
        data=replace(provenance.data, train_pairs=train, valid_pairs=valid),
        examples=[Example(source="a", translation="b", reference=reference)],
    )


@pytest.mark.parametrize(
    ("bleu", "words"),
    [
        (0.0, "not usable yet: most sentences are wrong"),
        (9.9, "not usable yet: most sentences are wrong"),
        (10.0, "a beginning: many words are right, and hardly a sentence is"),
        (20.0, "gives the gist of text like yours; few sentences are right as they are"),
        (30.0, "usable on text like yours, if somebody reads it over"),
        (40.0, "good on text like yours"),
    ],
)
def test_bleu_is_put_in_words(model_folder, bleu, words):
    assert verdict(scored(model_folder.provenance(), bleu)) == words


def test_a_reader_of_the_card_is_not_told_of_text_like_theirs(model_folder):
    told = verdict(scored(model_folder.provenance(), 50.0), known="what it was trained on")

    assert told == "good on text like what it was trained on"


def test_few_pairs_are_said_to_be_few(model_folder):
    told = verdict(scored(model_folder.provenance(), 41.0, train=9_999, valid=99))

    assert told == (
        "good on text like yours; what its 9,999 pairs do not hold, it does not know; "
        "and 99 pairs are few to judge it by"
    )


def test_a_language_without_spaces_is_not_judged_by_words(model_folder):
    told = verdict(scored(model_folder.provenance(), 3.0, reference="明日の朝は雨が降るでしょう。"))

    assert told.startswith("not to be told by BLEU")


def test_long_words_are_words(model_folder):
    german = "Donaudampfschifffahrtsgesellschaft in der Nähe von Wien"

    assert verdict(scored(model_folder.provenance(), 50.0, reference=german)).startswith("good")
