import gzip
import io
from functools import partial
from pathlib import Path

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from heedful.errors import CorpusError
from heedful.text import lines
from heedful.text.lines import (
    read_any_lines,
    read_arriving_lines,
    read_lines,
    refuse_no_text,
)


def write(path, content: str | bytes):
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def test_gzip_is_known_by_its_content_not_its_name(tmp_path):
    path = write(tmp_path / "a.txt", gzip.compress("één\n".encode()))

    assert list(read_lines(path)) == ["één"]


def test_byte_order_mark_and_windows_line_ends_are_taken_off(tmp_path):
    path = write(tmp_path / "a.txt", b"\xef\xbb\xbfone\r\ntwo\r\n")

    assert list(read_lines(path)) == ["one", "two"]


def test_only_line_feeds_end_a_line(tmp_path):
    path = write(tmp_path / "a.txt", "a\u2028b\x0bc\x85d\n")

    assert list(read_lines(path)) == ["a\u2028b\x0bc\x85d"]


def test_invalid_utf8_is_named_by_file_line_and_byte(tmp_path):
    path = write(tmp_path / "a.en", b"fine\nna\xefve\n")

    with pytest.raises(CorpusError, match=r"a\.en, line 2, byte 3: 0xef is not valid UTF-8"):
        list(read_lines(path))


def test_the_byte_is_counted_from_the_start_of_the_file(tmp_path):
    path = write(tmp_path / "a.en", b"\xef\xbb\xbfna\xefve\n")

    with pytest.raises(CorpusError, match=r"a\.en, line 1, byte 6: 0xef is not valid UTF-8"):
        list(read_lines(path))


def test_a_folder_is_refused(tmp_path):
    with pytest.raises(CorpusError, match=r" is a folder; give a text file"):
        list(read_lines(tmp_path))


def test_a_file_that_cannot_be_read_is_named_with_the_reason(tmp_path):
    path = write(tmp_path / "a.en", "one\n") / "b.en"

    with pytest.raises(CorpusError, match=r"b\.en: cannot be read, Not a directory"):
        list(read_lines(path))


def test_a_file_that_cannot_even_be_looked_for_is_named_with_the_reason(tmp_path):
    with pytest.raises(CorpusError, match=r"aaa: cannot be read, File name too long"):
        refuse_no_text(tmp_path / ("a" * 300))


@pytest.mark.skipif(not Path("/proc/self/mem").exists(), reason="no file that cannot be read")
def test_a_file_that_fails_while_it_is_read_is_named_with_the_reason():
    with pytest.raises(CorpusError, match=r"mem: cannot be read, Input/output error"):
        list(read_lines(Path("/proc/self/mem")))


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


class Trickle(io.BufferedIOBase):
    """A pipe that gives what was written to it, a write at a time."""

    def __init__(self, *writes: bytes) -> None:
        self.writes = list(writes)

    def read1(self, size: int = -1, /) -> bytes:
        return self.writes.pop(0) if self.writes else b""


def test_lines_of_a_pipe_come_when_they_are_whole():
    pipe = Trickle(b"one\ntw", b"o\n", b"thr", b"ee")

    lines = list(read_arriving_lines(pipe, replace_invalid=False))

    assert lines == ["one", None, "two", None, None, None, "three"]


def test_a_pipe_that_is_full_has_more_to_come():
    pipe = io.BufferedReader(io.BytesIO(b"a\n" * 40_000))  # 80,000 bytes, and it gives 65,536

    lines = list(read_arriving_lines(pipe, replace_invalid=False))

    assert lines == ["a"] * 40_000 + [None]


@given(st.lists(st.binary(max_size=6).filter(bool)))
def test_a_pipe_has_the_lines_of_the_same_file(tmp_path_factory, writes):
    content = b"".join(writes)
    assume(not content.startswith(b"\x1f\x8b"))  # a file would be unpacked, a pipe refused
    path = write(tmp_path_factory.getbasetemp() / "piped.txt", content)

    arrived = list(read_arriving_lines(Trickle(*writes), replace_invalid=True))

    assert [line for line in arrived if line is not None] == list(
        read_any_lines(path, replace_invalid=True)
    )


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (
            gzip.compress(b"one\n", mtime=0),
            r"standard input is gzip; unpack it first, as in: gunzip -c",
        ),
        ("one\n".encode("utf-16"), r"standard input is UTF-16 text; save it as UTF-8"),
    ],
    ids=["gzip", "UTF-16"],
)
def test_a_pipe_of_another_kind_of_text_is_called_by_its_name(content, message):
    with pytest.raises(CorpusError, match=message):
        list(read_arriving_lines(Trickle(content), replace_invalid=False))


def test_a_line_of_a_pipe_that_is_no_text_is_named_by_its_number():
    pipe = Trickle(b"one\nt", b"w\xffo\n")

    with pytest.raises(CorpusError, match="standard input, line 2, byte 3: 0xff"):
        list(read_arriving_lines(pipe, replace_invalid=False))


@pytest.mark.parametrize("read", [read_lines, partial(read_any_lines, replace_invalid=True)])
def test_a_line_without_end_is_refused(tmp_path, monkeypatch, read):
    monkeypatch.setattr(lines, "LONGEST_LINE", 1 << 20)
    (tmp_path / "text").write_bytes(b"short\n" + b"x" * (1 << 20) + b"\n")

    with pytest.raises(CorpusError, match=r"text, line 2: longer than 1 MB, so this is no text in"):
        list(read(tmp_path / "text"))
