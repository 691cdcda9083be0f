import os

import pytest

from heedful.data.corpus import (
    CleaningConfig,
    CleaningReport,
    clean_pairs,
    read_pairs,
)
from heedful.errors import ConfigError, CorpusError


def write(path, content: str | bytes):
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def cleaned(pairs, **limits):
    report = CleaningReport()
    return list(clean_pairs(pairs, CleaningConfig(**limits), report)), report


def test_two_files_are_read_side_by_side(tmp_path):
    source, target = write(tmp_path / "a.en", "one\ntwo\n"), write(tmp_path / "a.fr", "un\ndeux")

    assert list(read_pairs(source, target)) == [("one", "un"), ("two", "deux")]


def test_a_tsv_gives_its_first_two_columns(tmp_path):
    path = write(tmp_path / "a.tsv", "one\tun\ntwo\tdeux\tCC-BY, somebody\n")

    assert list(read_pairs(path)) == [("one", "un"), ("two", "deux")]


def test_unequal_line_counts_are_refused_and_both_named(tmp_path):
    source, target = write(tmp_path / "a.en", "1\n2\n3\n"), write(tmp_path / "a.de", "1\n")

    with pytest.raises(CorpusError, match=r"a\.en and .*a\.de are not parallel: 3 lines against 1"):
        list(read_pairs(source, target))
    with pytest.raises(CorpusError, match=r"a\.de and .*a\.en are not parallel: 1 lines against 3"):
        list(read_pairs(target, source))


@pytest.mark.parametrize("side", ["source", "target"])
def test_a_tsv_beside_another_file_is_refused_since_it_holds_the_answers(tmp_path, side):
    tsv = write(tmp_path / "a.tsv", "one\tun\ntwo\tdeux\nthree\n")
    plain = write(tmp_path / "a.fr", "un\ndeux\ntrois\n")

    with pytest.raises(
        CorpusError,
        match=r"a\.tsv has a tab in 2 of its first 3 lines, so it seems to be a TSV of pairs; give",
    ):
        list(read_pairs(*((tsv, plain) if side == "source" else (plain, tsv))))


def test_a_tab_here_and_there_is_text(tmp_path):
    source = write(tmp_path / "a.en", "one\tand\ntwo\n")

    assert len(list(read_pairs(source, write(tmp_path / "a.fr", "un\ndeux\n")))) == 2


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(CorpusError, match=r"nowhere\.en: no such file; check the path"):
        list(read_pairs(tmp_path / "nowhere.en"))


def test_an_empty_file_is_refused(tmp_path):
    source, target = write(tmp_path / "a.en", "one\n"), write(tmp_path / "a.de", "")

    with pytest.raises(CorpusError, match=r"a\.de is empty; give it one sentence per line"):
        list(read_pairs(source, target))


def test_a_pipe_is_refused_for_training(tmp_path):
    os.mkfifo(tmp_path / "pipe")

    with pytest.raises(CorpusError, match=r"pipe is a pipe or a device, but it is read more than"):
        list(read_pairs(tmp_path / "pipe"))


def test_a_line_without_a_tab_is_named(tmp_path):
    path = write(tmp_path / "a.tsv", "one\tun\ntwo deux\n")

    with pytest.raises(CorpusError, match=r"a\.tsv, line 2: .* joined by a tab, found no tab"):
        list(read_pairs(path))


def test_the_same_file_twice_is_refused(tmp_path):
    path = write(tmp_path / "a.en", "one\n")

    with pytest.raises(CorpusError, match=r"is given as source and as target; name two different"):
        list(read_pairs(path, path))


def test_what_would_harm_training_is_dropped_and_counted():
    pairs = [
        ("good morning", "bonjour"),
        ("  good  morning ", "bonjour"),  # the same once normalised
        ("good morning", "bon matin"),  # another translation is no duplicate
        ("", "vide"),
        ("blank", " \t "),
        ("x" * 101, "y"),
        ("one", "un " * 30),
    ]

    kept, report = cleaned(pairs, max_characters=100, max_ratio=4.0)

    assert kept == [("good morning", "bonjour"), ("good morning", "bon matin")]
    assert (report.read, report.kept) == (7, 2)
    assert (report.empty, report.too_long, report.odd_ratio, report.duplicate) == (2, 1, 1, 1)
    assert str(report) == (
        "2 of 7 pairs kept; dropped 2 with an empty side, 1 too long, "
        "1 of absurd length ratio, 1 seen before"
    )


def test_short_words_may_differ_much_in_length():
    kept, _ = cleaned([("no", "keineswegs"), ("茶", "thé vert")])

    assert len(kept) == 2


@pytest.mark.parametrize(
    ("limits", "message"),
    [
        ({"max_characters": 0}, r"max_characters must be at least 1, got 0"),
        ({"max_ratio": 0.5}, r"max_ratio must be at least 1, got 0.5"),
    ],
)
def test_limits_that_keep_nothing_are_refused(limits, message):
    with pytest.raises(ConfigError, match=message):
        CleaningConfig(**limits)
