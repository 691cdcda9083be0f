from heedful.text.words import Word
from heedful.translation.links import link_words


def test_a_word_is_linked_to_the_word_that_its_pieces_looked_at_most():
    """One of two pieces, and two of three: what they saw is added up."""
    source = ["the", " old", " dog"]
    target = ["Der", " H", "und"]
    attention = ((0.7, 0.2, 0.1), (0.1, 0.5, 0.4), (0.1, 0.1, 0.8))

    words = link_words(source, target, attention)

    assert [(word.gap, word.text, word.source) for word in words] == [
        ("", "Der", 0), (" ", "Hund", 8),
    ]  # fmt: skip


def test_a_source_word_belongs_to_the_word_that_looked_at_it_keenest_if_any_did():
    source = ["a", " b", " c"]
    attention = ((0.6, 0.35, 0.05), (0.5, 0.45, 0.05))

    words = link_words(source, ["A", " B"], attention)

    assert [word.source for word in words] == [0, 0]
    assert [word.looked_at for word in words] == [(0,), (2,)]  # c was looked at too faintly


def test_a_glance_is_enough_if_nobody_looked_more():
    words = link_words(["a", " b"], ["A", " B"], ((0.95, 0.05), (0.85, 0.15)))

    assert [word.looked_at for word in words] == [(0,), (2,)]
    assert [word.source for word in words] == [0, 0]


def test_nothing_is_linked_to_nothing():
    assert link_words([], ["A"], ((),)) == [Word("", "A", None)]
    assert link_words(["a"], [], ()) == []
