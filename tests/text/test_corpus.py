import gzip
import os

import pytest

from heedful.errors import ConfigError, CorpusError
from heedful.text.corpus import (
    CleaningConfig,
    CleaningReport,
    clean_pairs,
    read_lines,
    read_pairs,
)


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


def test_gzip_is_known_by_its_content_not_its_name(tmp_path):
    path = write(tmp_path / "a.txt", gzip.compress("één\n".encode()))

    assert list(read_lines(path)) == ["één"]


def test_byte_order_mark_and_windows_line_ends_are_taken_off(tmp_path):
    path = write(tmp_path / "a.txt", b"\xef\xbb\xbfone\r\ntwo\r\n")

    assert list(read_lines(path)) == ["one", "two"]


def test_only_line_feeds_end_a_line(tmp_path):
    path = write(tmp_path / "a.txt", "a\u2028b\x0bc\x85d\n")

    assert list(read_lines(path)) == ["a\u2028b\x0bc\x85d"]


def test_unequal_line_counts_are_refused_and_both_named(tmp_path):
    source, target = write(tmp_path / "a.en", "1\n2\n3\n"), write(tmp_path / "a.de", "1\n")

    with pytest.raises(CorpusError, match=r"a\.en and .*a\.de are not parallel: 3 lines against 1"):
        list(read_pairs(source, target))
    with pytest.raises(CorpusError, match=r"a\.de and .*a\.en are not parallel: 1 lines against 3"):
        list(read_pairs(target, source))


def test_invalid_utf8_is_named_by_file_line_and_byte(tmp_path):
    path = write(tmp_path / "a.en", b"fine\nna\xefve\n")

    with pytest.raises(CorpusError, match=r"a\.en, line 2, byte 3: 0xef is not valid UTF-8"):
        list(read_lines(path))


def test_the_byte_is_counted_from_the_start_of_the_file(tmp_path):
    path = write(tmp_path / "a.en", b"\xef\xbb\xbfna\xefve\n")

    with pytest.raises(CorpusError, match=r"a\.en, line 1, byte 6: 0xef is not valid UTF-8"):
        list(read_lines(path))


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(CorpusError, match=r"nowhere\.en: no such file; check the path"):
        list(read_pairs(tmp_path / "nowhere.en"))


def test_a_folder_is_refused(tmp_path):
    with pytest.raises(CorpusError, match=r" is a folder; give a text file"):
        list(read_lines(tmp_path))


def test_an_empty_file_is_refused(tmp_path):
    source, target = write(tmp_path / "a.en", "one\n"), write(tmp_path / "a.de", "")

    with pytest.raises(CorpusError, match=r"a\.de is empty; give it one sentence per line"):
        list(read_pairs(source, target))


def test_a_file_that_cannot_be_read_is_named_with_the_reason(tmp_path):
    path = write(tmp_path / "a.en", "one\n") / "b.en"

    with pytest.raises(CorpusError, match=r"b\.en: cannot be read, Not a directory"):
        list(read_lines(path))


def test_a_pipe_is_refused_for_training(tmp_path):
    os.mkfifo(tmp_path / "pipe")

    with pytest.raises(CorpusError, match=r"pipe is a pipe or a device, but it is read more than"):
        list(read_pairs(tmp_path / "pipe"))


def test_a_binary_file_is_refused(tmp_path):
    path = write(tmp_path / "a.en", b"\x7fELF\x02\x01\x01\x00\x00")

    with pytest.raises(CorpusError, match=r"a\.en, line 1: found a zero byte, so this is a binary"):
        list(read_lines(path))


def test_utf16_is_called_by_its_name(tmp_path):
    path = write(tmp_path / "a.en", "one".encode("utf-16"))

    with pytest.raises(CorpusError, match=r"a\.en is UTF-16 text; save it as UTF-8"):
        list(read_lines(path))


def test_a_truncated_gzip_file_is_refused(tmp_path):
    path = write(tmp_path / "a.gz", gzip.compress(b"many words\n" * 1_000)[:-20])

    with pytest.raises(CorpusError, match=r"a\.gz: damaged gzip file"):
        list(read_lines(path))


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
