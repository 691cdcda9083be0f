import pytest

from heedful.data.check import check_pairs, find
from heedful.data.corpus import CleaningConfig

GOOD = [
    (f"the {noun} is in the {place}", f"le {noun_fr} est dans la {place_fr}")
    for noun, noun_fr in (("cat", "chat"), ("dog", "chien"), ("book", "livre"), ("car", "train"))
    for place, place_fr in (("house", "maison"), ("garden", "cour"), ("town", "ville"))
]


@pytest.mark.parametrize(
    ("pair", "reason"),
    [
        (("", "rien"), "empty"),
        (("a" * 1_001, "b" * 1_000), "too_long"),
        (("hello you", "x" * 500), "odd_ratio"),
        (GOOD[0], "duplicate"),
        (("Paris", "Paris"), "equal"),
        (("in 1984", "en 1985"), "digits"),
        (("Tom &amp; Mary", "Tom et Mary"), "markup"),
        (("a <b>cat</b>", "un chat"), "markup"),
        (("le chien est dans la maison", "the dog is in the house"), "language"),
    ],
)
def test_what_is_odd_is_told_with_an_example(pair, reason):
    findings = find(check_pairs([*GOOD, pair], CleaningConfig()))

    assert {name for name, count in findings.counts.items() if count} == {reason}
    assert findings.examples[reason] == [pair]


def test_of_what_is_often_odd_two_examples_are_enough():
    findings = find(
        check_pairs([*GOOD, *((f"A{n} b", f"A{n} b") for n in range(9))], CleaningConfig())
    )

    assert findings.counts["equal"] == 9
    assert findings.examples["equal"] == [("A0 b", "A0 b"), ("A1 b", "A1 b")]


def test_numbers_of_pairs_sources_and_words_are_told():
    twice = [(source, target + " !") for source, target in GOOD[:3]]

    findings = find(check_pairs([*GOOD, *twice, ("", "x")], CleaningConfig()))

    assert (findings.read, findings.kept, findings.distinct_sources) == (16, 15, 13)
    assert findings.typical_words == (6, 6)


def test_nothing_to_look_at_is_no_error():
    assert find(check_pairs([("", "")], CleaningConfig())).kept == 0
