import math

import pytest
import sacrebleu

from heedful.errors import ConfigError, CorpusError
from heedful.evaluation import bleu, evaluate, exact_match

TRANSLATIONS = ["the cat sat on a mat by the door", "a dog"]
REFERENCES = ["the cat is on the mat", "there is a dog in it"]


def test_translations_are_scored_against_references_as_sacrebleu_scores_them():
    bleu, chrf, ter, exact = evaluate(TRANSLATIONS, REFERENCES)

    ours, theirs = TRANSLATIONS, [REFERENCES]  # neither is the other, nor as long
    assert bleu.value == sacrebleu.corpus_bleu(ours, theirs).score
    assert chrf.value == sacrebleu.corpus_chrf(ours, theirs).score
    assert ter.value == sacrebleu.corpus_ter(ours, theirs).score
    assert exact.value == 0


def test_a_translation_that_is_too_short_is_scored_as_by_hand():
    """All n-grams are right; the brevity penalty is e^(1 - 6/5), and one of six words is added."""
    bleu, _, ter, _ = evaluate(["a b c d e"], ["a b c d e f"])

    assert bleu.value == pytest.approx(100 * math.exp(1 - 6 / 5))
    assert ter.value == pytest.approx(100 / 6)


def test_bleu_on_the_way_is_that_of_the_end():
    assert bleu(TRANSLATIONS, REFERENCES).value == evaluate(TRANSLATIONS, REFERENCES)[0].value


def test_the_signatures_are_those_that_papers_print():
    """As sacrebleu's README has them; no effective order, which is for single sentences."""
    signatures = {score.name: score.signature for score in evaluate(TRANSLATIONS, REFERENCES)}

    version = f"version:{sacrebleu.__version__}"
    assert signatures == {
        "BLEU": f"nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|{version}",
        "chrF2": f"nrefs:1|case:mixed|eff:yes|nc:6|nw:0|space:no|{version}",
        "TER": f"nrefs:1|case:lc|tok:tercom|norm:no|punct:yes|asian:no|{version}",
        "exact match": "n:2|norm:nfc+ws",
    }


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
