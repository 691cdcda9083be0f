import pytest

from heedful.documents.document import Passage, put_in_place, text_document
from heedful.errors import CorpusError


def test_what_is_not_translated_stays_as_it_was_written():
    passages = [Passage(0, 3, "a b", str.upper), Passage(4, 5, "c", str.upper)]

    assert put_in_place("a\nb c.", passages, ["a b", "c!"]) == "a\nb C!."
    assert put_in_place("a\nb c.", passages, ["x", "c"]) == "X c."


def test_a_translation_that_cannot_be_written_leaves_what_stood_there():
    assert put_in_place("ab", [Passage(0, 1, "a", lambda _: None)], ["x"]) == "ab"


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"ab\xe9", "byte 3: 0xe9 is not valid UTF-8; save it as UTF-8"),
        (b"a\0b", "found a zero byte"),
        (b"\xff\xfea\0b", "is not valid UTF-16-LE"),
    ],
)
def test_what_is_no_text_is_refused(content, reason):
    with pytest.raises(CorpusError, match=reason):
        text_document(content, lambda text: [], name="a.txt")
