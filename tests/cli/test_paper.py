"""`heedful paper` as one types it."""

import pytest

from heedful.__main__ import main


def run(monkeypatch, *arguments):
    monkeypatch.setattr("sys.argv", ["heedful", "paper", *arguments])
    main()


def test_a_table_is_shown_and_written(monkeypatch, tmp_path, capsys):
    run(monkeypatch, "schedule", "--out", str(tmp_path / "out"))

    shown = capsys.readouterr().out
    assert "The learning rate of equation 3" in shown
    assert "holds: The rate climbs linearly" in shown
    names = {path.name for path in (tmp_path / "out").iterdir()}
    assert names == {"heedful.txt", "schedule.md", "schedule.csv", "schedule.svg", "schedule.png"}


def test_without_a_name_all_are_listed(monkeypatch, capsys):
    run(monkeypatch)

    assert "worked-example" in capsys.readouterr().out


def test_an_unknown_name_is_one_line_and_exit_code_2(monkeypatch, tmp_path, capsys):
    with pytest.raises(SystemExit) as end:
        run(monkeypatch, "tabel1x", "--out", str(tmp_path / "out"))

    assert end.value.code == 2
    assert capsys.readouterr().err.count("\n") == 1
    assert not (tmp_path / "out").exists()
