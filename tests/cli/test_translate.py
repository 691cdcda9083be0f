import errno
import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from heedful.cli.translate import Task, translate
from heedful.decoding.hypothesis import Hypothesis
from heedful.errors import ConfigError, CorpusError, StoppedError
from heedful.storage import partial_file
from heedful.text.glossary import Glossary
from heedful.translation import translator as translator_module
from heedful.translation.files import translate_file
from heedful.translation.options import Options
from heedful.translation.translator import CHUNK, Translator
from tests.conftest import SilentEngine

HEAVY = {"torch", "transformers", "numpy", "sacrebleu", "typer", "rich", "pydantic", "tensorboard"}


@pytest.mark.slow
def test_a_sentence_is_translated_without_importing_anything_heavy(model_folder):
    code = "import sys; from heedful.__main__ import main; main(); print(*sys.modules)"
    arguments = ["translate", str(model_folder.path), "a b c"]

    done = subprocess.run(
        [sys.executable, "-c", code, *arguments], capture_output=True, text=True, check=True
    )

    modules = set(done.stdout.rstrip("\n").split("\n")[-1].split(" "))
    assert {"ctranslate2", "sentencepiece"} <= modules
    assert not HEAVY & modules


class Interrupted(BaseException):
    pass


@pytest.fixture
def files(tmp_path) -> tuple[Path, Path]:
    """A file of 3,000 lines to translate, and where the translation goes."""
    source = tmp_path / "in.txt"
    source.write_text("".join(f"line {number}\n" for number in range(3_000)))
    return source, tmp_path / "out.txt"


def shout(lines: Iterable[str]) -> Iterator[str]:
    return (line.upper() for line in lines)


def shout_until(stop: int) -> Callable[[Iterable[str]], Iterator[str]]:
    """Be killed after so many lines, as by a power cut: nothing is tidied up."""

    def translated(lines: Iterable[str]) -> Iterator[str]:
        for number, line in enumerate(lines):
            if number == stop:
                raise Interrupted
            yield line.upper()

    return translated


SHOUTED = "".join(f"LINE {number}\n" for number in range(3_000))


def test_a_file_is_translated_to_a_file_and_nothing_else_is_left(files):
    translate_file(*files, shout, {})

    assert files[1].read_text() == SHOUTED
    assert {path.name for path in files[1].parent.iterdir()} == {"in.txt", "out.txt"}


@pytest.mark.parametrize("stop", [0, 10, 511, 512, 1_500, 2_999])
def test_an_interrupted_translation_goes_on_where_it_stopped(files, monkeypatch, stop):
    monkeypatch.setattr(partial_file, "SECONDS_BETWEEN_NOTES", -1)
    with pytest.raises(Interrupted):
        translate_file(*files, shout_until(stop), {})
    assert not files[1].exists()
    seen: list[str] = []

    translate_file(*files, lambda lines: shout(_noting(lines, seen)), {}, resume=True)

    assert files[1].read_text() == SHOUTED
    assert len(seen) == 3_000 - stop // CHUNK * CHUNK


def test_what_a_power_cut_left_beyond_what_is_noted_is_not_in_the_output(files, monkeypatch):
    monkeypatch.setattr(partial_file, "SECONDS_BETWEEN_NOTES", -1)
    with pytest.raises(Interrupted):
        translate_file(*files, shout_until(1_024), {})
    with files[1].with_name("out.txt.partial").open("a") as partial:
        partial.write("\0" * 100_000)

    translate_file(*files, shout, {}, resume=True)

    assert files[1].read_text() == SHOUTED


def _noting(lines: Iterable[str], seen: list[str]) -> Iterator[str]:
    for line in lines:
        seen.append(line)
        yield line


def test_a_request_to_stop_is_met_after_the_chunk_and_says_how_to_go_on(files):
    def translated(lines: Iterable[str]) -> Iterator[str]:
        for number, line in enumerate(lines):
            if number == 700:
                os.kill(os.getpid(), signal.SIGINT)
            yield line.upper()

    with pytest.raises(StoppedError, match=r"stopped after 1,024 of 3,000 lines; .* --resume"):
        translate_file(*files, translated, {})
    translate_file(*files, shout, {}, resume=True)

    assert files[1].read_text() == SHOUTED


def test_nothing_to_go_on_with_is_begun(files):
    translate_file(*files, shout, {}, resume=True)

    assert files[1].read_text() == SHOUTED


def test_without_resume_it_begins_anew(files):
    with pytest.raises(Interrupted):
        translate_file(*files, shout_until(2_000), {})

    translate_file(*files, shout, {})

    assert files[1].read_text() == SHOUTED


def test_other_settings_are_not_gone_on_with(files):
    with pytest.raises(Interrupted):
        translate_file(*files, shout_until(10), {"--beam": 4})

    with pytest.raises(ConfigError, match=r"out.txt was begun with --beam 4, and now it is 1; .*"):
        translate_file(*files, shout, {"--beam": 1}, resume=True)


def test_another_input_is_not_gone_on_with(files):
    with pytest.raises(Interrupted):
        translate_file(*files, shout_until(10), {})
    with files[0].open("a") as file:
        file.write("one more\n")

    with pytest.raises(ConfigError, match=r"out.txt was begun with --input \w+, and now it is"):
        translate_file(*files, shout, {}, resume=True)


@pytest.mark.parametrize("change", [lambda path: path.unlink(), lambda path: path.write_text("x")])
def test_a_damaged_part_is_not_gone_on_with(files, monkeypatch, change):
    monkeypatch.setattr(partial_file, "SECONDS_BETWEEN_NOTES", -1)
    with pytest.raises(Interrupted):
        translate_file(*files, shout_until(2_000), {})
    change(files[1].with_name("out.txt.partial"))

    with pytest.raises(
        ConfigError, match=r"partial: damaged or gone; remove .*progress.json to begin anew"
    ):
        translate_file(*files, shout, {}, resume=True)


@pytest.mark.parametrize(
    "note",
    [
        "[]",
        "x",
        "[" * 100_000,
        '{"bytes": 0}',
        '{"about": 1}',
        '{"inputs": Infinity, "bytes": 0}',
        '{"inputs": -5, "bytes": 0}',
        '{"inputs": 1e30, "bytes": 0}',
        '{"inputs": 1, "bytes": 1.0}',
        '{"inputs": 1, "bytes": 999999}',
    ],
)
def test_damaged_notes_are_not_gone_on_with(files, note):
    with pytest.raises(Interrupted):
        translate_file(*files, shout_until(10), {})
    with files[1].with_name("out.txt.progress.json").open("a") as notes:
        notes.write(f"{note}\n")

    with pytest.raises(ConfigError, match=r"partial: damaged or gone; remove"):
        translate_file(*files, shout, {}, resume=True)


def test_a_note_that_was_cut_off_is_passed_over(files):
    with pytest.raises(Interrupted):
        translate_file(*files, shout_until(10), {})
    with files[1].with_name("out.txt.progress.json").open("a") as notes:
        notes.write('{"inputs": 5, "byt')

    translate_file(*files, shout, {}, resume=True)

    assert files[1].read_text() == SHOUTED


def test_an_error_leaves_nothing_half_written(files):
    def refuse(lines: Iterable[str]) -> Iterator[str]:
        yield next(iter(lines))
        raise ConfigError("no")

    with pytest.raises(ConfigError):
        translate_file(*files, refuse, {})

    assert [path.name for path in files[1].parent.iterdir()] == ["in.txt"]


def test_to_go_on_there_must_be_files(tmp_path):
    with pytest.raises(ConfigError, match="--resume needs --input and --output, both of them file"):
        Task(model=tmp_path, texts=["a"], resume=True)


def test_a_terminal_is_shown_how_far_it_is(files, monkeypatch, capsys):
    monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)

    translate_file(*files, shout, {})

    shown = capsys.readouterr().err
    assert "3000/3000" in shown
    assert re.search(r"\d:\d\d:\d\d", shown)  # the time left, and in the end the time taken


def test_a_file_begun_with_a_variant_of_an_engine_goes_on_with_no_other(
    model_folder, tmp_path, monkeypatch
):
    source, output = tmp_path / "in.txt", tmp_path / "out.txt"
    source.write_text("a b\n" * 3)
    monkeypatch.setattr("heedful.cli.translate.written", _fail)
    with pytest.raises(ZeroDivisionError):
        translate(Task(model=model_folder.path, input=source, output=output, engine="exact"))

    with pytest.raises(ConfigError, match=r"begun with engine exact, and now it is CTranslate2Eng"):
        translate(Task(model=model_folder.path, input=source, output=output, resume=True))


@pytest.mark.parametrize(
    ("options", "changed"),
    [
        (Options(alpha=0.5), "--alpha 0.6, and now it is 0.5"),
        (Options(n_best=2), "--n-best 1, and now it is 2"),
        (Options(prefix="A"), "--prefix , and now it is A"),
        (Options(glossary=Glossary({"a": "b"})), r"--glossary None, and now it is \w{16}"),
    ],
)
def test_a_file_goes_on_with_the_same_options_alone(
    model_folder, tmp_path, monkeypatch, options, changed
):
    source, output = tmp_path / "in.txt", tmp_path / "out.txt"
    source.write_text("a b\n" * 3)
    task = Task(model=model_folder.path, input=source, output=output)
    with monkeypatch.context() as broken:
        broken.setattr("heedful.cli.translate.written", _fail)
        with pytest.raises(ZeroDivisionError):
            translate(task)

    with pytest.raises(ConfigError, match=f"begun with {changed}"):
        translate(replace(task, options=options, resume=True))
    translate(replace(task, resume=True))

    assert output.read_text().count("\n") == 3


def _fail(*arguments):
    raise ZeroDivisionError


class Echo(SilentEngine):
    def search(self, sources, config, **options):
        return [[Hypothesis(tuple(source), -1.0)] for source in sources]


def test_no_more_than_a_few_chunks_of_a_stream_are_held(model_folder, monkeypatch):
    monkeypatch.setattr(translator_module, "CHUNK", 4)
    taken: list[str] = []
    lines = _noting(("a b" for _ in range(100)), taken)

    translations = Translator(model_folder.tokenizer(), Echo()).translate_lines(lines)

    ahead = [len(taken) - done for done, _ in enumerate(translations)]
    assert len(ahead) == 100
    assert max(ahead) <= 4 * 4


def test_a_folder_is_refused_as_output_before_the_work(files, tmp_path):
    with pytest.raises(ConfigError, match="is a folder; name a file to write"):
        translate_file(files[0], tmp_path, lambda lines: pytest.fail("it began"), {})


def test_a_disk_that_is_full_loses_no_translations(files, monkeypatch):
    monkeypatch.setattr(partial_file, "SECONDS_BETWEEN_NOTES", -1)
    sync, room = os.fsync, iter(range(7))

    def full(file):
        if next(room, None) is None:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        sync(file)

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(ConfigError, match=r"out.txt: cannot be written, No space left on device"):
        translate_file(*files, shout, {})
    monkeypatch.setattr("os.fsync", sync)
    seen: list[str] = []

    translate_file(*files, lambda lines: shout(_noting(lines, seen)), {}, resume=True)

    assert files[1].read_text() == SHOUTED
    assert len(seen) == 3_000 - 2 * CHUNK


def test_an_input_that_shrinks_while_it_is_read_is_an_error(files):
    input, output = files

    def translated(lines):
        input.write_text("only this\n")
        yield from lines

    with pytest.raises(CorpusError, match=r"had 3,000 lines and now has 1: it was changed"):
        translate_file(input, output, translated, {})

    assert not output.exists()
    assert not output.with_name(f"{output.name}.partial").exists()
