"""Labelled F1, with PYEVALB as the oracle, and by hand."""

from random import Random

import pytest
from PYEVALB import parser, scorer

from heedful.paper.brackets import Agreement, compare, compare_all
from heedful.paper.trees import Tree, read_trees

GOLD = "(S (NP (DT the) (NN cat)) (VP (VBD sat) (PP (IN on) (NP (DT a) (NN mat)))))"
FOUND = {
    "the same": GOLD,
    "attached higher": "(S (NP (DT the) (NN cat)) (VP (VBD sat)) (PP (IN on) (NP (DT a) (NN mat))))",  # noqa: E501
    "another label": "(S (ADJP (DT the) (NN cat)) (VP (VBD sat) (PP (IN on) (NP (DT a) (NN mat)))))",  # noqa: E501
    "flat": "(S (DT the) (NN cat) (VBD sat) (IN on) (DT a) (NN mat))",
}


def tree(text: str) -> Tree:
    (found,) = read_trees(text, "a test")
    return found


def by_pyevalb(gold: str, found: str) -> tuple[int, int, int]:
    result = scorer.Scorer().score_trees(
        parser.create_from_bracket_string(gold), parser.create_from_bracket_string(found)
    )
    return result.matched_brackets, result.gold_brackets, result.test_brackets


@pytest.mark.parametrize("found", FOUND.values(), ids=FOUND)
def test_brackets_agree_with_pyevalb(found):
    ours = compare(tree(GOLD), tree(found), deleted=frozenset())

    assert (ours.matched, ours.gold, ours.found) == by_pyevalb(GOLD, found)


def drawn(draw: Random, words: list[str]) -> Tree:
    """Draw a tree over words, in which no constituent repeats the one it is alone in."""

    def over(part: list[str], above: str) -> Tree:
        if len(part) == 1 and draw.random() < 0.7:
            return Tree("NN", (), part[0])
        label = draw.choice([it for it in ("S", "NP", "VP", "PP") if it != above])
        if len(part) == 1:
            return Tree(label, (Tree("NN", (), part[0]),))
        cut = draw.randrange(1, len(part))
        return Tree(label, (over(part[:cut], label), over(part[cut:], label)))

    return over(words, "")


@pytest.mark.parametrize("seed", range(50))
def test_fifty_drawn_trees_agree_with_pyevalb(seed):
    draw = Random(seed)
    words = [f"w{place}" for place in range(draw.randint(2, 12))]
    gold, found = drawn(draw, words), drawn(draw, words)

    ours = compare(gold, found, deleted=frozenset())

    assert (ours.matched, ours.gold, ours.found) == by_pyevalb(str(gold), str(found))


def test_punctuation_has_no_place_in_the_count():
    gold = tree("(S (NP (NN cat)) (VP (VBZ sits)) (. .))")
    found = tree("(S (NP (NN cat)) (VP (VBZ sits) (. .)))")

    assert compare(gold, found).f1 == 100
    assert compare(gold, found, deleted=frozenset()).f1 < 100


def test_a_particle_may_be_called_an_adverb_phrase():
    gold, found = tree("(S (NN cat) (PRT (RP up)))"), tree("(S (NN cat) (ADVP (RP up)))")

    assert compare(gold, found).f1 == 100


def test_two_brackets_alike_are_two():
    """As in EVALB, of which PYEVALB counts them once."""
    twice, once = tree("(NP (NP (NN cat)))"), tree("(NP (NN cat))")

    ours = compare(twice, once)

    assert (ours.matched, ours.gold, ours.found) == (1, 2, 1)


def test_a_bank_is_summed_before_it_is_divided():
    total = compare_all([(tree(GOLD), tree(FOUND["flat"])), (tree(GOLD), tree(GOLD))])

    assert total == Agreement(matched=6, gold=10, found=6, exact=1, trees=2)
    assert (total.recall, total.precision) == (60, 100)
    assert total.f1 == 75
