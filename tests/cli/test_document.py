import zipfile

import pytest

from heedful.cli.document import translate_document
from heedful.cli.translate import ARCHIVES, DOCUMENTS, Task, translate
from heedful.documents.kinds import KINDS, LINE_BY_LINE
from heedful.errors import ConfigError
from tests.documents.making import archive, docx, member

WORDS = "<w:p><w:r><w:t>a b c</w:t></w:r></w:p>"


def test_the_kinds_are_those_that_can_be_read():
    assert {*DOCUMENTS, *LINE_BY_LINE} == KINDS.keys()


def test_a_document_becomes_a_document(model_folder, tmp_path, capsys):
    input, output = tmp_path / "a.DOCX", tmp_path / "b.docx"
    input.write_bytes(docx(WORDS))

    translate(Task(model=model_folder.path, input=input, output=output))

    assert zipfile.is_zipfile(output)
    written = member(output.read_bytes(), "word/document.xml")
    assert written.count("<w:t") == 1
    assert "a b c" not in written
    assert f"{output}: 1 texts" in capsys.readouterr().err
    assert sorted(tmp_path.iterdir()) == [input, output]


def test_of_texts_without_words_nothing_changes(model_folder, tmp_path):
    input, output = tmp_path / "a.html", tmp_path / "b.html"
    input.write_text("<p>1 &nbsp; 2")

    translate(Task(model=model_folder.path, input=input, output=output))

    assert output.read_text() == input.read_text()


def test_a_document_that_cannot_be_read_leaves_nothing_behind(tmp_path):
    input, output = tmp_path / "a.docx", tmp_path / "b.docx"
    input.write_bytes(archive({"word/document.xml": "<"}))

    with pytest.raises(Exception, match="damaged"):
        translate_document(input, output, lambda texts: [], [])

    assert list(tmp_path.iterdir()) == [input]


def test_a_document_is_never_written_over_itself(tmp_path):
    (tmp_path / "a.docx").write_bytes(docx(WORDS))

    with pytest.raises(ConfigError, match="would destroy"):
        translate_document(tmp_path / "a.docx", tmp_path / "a.docx", lambda texts: [], [])


@pytest.mark.parametrize("wrong", [{"resume": True}, {"format": "tsv"}])
def test_what_is_of_lines_is_refused_for_a_document(tmp_path, wrong):
    (tmp_path / "a.md").write_text("a")

    with pytest.raises(ConfigError, match="a document is written whole"):
        Task(model=tmp_path, input=tmp_path / "a.md", output=tmp_path / "b.md", **wrong)


@pytest.mark.parametrize("kind", ARCHIVES)
def test_lines_neither_come_from_an_archive_nor_make_one(tmp_path, kind):
    (tmp_path / f"a{kind}").write_bytes(b"")
    with pytest.raises(ConfigError, match=rf"--input .*a{kind}: give a file of its kind"):
        Task(model=tmp_path, input=tmp_path / f"a{kind}", output=tmp_path / "b.txt")
    with pytest.raises(ConfigError, match=rf"--output .*b{kind}: give a file of its kind"):
        Task(model=tmp_path, texts=["a"], output=tmp_path / f"b{kind}")
