import pytest

from heedful.errors import ConfigError, CorpusError
from heedful.evaluation import bleu, evaluate, exact_match

REFERENCES = ["the cat is on the mat", "there is a dog"]


def test_perfect_translations_score_as_such():
    scores = {score.name: score.value for score in evaluate(REFERENCES, REFERENCES)}

    assert scores == pytest.approx({"BLEU": 100, "chrF2": 100, "TER": 0, "exact match": 100})


def test_bleu_is_that_of_papineni_by_hand():
    """Precisions 5/6, 3/5, 2/4 and 1/3 of the n-grams; no brevity penalty."""
    score = bleu(["a b c d x f"], ["a b c d e f"])

    assert score.value == pytest.approx(100 * (5 / 6 * 3 / 5 * 2 / 4 * 1 / 3) ** (1 / 4))


def test_a_score_is_never_printed_without_its_signature():
    for score in [*evaluate(REFERENCES, REFERENCES), bleu(REFERENCES, REFERENCES)]:
        assert score.signature
        assert score.signature in str(score)


def test_the_bleu_tokenizer_is_in_the_signature():
    (score, *_) = evaluate(REFERENCES, REFERENCES, tokenize="none")

    assert "|tok:none|" in score.signature


def test_exact_match_looks_past_spacing_alone():
    score = exact_match(["a  b ", "A b", "a b."], ["a b", "a b", "a b"])

    assert score.value == pytest.approx(100 / 3)


def test_an_unknown_tokenizer_is_refused_with_its_nearest_neighbour():
    with pytest.raises(ConfigError, match=r"unknown BLEU tokenizer '13b'; did you mean '13a'\?"):
        evaluate(REFERENCES, REFERENCES, tokenize="13b")


def test_unequal_numbers_are_refused():
    with pytest.raises(CorpusError, match=r"cannot score 1 translations against 2 references"):
        evaluate(["one"], REFERENCES)
