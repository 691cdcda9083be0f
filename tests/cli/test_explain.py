"""`heedful explain`: a page, a picture, data, or a walk in the terminal."""

import json

import pytest

from heedful.__main__ import main


@pytest.fixture
def run(model_folder, monkeypatch, capsys):
    def run(*arguments: str) -> tuple[int, str, str]:
        monkeypatch.setattr("sys.argv", ["heedful", "explain", str(model_folder.path), *arguments])
        code = 0
        try:
            main()
        except SystemExit as ended:
            code = ended.code
        out, err = capsys.readouterr()
        return code, out, err

    return run


def test_without_a_file_the_walk_is_printed_sentence_by_sentence(run):
    code, out, _ = run("The one.\nThe other.")

    assert code == 0
    assert "\nThe one.\n  ->" in out
    assert "\nThe other.\n  ->" in out
    assert out.count("Step by step") == 2


def test_a_given_translation_is_read_instead(run):
    _, out, _ = run("a b", "--translation", "B A")

    assert "a b\n  -> B A\n" in out


def test_a_picture_and_data_are_written_for_a_sentence(run, tmp_path):
    run("a b c", "--out", str(tmp_path / "a.svg"))
    run("a b c", "--out", str(tmp_path / "a.json"))

    assert (tmp_path / "a.svg").read_text().startswith("<svg")
    assert json.loads((tmp_path / "a.json").read_text())["source"] == "a b c"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "there is no text; type: heedful explain MODEL"),
        (["a", "--open"], "--open shows a page; say where to write it"),
        (["a", "--out", "a.html", "--translation", "b"], "--translation is for the terminal"),
        (["The one.\nThe other.", "--translation", "b"], "is read with one sentence"),
    ],
)
def test_what_cannot_be_is_refused_in_a_line(run, arguments, message):
    code, _, err = run(*arguments)

    assert code == 2
    assert message in err
