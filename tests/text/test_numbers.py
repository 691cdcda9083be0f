import pytest
from hypothesis import given
from hypothesis import strategies as st

from heedful.text.numbers import find_numbers, missing_numbers


def numbers(text: str, kind: str = "number") -> list[str]:
    return [span.text for span in find_numbers(text) if span.kind == kind]


def is_kept(source: str, target: str) -> bool:
    return not missing_numbers(target, find_numbers(source))


def test_numbers_that_languages_spell_out_and_times_of_day_are_left_to_the_model():
    text = "2 of 13 men, 2-3 dogs, 1,234.5 km, 3:45 PM, 9-10:30, 2024, x86, 3rd"

    assert numbers(text) == ["13", "1,234.5", "2024"]


def test_a_small_number_stays_beside_a_larger_one_that_says_which():
    assert numbers("Room 101, floor 12, door 7") == ["101", "12", "7"]
    assert numbers("In 1984 he had 2 dogs, born on May 3, 1980, at 5.") == ["1984", "1980"]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("25,000km 100.5mm €13.5m 25 000km", ["25,000", "100.5", "13.5", "25 000"]),
        ("1,000,000th, the 20th, the 1990s, a 4x4", []),
        ("我有500元 2024年5月 500万 2024년", ["500", "2024", "2024"]),
        ("USD500 for 500mg", ["500", "500"]),
        ("C++17, 20×30, p.13, .75", ["17", "20", "30", "13", ".75"]),
        ("13.-15. Mai", ["13", "15"]),
    ],
)
def test_a_number_that_touches_letters_is_found_whole_or_not_at_all(text, found):
    assert numbers(text) == found


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("-12 km, -$5.00, -273.15, -12.5%", ["-12", "-$5.00", "-273.15", "-12.5"]),
        ("(-5) \u2212USD 5, -CA$2.45, –3", ["-5", "\u2212USD 5", "-CA$2.45", "–3"]),
        ("Boeing-747, 20 -13, 90%-95%, --14", ["747", "20", "13", "90", "95", "14"]),
        ("1/2, 3/4, 2021/22, 10-15, 1990–1995", ["1/2", "3/4", "2021/22", "10-15", "1990–1995"]),
        ("2021-05-03 3/5/2021 3.5.21", ["2021-05-03", "3/5/2021", "3.5.21"]),
    ],
)
def test_signs_fractions_ranges_and_dates_belong_to_their_number(text, found):
    assert numbers(text) == found


@pytest.mark.parametrize(
    "text",
    [
        "192.168.0.1",
        "192.168.0.1:8080",
        "1.2.3",
        "978-3-16-148410-0",
        "24/7/365",
        "+49 30 1234567",
        "2021-05-03T10:00:00Z",
    ],
)
def test_what_only_looks_like_a_number_is_copied(text):
    assert numbers(f"so {text}, then", "copy") == [text]
    assert numbers(f"so {text}, then") == []


def test_what_stands_before_a_version_or_a_section_is_copied_with_it():
    assert numbers("v1.2.3 and v2, § 12, №5, V8x", "copy") == ["v1.2.3", "v2", "§ 12", "№5"]


@pytest.mark.parametrize(
    ("source", "target"),
    [
        ("1,234.5", "1.234,5"),
        ("1,234.5", "1\u202f234,5"),
        ("1,234", "1234"),
        ("1234567", "12,34,567"),
        ("1234.5", "١٬٢٣٤٫٥"),
        ("10 000 dogs", "10.000 Hunde"),
        ("123", "١٢٣"),
        ("-$5.00", "-5,00 $US"),
        ("-12", "\u221212"),
        ("-12 degrees", "moins 12 degrés"),
        ("-12", "\u200e-12"),
        ("1/2", "½"),
        ("1 1/2 cups", "1½ tasses"),
        ("10-15 kg", "entre 10 et 15 kg"),
        ("2021-05-03", "3 mai 2021"),
        ("2021-05-03", "03.05.2021"),
        ("3/5/2021", "le 5 mars 2021"),
        ("3/25/21", "25.03.2021"),
        ("Boeing 747", "Boeing-747"),
        ("35.1 billion", "351億"),
        ("411 billion", "411000 millóns"),
        ("542 thousand", "5.42 लाख"),
    ],
)
def test_a_number_is_kept_in_the_form_of_another_language(source, target):
    assert is_kept(source, target)


@pytest.mark.parametrize(
    ("source", "target"),
    [
        ("-12 kilometers", "12 kilomètres"),
        ("12,000 kilometers", "-12.000 kilomètres"),
        ("-$5.00", "5,00 $US"),
        ("-273.15", "273,15"),
        ("-12.5%", "12,5 %"),
        ("1.5 km", "15 km"),
        ("12.75", "1.275"),
        ("1/2", "12 Rre"),
        ("3/4 liters", "34 litres"),
        ("1/2", "2/1"),
        ("10-15 kilograms", "15 kilogrammes"),
        ("2021-05-03", "2021"),
        ("2021-05-03", "mai 2021"),
        ("3/25/2021", "mars 2021"),
        ("13, 13", "13"),
        ("35.1 billion", "352億"),
    ],
)
def test_a_number_that_lacks_a_part_is_missing(source, target):
    assert not is_kept(source, target)
    assert is_kept(source, source)


@given(st.text("0123456789.,-/:() ٣½$kTZ+", max_size=40))
def test_a_copy_of_the_source_has_all_its_numbers(text):
    assert is_kept(text, text)
