from collections import Counter

import pytest

from heedful.data.forms import FormsConfig, as_typed, casing_of
from heedful.data.tsv import Row
from heedful.errors import ConfigError
from heedful.storage.languages import Direction

WAY = Direction("en", "de")
TIDY = [
    Row(f"The {word} is late.", f"Der {word} ist spät.", WAY)
    for word in ("train", "bus", "plane", "mailman")
] + [
    Row("I know the way.", "Ich kenne der Weg.", WAY),
    Row("Berlin is here, and I love Berlin.", "Hier ist Berlin.", WAY),
]


def typed(rows: list[Row], share: float = 1.0) -> list[Row]:
    return list(as_typed(rows, FormsConfig(share=share), casing_of(TIDY)))


def many(source: str, target: str, count: int = 300) -> list[Row]:
    """Rows that differ by a number, so that each is drawn on its own."""
    return [Row(source.format(n), target.format(n), WAY) for n in range(count)]


def test_no_share_leaves_all_as_it_is():
    assert typed(many("The bus {} is late.", "Der Bus {} ist spät."), 0.0) == many(
        "The bus {} is late.", "Der Bus {} ist spät."
    )


def test_about_the_share_is_written_otherwise_and_always_the_same():
    rows = many("The bus {} is late.", "Der Bus {} ist spät.", 2_000)

    changed = [new != old for new, old in zip(typed(rows, 0.25), rows, strict=True)]

    assert 0.2 < sum(changed) / len(changed) < 0.3
    assert typed(rows, 0.25) == typed(list(reversed(rows)), 0.25)[::-1]


def test_capital_and_full_stop_go_from_both_sides_together():
    rows = typed(many("I know the bus {}.", "Der Bus {} ist spät."))

    stops = Counter((row.source[-1] == ".", row.target[-1] == ".") for row in rows)
    assert set(stops) == {(True, True), (False, False)}
    assert stops[False, False] > 100
    assert any(row.target.startswith("der Bus") for row in rows)


def test_a_word_that_always_has_its_capital_keeps_it():
    rows = typed(many("I know the bus {}.", "Berlin ist {} alt."))

    assert all(row.target.startswith("Berlin") for row in rows)
    small = [row for row in rows if row.source.startswith("i ")]  # all in small letters
    assert all(row.source == row.source.lower() for row in small)


def test_marks_that_differ_stay():
    rows = typed(many("Is the bus {} late?", "Der Bus {} ist spät."))

    assert all(row.target.endswith(".") for row in rows)


def test_only_sources_are_mistyped():
    rows = typed(many("The mailman number {} is late", "Der Briefträger {} ist spät"))

    odd = [row for row in rows if "mailman number" not in row.source.lower()]
    assert odd
    assert all("Briefträger" in row.target for row in odd)


def test_a_name_that_comes_too_often_changes_on_both_sides_alike():
    rows = typed(many("Tom saw Mary {}.", "Tom sah Mary {}."), 0.0)

    names = Counter((row.source.split()[0], row.target.split()[0]) for row in rows)
    assert all(one == other for one, other in names)
    assert len(names) > 20
    assert 0.4 < names["Tom", "Tom"] / 300 < 0.8


@pytest.mark.parametrize(
    ("source", "target"),
    [("Tom saw it {}.", "Toms Hund sah es {}."), ("Tommy saw it {}.", "Tommy sah es {}.")],
)
def test_a_name_that_is_only_a_part_of_a_word_stays(source, target):
    assert typed(many(source, target), 0.0) == many(source, target)


def test_a_share_is_from_none_to_all():
    with pytest.raises(ConfigError, match=r"share must be from 0 to 1, got 1\.5"):
        FormsConfig(share=1.5)


def test_words_are_counted_in_every_language_however_long_the_first_is(monkeypatch):
    monkeypatch.setattr("heedful.data.forms.MOST_COUNTED", 3)
    first = [Row(f"So the {n}.", f"Also der {n}.", WAY) for n in range(9)]
    later = [Row("Now the end.", "Ahora el fin.", Direction("en", "es"))]

    casing = casing_of([*first, *later])

    assert casing.begin_small("es", "El fin.") == "el fin."
