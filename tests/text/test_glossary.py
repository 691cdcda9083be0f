import re

import pytest

from heedful.errors import CorpusError
from heedful.text.glossary import Glossary, read_glossary


def test_whole_words_are_found_the_longest_first_and_capitals_matter():
    glossary = Glossary({"bank": "Ufer", "bank note": "Geldschein", "Heedful": ""})

    spans = glossary.find("a bank note, a bank, a Bank, bankers embank at Heedful")

    assert [span.text for span in spans] == ["Geldschein", "Ufer", "Heedful"]


def test_terms_are_found_where_words_are_not_set_apart():
    found = Glossary({"犬": "dog", "GPU": ""}).find("猫と犬とGPUの")

    assert [(span.start, span.text) for span in found] == [(2, "dog"), (4, "GPU")]


def test_a_glossary_is_a_tsv_in_which_a_term_without_translation_stays(tmp_path):
    (tmp_path / "terms.tsv").write_text("bank\tUfer\n\nHeedful\nkeep\t\n")

    assert read_glossary(tmp_path / "terms.tsv").terms == {
        "bank": "Ufer",
        "Heedful": "Heedful",
        "keep": "keep",
    }


def test_no_glossary_finds_nothing():
    assert Glossary({}).find("a bank") == []


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("a\tb\n\tc\n", r"terms\.tsv, line 2: no term before the tab"),
        ("a\tb\tc\n", r"terms\.tsv, line 1: expected .* one tab, found 2 tabs"),
        ("a\tb\n\na\tc\n", r"terms\.tsv, line 3: 'a' stands already in line 1; keep one"),
    ],
)
def test_a_line_that_cannot_be_meant_is_named(tmp_path, content, message):
    (tmp_path / "terms.tsv").write_text(content)

    with pytest.raises(CorpusError, match=message):
        read_glossary(tmp_path / "terms.tsv")


@pytest.mark.parametrize(
    ("term", "mark"),
    [("a 😀", "😀"), ("<b>bank</b>", "<b>"), ("http://x.y", "http://x.y"), ("{name}", "{name}")],
)
def test_a_term_that_would_never_be_found_is_refused(term, mark):
    with pytest.raises(CorpusError, match=f"'{re.escape(term)}': {re.escape(mark)} stays as it is"):
        Glossary({term: "x"})


@pytest.mark.parametrize("terms", [{"bank\udcff": "x"}, {"bank": "\udcff"}])
def test_half_a_character_in_a_glossary_is_refused(terms):
    with pytest.raises(CorpusError, match="is not valid Unicode"):
        Glossary(terms)


def test_a_term_is_found_whatever_is_in_it_that_is_not_seen():
    assert [span.text for span in Glossary({"ba\u00adnk": "Ufer"}).find("a bank")] == ["Ufer"]
