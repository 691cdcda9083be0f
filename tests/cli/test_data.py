import pytest

from heedful.__main__ import main


@pytest.fixture
def heedful(monkeypatch, capsys):
    def run(*arguments: object) -> tuple[int, str, str]:
        monkeypatch.setattr("sys.argv", ["heedful", *map(str, arguments)])
        try:
            main()
            code = 0
        except SystemExit as end:
            code = end.code
        printed = capsys.readouterr()
        return code, printed.out, printed.err

    return run


def test_a_corpus_is_looked_at_without_training(heedful, tmp_path):
    (tmp_path / "a.tsv").write_text("one [b]two\tun deux\nParis\tParis\n2\t3\n\tx\n")

    code, out, _ = heedful("data", "check", tmp_path / "a.tsv", "--output", tmp_path / "odd.tsv")

    assert code == 0
    assert "4 pairs, 3 of them to train on" in out
    assert "Paris  |  Paris" in out
    assert sorted((tmp_path / "odd.tsv").read_text().splitlines()) == [
        "dropped\tempty\t\tx",
        "kept\tdigits\t2\t3",
        "kept\tequal\tParis\tParis",
    ]


def test_a_good_corpus_is_said_to_be_one(heedful, tmp_path):
    (tmp_path / "a.en").write_text("good morning\n")
    (tmp_path / "a.fr").write_text("bonjour\n")

    _, out, _ = heedful("data", "check", tmp_path / "a.en", tmp_path / "a.fr")

    assert "Nothing odd was found." in out


def test_what_is_read_is_not_written_over(heedful, tmp_path):
    (tmp_path / "a.tsv").write_text("one\tun\n")

    code, _, err = heedful("data", "check", tmp_path / "a.tsv", "-o", tmp_path / "a.tsv")

    assert code == 2
    assert err.count("\n") == 1
    assert (tmp_path / "a.tsv").read_text() == "one\tun\n"


def test_a_mistake_is_one_line(heedful, tmp_path):
    code, _, err = heedful("data", "check", tmp_path / "none.tsv")

    assert code == 2
    assert "none.tsv: no such file" in err
    assert err.count("\n") == 1
