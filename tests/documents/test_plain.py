from tests.documents.making import texts_of, translated


def test_lines_with_words_are_translated():
    assert translated(b"one\n\n 1.5 \r\ntwo ", "a.txt") == b"ONE\n\n 1.5 \r\nTWO "


def test_cells_stay_cells():
    assert texts_of(b"a\t1\tb c\n\td\n", "a.tsv") == ["a", "b c", "d"]
    assert translated(b"a\tb\n", "a.tsv", lambda text: "x\ty\nz") == b"x y z\tx y z\n"
