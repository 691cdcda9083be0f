import json
import re
import signal
import subprocess
import sys
import urllib.request
from contextlib import contextmanager

import pytest

from heedful.__main__ import main
from heedful.cli.serve import serve
from heedful.errors import ConfigError, MissingExtraError
from heedful.server.limits import Limits
from heedful.server.place import Place

COMMAND = [sys.executable, "-m", "heedful", "serve", "--port", "0", "--from", "en", "--to", "de"]


@contextmanager
def serving(folder, *options: str):
    """Run the command, and give its process and address."""
    process = subprocess.Popen(
        [*COMMAND, str(folder), *options], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    try:
        said = process.stdout.readline() + process.stdout.readline()
        found = re.search(r"Listening on (http://\S+),", said)
        assert found, said + process.stderr.read()
        yield process, found[1]
    finally:
        process.kill()
        process.communicate()


def ask(address: str, text: str) -> str:
    body = json.dumps({"q": text, "source": "en", "target": "de"}).encode()
    request = urllib.request.Request(
        f"{address}/translate", body, {"Content-Type": "application/json"}
    )
    with urllib.request.urlopen(request, timeout=30) as answer:
        return json.load(answer)["translatedText"]


@pytest.mark.slow
@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 143), (signal.SIGINT, 130)])
def test_it_serves_until_a_signal_and_ends_well(model_folder, translator_of, number, code):
    with serving(model_folder.path) as (process, address):
        assert ask(address, "a b") == translator_of(model_folder).translate("a b").text

        process.send_signal(number)

        assert process.wait(30) == code
        assert process.stderr.read() == ""


@pytest.fixture
def translator_of():
    from heedful.translation.translator import load

    return lambda folder: load(folder.path)


@pytest.mark.slow
def test_after_it_was_killed_it_serves_again(model_folder):
    for _ in range(2):
        with serving(model_folder.path) as (process, address):
            assert ask(address, "a b")
            process.kill()


def test_without_a_model_it_takes_the_one_that_comes_with_heedful(monkeypatch):
    asked = []

    def model_path(*named):
        asked.append(named)
        raise ConfigError("none")

    monkeypatch.setattr("heedful.cli.serve.model_path", model_path)

    with pytest.raises(ConfigError, match="none"):
        serve([], Limits(), Place(), None, ("", ""))
    assert asked == [()]


def test_what_is_not_installed_is_named(monkeypatch, tmp_path):
    monkeypatch.setattr("heedful.cli.serve.find_spec", lambda name: None)

    with pytest.raises(MissingExtraError, match=r"serving needs starlette.*heedful\[serve\]"):
        serve([tmp_path], Limits(), Place(), None, ("", ""))


def test_a_file_of_keys_that_is_not_there_is_said_before_the_work(tmp_path):
    with pytest.raises(ConfigError, match="no such file; make it with: heedful keys add"):
        serve([tmp_path], Limits(), Place(), tmp_path / "keys.json", ("", ""))


def test_keys_are_made_listed_and_removed(monkeypatch, capsys, tmp_path):
    file = str(tmp_path / "keys.json")

    def run(*arguments: str) -> str:
        monkeypatch.setattr("sys.argv", ["heedful", "keys", *arguments])
        main()
        return capsys.readouterr().out

    secret = run("add", file, "anna", "--characters-per-day", "1000").strip()
    listed = run("list", file)
    run("remove", file, "anna")

    assert secret.startswith("hf_")
    assert "anna" in listed
    assert "1,000" in listed
    assert secret not in listed
    assert "anna" not in run("list", file)
