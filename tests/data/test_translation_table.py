import numpy as np
import pytest

from heedful.data.translation_table import TranslationTable, learn_translations

HOUSE, BOOK, THE, A, DAS, HAUS, BUCH, EIN = range(8)
# The example by which IBM model 1 is taught: das Haus, das Buch, ein Buch.
PAIRS = [((THE, HOUSE), (DAS, HAUS)), ((THE, BOOK), (DAS, BUCH)), ((A, BOOK), (EIN, BUCH))]


def learned(**options) -> TranslationTable:
    links = [(s, t) for source, target in PAIRS for t in target for s in source]
    source, target = np.array(links).T
    return learn_translations(source, target, np.repeat(np.arange(6), 2), 8, **options)


def likelihoods(table: TranslationTable) -> dict[tuple[int, int], float]:
    ends = zip(table.source.tolist(), table.target.tolist(), strict=True)
    return dict(zip(ends, table.likelihood.tolist(), strict=True))


def reference(rounds: int) -> dict[tuple[int, int], float]:
    """Expectation maximisation as Koehn (2010, figure 4.3) writes it, without arrays."""
    likely = {(s, t): 1.0 for source, target in PAIRS for s in source for t in target}
    for _ in range(rounds):
        counts = dict.fromkeys(likely, 0.0)
        for source, target in PAIRS:
            for t in target:
                total = sum(likely[s, t] for s in source)
                for s in source:
                    counts[s, t] += likely[s, t] / total
        totals = {s: sum(n for (of, _), n in counts.items() if of == s) for s, _ in likely}
        likely = {(s, t): counts[s, t] / totals[s] for s, t in likely}
    return likely


def test_five_rounds_of_expectation_maximisation_are_made():
    assert likelihoods(learned()) == pytest.approx(reference(rounds=5))


def test_what_a_piece_is_translated_by_is_likely_together_to_one():
    found = likelihoods(learned())

    for piece in (HOUSE, BOOK, THE, A):
        assert sum(p for (s, _), p in found.items() if s == piece) == pytest.approx(1)
    assert found[THE, DAS] > 0.8 > 0.2 > found[THE, BUCH]


def test_a_prior_speaks_for_some_links_and_those_of_a_target_come_to_one():
    straight = np.tile([1.0, 0.01, 0.01, 1.0], 3)

    table = learned(prior=straight)

    assert table.posterior.reshape(6, 2).sum(axis=1) == pytest.approx(np.ones(6))
    assert likelihoods(table)[HOUSE, HAUS] > likelihoods(learned())[HOUSE, HAUS]
