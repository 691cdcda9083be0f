"""Bracketed trees: what is read, what is cleaned, what is refused."""

import pytest

from heedful.errors import CorpusError
from heedful.paper.trees import clean, read_folder, read_trees
from tests.paper.bank import write_bank

TEXT = """( (S (NP-SBJ-1 (DT the) (NN cat))
  (VP (VBD sat)
    (PP-LOC=2 (IN on) (NP (DT a) (NN mat)))
    (NP (-NONE- *T*-1)))
  (-RRB- -RRB-)) )"""


def test_a_tree_is_read_and_written_as_it_is():
    (tree,) = read_trees("(S (NP (DT the) (NN cat)) (VP (VBD sat)))", "x")

    assert str(tree) == "(S (NP (DT the) (NN cat)) (VP (VBD sat)))"
    assert [leaf.word for leaf in tree.leaves()] == ["the", "cat", "sat"]


def test_functions_traces_and_empty_labels_are_left_out():
    (tree,) = read_trees(TEXT, "x")

    assert str(clean(tree)) == (
        "(S (NP (DT the) (NN cat)) (VP (VBD sat) (PP (IN on) (NP (DT a) (NN mat)))) (-RRB- -RRB-))"
    )


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("(S (NP (NN cat))\n  (VP (VBD sat))", r"x.mrg, line 1, column 1: this \( is never closed"),
        ("(S (NN cat))\n )", r"x.mrg, line 2, column 2: a \) closes nothing"),
        ("(S (NN cat))\ncat", "x.mrg, line 2, column 1: 'cat' stands outside of brackets"),
        ("(S (NN))", r"x.mrg, line 1, column 7: \(NN\) is empty"),
        ("(S (NN a b))", r"x.mrg, line 1, column 11: \(NN holds a word and more"),
        ("(A " * 500, "line 1, column 1201: brackets are more than 400 deep"),
    ],
)
def test_what_is_wrong_is_told_with_line_and_column(text, message):
    with pytest.raises(CorpusError, match=message):
        read_trees(text, "x.mrg")


def test_a_folder_is_read_file_by_file_and_other_files_are_passed_over(tmp_path):
    write_bank(tmp_path, num_files=3, trees_each=4)

    found = read_folder(tmp_path)

    assert {name: len(trees) for name, trees in found.items()} == {
        "made_00.mrg": 4, "made_01.mrg": 4, "made_02.mrg": 4,
    }  # fmt: skip


def test_a_folder_without_trees_is_refused(tmp_path):
    (tmp_path / "a.txt").write_text("no tree")

    with pytest.raises(CorpusError, match="fewer than two bracketed trees in its 1 files"):
        read_folder(tmp_path)
    with pytest.raises(CorpusError, match="cannot be read, No such file or directory"):
        read_folder(tmp_path / "none")
