"""What is left out for lack of a tool is said loudly, or is a failure where nothing may be."""

import pytest

from tools import browser, page_types


def test_what_is_skipped_is_said(capsys, monkeypatch):
    monkeypatch.delenv(browser.MUST_NOT_SKIP, raising=False)
    monkeypatch.setattr("shutil.which", lambda name: None)

    assert page_types.check() == 0

    assert "*** SKIPPED: the types of the page: node and npm are needed" in capsys.readouterr().err


def test_where_nothing_may_be_skipped_it_is_a_failure(monkeypatch):
    monkeypatch.setenv(browser.MUST_NOT_SKIP, "1")
    monkeypatch.setattr("shutil.which", lambda name: None)

    with pytest.raises(SystemExit, match="HEEDFUL_SKIP_NOTHING is set"):
        page_types.check()


def test_a_browser_that_cannot_be_set_up_is_said(capsys, monkeypatch):
    monkeypatch.delenv(browser.MUST_NOT_SKIP, raising=False)
    monkeypatch.setattr(browser, "find_browser", lambda: None)
    commands = []
    monkeypatch.setattr(browser, "run", lambda command: commands.append(command))
    monkeypatch.setattr("shutil.which", lambda name: None)

    browser.set_up()

    assert [command[1:4] for command in commands] == [["-m", "playwright", "install"]]
    assert "*** SKIPPED: the tests of the page" in capsys.readouterr().err
