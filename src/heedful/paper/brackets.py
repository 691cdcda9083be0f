"""Labelled brackets of two trees compared, as EVALB counts them with its usual parameters."""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from heedful.paper.trees import Tree

PUNCTUATION = frozenset({",", ":", "``", "''", "."})
"""Parts of speech whose words do not count (DELETE_LABEL of COLLINS.prm)."""
_EQUAL = {"PRT": "ADVP"}  # EQ_LABEL of the same

Bracket = tuple[str, int, int]


@dataclass(frozen=True)
class Agreement:
    """Brackets that two trees, or two banks of trees, have in common."""

    matched: int = 0
    gold: int = 0
    found: int = 0
    exact: int = 0
    """Trees of which all brackets agree."""
    trees: int = 0

    def __add__(self, other: "Agreement") -> "Agreement":
        return Agreement(
            self.matched + other.matched,
            self.gold + other.gold,
            self.found + other.found,
            self.exact + other.exact,
            self.trees + other.trees,
        )

    @property
    def recall(self) -> float:
        """Percentage of the gold brackets that were found."""
        return 100 * self.matched / self.gold if self.gold else 0.0

    @property
    def precision(self) -> float:
        """Percentage of what was found that is gold."""
        return 100 * self.matched / self.found if self.found else 0.0

    @property
    def f1(self) -> float:
        """Their harmonic mean."""
        both = self.gold + self.found
        return 200 * self.matched / both if both else 0.0


def compare(gold: Tree, found: Tree, *, deleted: frozenset[str] = PUNCTUATION) -> Agreement:
    """Compare two trees over the same words; those whose gold tag is in `deleted` do not count."""
    counts = [is_counted(leaf, deleted) for leaf in gold.leaves()]
    ours, theirs = (Counter(brackets(tree, counts)) for tree in (gold, found))
    matched = (ours & theirs).total()
    return Agreement(matched, ours.total(), theirs.total(), int(ours == theirs), 1)


def compare_all(
    pairs: Iterable[tuple[Tree, Tree]], *, deleted: frozenset[str] = PUNCTUATION
) -> Agreement:
    """Sum up over a bank of trees."""
    return sum((compare(gold, found, deleted=deleted) for gold, found in pairs), Agreement())


def is_counted(leaf: Tree, deleted: frozenset[str]) -> bool:
    """Whether a word has a place in the count."""
    return leaf.label not in deleted


def brackets(tree: Tree, counts: list[bool]) -> Iterator[Bracket]:
    """Yield each constituent with the words that it spans, parts of speech aside."""
    places = [0]
    for is_place in counts:
        places.append(places[-1] + is_place)
    found: list[Bracket] = []

    def walk(node: Tree, start: int) -> int:
        if node.is_word:
            return start + 1
        end = start
        for child in node.children:
            end = walk(child, end)
        found.append((_EQUAL.get(node.label, node.label), places[start], places[end]))
        return end

    walk(tree, 0)
    yield from found
