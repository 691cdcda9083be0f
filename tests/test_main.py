"""How the program ends when it is interrupted: scripts go by its exit code."""

import signal
import subprocess
import sys

import pytest

from heedful.__main__ import main

INTERRUPTED_IN = """
import os, sys, time
from importlib import import_module
from heedful.__main__ import main

module, name, number = sys.argv.pop(1), sys.argv.pop(1), int(sys.argv.pop(1))

def interrupted(*_, **__):
    os.kill(os.getpid(), number)
    time.sleep(60)

owner = import_module(module)
*path, last = name.split(".")
for part in path:
    owner = getattr(owner, part)
setattr(owner, last, interrupted)
main()
"""


def listening_to_signals():
    """Let a process hear SIGINT, which one that is started in the background ignores."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


# Where each verb is when the signal comes.
VERBS = {
    "translate": ("heedful.translation.translator Translator.translate_lines", "--beam 1 a"),
    "evaluate": ("heedful.evaluation evaluate", "--source pairs.tsv --output out.txt"),
    "export": ("heedful.storage.folder ModelFolder.config", ""),
    "info": ("heedful.storage.folder ModelFolder.config", ""),
    "diversify": ("heedful.storage.folder ModelFolder.provenance", "BACKWARD --output more.tsv"),
    "train": ("heedful.runs.budget Stopwatch", "--source pairs.tsv"),
    "demo": ("heedful.data.embedded generate", "--out demo"),
}


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("verb", VERBS)
def test_a_verb_that_is_interrupted_says_so_to_scripts(verb, number, model_folder, tmp_path):
    where, options = VERBS[verb]
    (tmp_path / "pairs.tsv").write_text("a b\tA B\n" * 3)
    model = [] if verb in ("train", "demo") else [str(model_folder.path)]
    arguments = [*model, *options.replace("BACKWARD", str(tmp_path)).split()]

    done = subprocess.run(
        [sys.executable, "-c", INTERRUPTED_IN, *where.split(), str(number), verb, *arguments],
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
        preexec_fn=listening_to_signals,
    )

    assert done.returncode == 128 + number, done.stderr
    assert "Traceback" not in done.stderr
    assert not list(tmp_path.glob("**/*.partial"))


@pytest.mark.slow
def test_a_second_signal_ends_at_once(model_folder, tmp_path):
    (tmp_path / "long.txt").write_text("a b c d e f\n" * 200_000)
    files = ["--input", str(tmp_path / "long.txt"), "--output", str(tmp_path / "out.txt")]
    command = [sys.executable, "-m", "heedful", "translate", str(model_folder.path), *files]
    with subprocess.Popen(
        command, stderr=subprocess.PIPE, text=True, preexec_fn=listening_to_signals
    ) as process:
        while not (tmp_path / "out.txt.partial").exists():
            assert process.poll() is None
        process.send_signal(signal.SIGINT)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate()

    assert process.returncode == 130
    assert "Traceback" not in err


@pytest.mark.parametrize("arguments", [["--help"], ["--version"], ["translate", "--help"], []])
def test_who_has_seen_enough_of_the_help_may_close_the_pipe(arguments):
    command = [sys.executable, "-u", "-m", "heedful", *arguments]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        process.stdout.close()

        assert process.wait() == 141
        assert process.stderr.read() == b""


@pytest.mark.parametrize("option", [[], ["--beam", "1"]])
def test_who_has_seen_enough_may_close_the_pipe(model_folder, option):
    command = [sys.executable, "-m", "heedful", "translate", str(model_folder.path), *option]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        process.stdout.close()
        process.stdin.write(b"a b c\n" * 5_000)
        process.stdin.close()

        assert process.wait() == 141
        assert process.stderr.read() == b""


def test_languages_are_read_on_the_short_way_too(model_folder, monkeypatch, capsys):
    short = ["heedful", "translate", str(model_folder.path), "--to", "fr", "a b", "--from", "en"]
    long = [*short, "--beam", "4"]
    outputs = []
    for arguments in (short, long):
        monkeypatch.setattr("sys.argv", arguments)
        main()
        outputs.append(capsys.readouterr().out)

    assert outputs[0] == outputs[1] != ""


@pytest.mark.parametrize("odd", [["--to"], ["--to", "fr", "--to", "de", "--bogus"]])
def test_odd_options_are_answered_as_on_the_long_way(model_folder, monkeypatch, capsys, odd):
    monkeypatch.setattr("sys.argv", ["heedful", "translate", str(model_folder.path), *odd])

    with pytest.raises(SystemExit) as end:
        main()

    assert end.value.code == 2
    assert capsys.readouterr().err.count("\n") == 1
