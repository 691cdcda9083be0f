import io
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import threading
from collections import Counter
from pathlib import Path

import pytest
import typer.main

from heedful.__main__ import main
from heedful.cli.app import app
from heedful.runs.recipe import known_recipes
from heedful.translation.translator import load


@pytest.fixture
def heedful(monkeypatch, capsys):
    """Run the command line in this process; return its exit code, output and errors."""

    def run(*arguments: object, stdin: bytes | None = None):
        monkeypatch.setattr("sys.argv", ["heedful", *map(str, arguments)])
        if stdin is not None:
            monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(stdin)))
        try:
            main()
            code = 0
        except SystemExit as end:
            code = end.code
        printed = capsys.readouterr()
        return code, printed.out, printed.err

    return run


def test_the_verbs_and_their_options_are_these():
    """Frozen: a change here is a change for every user, and belongs in the changelog."""
    commands = typer.main.get_command(app).commands
    options = {
        name: {option for parameter in command.params for option in parameter.opts}
        for name, command in commands.items()
    }

    assert options == {
        "train": {
            "files", "--source", "--target", "--out", "--recipe", "--valid-source",
            "--valid-target", "--minutes", "--from", "--to", "--data",
            "--mix",
        },
        "pack": {"model", "--output", "-o", "--with-weights", "--with-examples", "--small"},
        "translate": {
            "model", "text", "--input", "-i", "--output", "-o", "--beam", "--alpha", "--engine",
            "--fast", "--n-best", "--glossary", "--replace-invalid", "--format", "--interactive",
            "--prefix", "--temperature", "--top-k", "--top-p", "--seed", "--resume", "--from",
            "--to",
        },
        "evaluate": {
            "model", "--source", "--target", "--beam", "--alpha", "--engine", "--fast",
            "--tokenize", "--output", "-o", "--from", "--to",
        },
        "diversify": {"model", "backward", "--output", "-o", "--resume"},
        "explain": {"model", "text", "--out", "--translation", "--to", "--open"},
        "export": {"model", "--format"},
        "info": {"model"},
        "serve": {
            "models", "--host", "--port", "--from", "--to", "--keys", "--allow-origin",
            "--proxy-headers", "--alternatives", "--batch", "--beam", "--cache", "--characters",
            "--file", "--seconds", "--waiting",
        },
        "keys": set(),
        "data": set(),
        "models": set(),
        "paper": {
            "name", "--minutes", "--model", "--out", "--seeds", "--size", "--source", "--target",
            "--text", "--trees", "--valid-source", "--valid-target",
        },
        "demo": {"--locale", "--out"},
    }  # fmt: skip


@pytest.mark.parametrize(
    "verb", ["train", "translate", "evaluate", "explain", "export", "pack", "info", "demo"]
)
def test_help_teaches_by_example(heedful, verb):
    code, out, _ = heedful(verb, "--help")

    assert code == 0
    assert out.count(f"heedful {verb} ") >= 2  # the usage line, and an example


def test_the_help_of_train_lists_every_recipe_and_how_long_what_takes(heedful):
    _, out, _ = heedful("train", "--help")

    assert out.split("Usage: ")[1].splitlines()[0].strip() == "heedful train [OPTIONS]"
    told = " ".join(out.replace("│", " ").split())
    assert all(f"{name}" in told.split("--recipe ")[-1] for name in known_recipes())
    assert "BLEU 40 with --minutes 30" in told


def test_words_without_quotes_are_translated_and_it_is_said_that_they_are_several_texts(
    heedful, model_folder
):
    _, out, err = heedful("translate", model_folder.path, "Good", "morning")

    assert out.count("\n") == 2
    assert "2 texts of one word each were translated one by one" in err
    assert '"Good morning"' in err
    for several in (["Good morning", "all"], ["Good"]):
        assert "in quotes" not in heedful("translate", model_folder.path, *several)[2]


def test_a_file_named_as_a_text_is_told(heedful, model_folder, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "letters.en").write_text("a b\n")

    assert heedful("translate", model_folder.path, "letters.en")[2].startswith(
        "heedful: 'letters.en' was translated as a text; for what is in that file: --input letters"
    )
    assert "--input" not in heedful("translate", model_folder.path, "letters.fr")[2]


def test_text_in_letters_that_the_model_does_not_know_is_told(heedful, model_folder):
    _, out, err = heedful("translate", model_folder.path, "Привет, мир", "Да нет")

    assert out == "Привет, мир\nДа нет\n"
    assert "2 texts stay as they are: the model knows none of the letters (script)" in err


def test_a_model_is_packed_and_it_is_said_how_to_use_it(heedful, model_folder, tmp_path):
    code, out, err = heedful("pack", model_folder.path, "--output", tmp_path / "given.zip")

    assert (code, err) == (0, "")
    assert f"Packed: {tmp_path / 'given.zip'}, " in out
    assert f'unzip {tmp_path / "given.zip"} && heedful translate given "..."' in out


def test_the_version_is_printed(heedful):
    from heedful import __version__

    assert heedful("--version") == (0, f"heedful {__version__}\n", "")


def test_shell_completion_is_offered(heedful):
    _, out, _ = heedful("--help")

    assert "--install-completion" in out


@pytest.mark.slow
@pytest.mark.parametrize("verb", ["--help", "train", "translate", "evaluate", "info", "demo"])
def test_help_imports_nothing_heavy(verb):
    code = (
        "import sys; sys.argv = ['heedful', *sys.argv[1:]]\n"
        "from heedful.__main__ import main\n"
        "try:\n    main()\n"
        "finally:\n"
        "    print(sorted({'torch', 'numpy', 'sentencepiece', 'sacrebleu'} & set(sys.modules)))"
    )

    done = subprocess.run(
        [sys.executable, "-c", code, verb, "--help"], capture_output=True, text=True, check=True
    )

    assert done.stdout.splitlines()[-1] == "[]"


def test_two_files_in_a_translator_out(heedful, corpus, recipe_file, tmp_path):
    model = tmp_path / "model"
    files = ["--source", corpus["source"], "--target", corpus["target"]]

    options = ["--out", model, "--recipe", recipe_file, "--from", "en", "--to", "fr"]
    code, out, err = heedful("train", *files, *options)
    assert (code, err) == (0, "")
    assert "78 of 80 pairs kept; dropped 2 seen before; 74 to train on, 4 to validate" in out
    assert "Verdict (languages: en to fr): not usable yet: most sentences are wrong" in " ".join(
        out.split()
    )
    assert len(re.findall(r"^    = ", out, re.MULTILINE)) == 3
    assert re.search(r"^  training/ .*holds your text; delete it before you", out, re.MULTILINE)
    assert re.search(r"step 6: BLEU \d+\.\d, validation perplexity", out)

    code, out, _ = heedful("translate", model, "a b c", "d e")
    assert code == 0
    assert out.count("\n") == 2

    code, out, _ = heedful("evaluate", model, *files)
    assert code == 0
    assert re.search(r"BLEU +\d+\.\d\d +nrefs:1\|case:mixed", out)
    assert "exact match" in out

    code, out, _ = heedful("info", model)
    assert code == 0
    assert "train.low, train.up" in out
    assert re.search(r"languages +en to fr +\n", out)
    assert "| languages | en to fr |" in (model / "README.md").read_text()
    assert "1+1 layers, d_model 16" in out


def test_a_pipe_keeps_its_lines_in_order_blank_ones_too(heedful, model_folder):
    code, out, _ = heedful("translate", model_folder.path, "--beam", 1, stdin=b"a b\n\nc d\n")

    lines = out.split("\n")
    assert code == 0
    assert len(lines) == 4
    assert lines[1] == ""


def test_a_file_is_translated_to_a_file(heedful, model_folder, tmp_path):
    (tmp_path / "in.txt").write_text("a b\nc d\n")

    code, out, _ = heedful(
        "translate", model_folder.path, "-i", tmp_path / "in.txt", "-o", tmp_path / "out.txt"
    )

    assert (code, out) == (0, "")
    assert (tmp_path / "out.txt").read_text().count("\n") == 2


def test_the_n_best_come_with_their_scores_best_first(heedful, model_folder):
    code, out, _ = heedful("translate", model_folder.path, "a b", "--n-best", 3)

    scores = [float(line.split("\t")[0]) for line in out.rstrip("\n").split("\n")]
    assert code == 0
    assert len(scores) == 3
    assert scores == sorted(scores, reverse=True)


def test_a_row_of_a_table_tells_source_translation_score_confidence_alignment_and_flags(
    heedful, model_folder
):
    code, out, _ = heedful("translate", model_folder.path, "a\tb", "", "--format", "tsv")

    first, blank = (line.split("\t") for line in out.removesuffix("\n").split("\n"))
    source, _, score, confidence, alignment, _ = first
    assert code == 0
    assert source == "a b"
    assert float(score) < 0 <= float(confidence) < 1
    assert re.fullmatch(r"(\d+-\d+ ?)*", alignment)
    assert blank == ["", "", "0.0000", "1.0000", "", ""]


def test_a_line_of_json_tells_all(heedful, model_folder):
    _, out, _ = heedful(
        "translate", model_folder.path, "a b c", "d", "--format", "jsonl", "--n-best", 4
    )

    first, second = map(json.loads, out.splitlines())
    assert list(first) == [
        "source", "text", "score", "confidence", "flags", "source_words", "words", "alignment",
        "alternatives",
    ]  # fmt: skip
    assert first["source_words"] == ["a", "b", "c"]
    assert len(first["alternatives"]) == 3
    assert [word for _, word in second["alignment"]] == list(range(len(second["words"])))


def test_a_prefix_and_a_seed_are_heeded(heedful, model_folder):
    _, out, _ = heedful("translate", model_folder.path, "a b c", "--prefix", "B A ")
    assert out.startswith("B A")

    drawn = ("translate", model_folder.path, "a b c", "--temperature", 0.7, "--top-k", 9)
    first, *others = (heedful(*drawn, "--seed", seed)[1] for seed in (1, 1, 2, 3, 4))
    assert first == others[0]
    assert any(other != first for other in others[1:])

    code, _, err = heedful(*drawn, "--seed", -1)
    assert (code, err) == (2, "heedful: seed must be from 0 to 4294967295, got -1\n")


def test_lines_that_want_a_look_are_counted_at_the_end(heedful, model_folder, tmp_path):
    (tmp_path / "in.txt").write_text("a b c\nd e\n")
    asked = ("translate", model_folder.path, "--input", tmp_path / "in.txt", "--beam", 1)

    _, out, err = heedful(*asked)

    flags = [line.split("\t")[5] for line in heedful(*asked, "--format", "tsv")[1].splitlines()]
    counts = Counter(" ".join(flags).split())
    assert len(out.splitlines()) == 2
    assert counts  # a model that was hardly trained does not know when to end
    assert all(f"{flag} {number}" in err for flag, number in counts.items())
    assert "--format tsv says which" in err


def test_a_model_is_exported_anew(heedful, model_folder, tmp_path):
    copy = shutil.copytree(model_folder.path, tmp_path / "copy")
    before = heedful("translate", copy, "a b c")[:2]
    shutil.rmtree(copy / "ctranslate2")

    code, _, _ = heedful("export", copy)

    assert code == 0
    assert (copy / "ctranslate2" / "model.bin").exists()
    assert heedful("translate", copy, "a b c", "--engine", "ctranslate2")[:2] == before


def test_a_conversation_goes_on_until_one_leaves(heedful, model_folder, monkeypatch):
    said = iter(["a b", ":words", ":1", ":99", "", ":help"])
    monkeypatch.setattr("builtins.input", lambda *_: next(said, None) or _leave(said))

    code, out, err = heedful("translate", model_folder.path, "--interactive")

    assert (code, err) == (0, "")
    assert " ".join(out.split()).count("Ctrl-D leaves") == 3  # at first, for :99 and for :help
    document = json.loads(heedful("translate", model_folder.path, "a b", "--format", "jsonl")[1])
    others = load(model_folder.path)
    found = others.alternatives(others.translate("a b", details=True), 0)
    assert document["text"] in out
    for number, word in enumerate(document["words"], start=1):
        assert re.search(rf"^(?:> )?{number} +{re.escape(word['text'][:20])}", out, re.MULTILINE)
    assert found
    assert all(re.search(rf"^(?:> )?{re.escape(it.word)}  ", out, re.MULTILINE) for it in found)


def _leave(said):
    if said.__length_hint__():
        return ""
    raise EOFError


def test_the_recipe_beside_the_model_repeats_the_run(heedful, model_folder, tmp_path):
    """Everything that was decided is in recipe.toml: the same weights come out again."""
    code, _, _ = heedful("train", "--recipe", model_folder.recipe_file, "--out", tmp_path / "again")

    assert code == 0
    again = (tmp_path / "again" / "model.safetensors").read_bytes()
    assert again == model_folder.weights_file.read_bytes()


BAD = {
    "no such format": (
        ["translate", "nowhere", "x", "--format", "xml"],
        "format must be one of 'text', 'tsv', 'jsonl', got 'xml'",
    ),
    "no such chance": (
        ["translate", "nowhere", "x", "--top-p", "2"],
        "top_p must be above 0 and at most 1, got 2.0",
    ),
    "no such model": (["translate", "nowhere", "x"], "nowhere: no such model folder"),
    "a name of two lines": (["export", "no\nwhere"], "no\\nwhere: no such model folder"),
    "no such corpus": (["train", "--source", "no.en", "--target", "no.de"], "no.en: no such file"),
    "no corpus": (["train"], "default, [data]: source is missing"),
    "no such recipe": (["train", "--recipe", "papre"], "papre: no such recipe file"),
    "no minutes": (
        ["train", "--source", "a.tsv", "--minutes", "-3"],
        "minutes must be a number above 0, got -3",
    ),
    "no such locale": (["demo", "--locale", "xx"], "unknown locale 'xx'"),
    "no such verb": (["trans"], "No such command 'trans'. Did you mean 'train', 'translate'?"),
    "no such option": (
        ["translate", "m", "--bogus"],
        "No such option: --bogus; text that begins with - goes after --; see: heedful translate",
    ),
    "no model": (["export"], "Missing argument 'MODEL'; see: heedful export --help"),
    "no number": (["train", "--minutes", "x"], "Invalid value for '--minutes'"),
    "two files without names": (
        ["train", "a b.en", "a.fr", "--minutes", "5"],
        "'a b.en' is given without saying what it is; "
        "type: heedful train --source 'a b.en' --target a.fr\n",
    ),
    "a TSV without a name": (
        ["train", "a.tsv"],
        "'a.tsv' is given without saying what it is; type: heedful train --source a.tsv\n",
    ),
    "text with a minus": (
        ["translate", "m", "-5 days"],
        "No such option: -5; text that begins with - goes after --; see: heedful translate",
    ),
    "text like an option": (
        ["translate", "m", "-i am here"],
        "'-i am here' would be read as the option -i; text that begins with - goes after --\n",
    ),
    "several draws": (
        ["translate", "m", "a", "--temperature", "0.8", "--n-best", "3"],
        "sampling (by temperature, top_k, top_p or seed) draws one translation, and takes no "
        "n_best = 3; for another one, draw again with another seed\n",
    ),
    "no such test set": (["evaluate", "nowhere", "--source", "t.tsv"], "t.tsv: no such file"),
}


@pytest.mark.parametrize(("arguments", "message"), BAD.values(), ids=BAD)
def test_a_mistake_is_one_line_on_stderr_and_exit_code_2(
    heedful, tmp_path, monkeypatch, arguments, message
):
    monkeypatch.chdir(tmp_path)

    code, _, err = heedful(*arguments)

    assert code == 2
    assert err.startswith(f"heedful: {message}")
    assert err.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


def test_without_a_verb_the_help_is_shown(heedful):
    code, out, err = heedful()

    assert code == 2
    assert "translate" in out + err
    assert "heedful: " not in err


@pytest.mark.timeout(120)
def test_a_line_that_is_piped_in_is_answered_before_the_next_is_written(model_folder):
    command = [sys.executable, "-m", "heedful", "translate", str(model_folder.path)]
    alone = subprocess.run([*command, "a b c"], capture_output=True, check=True).stdout
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        for _ in range(3):
            process.stdin.write(b"a b c\n")
            process.stdin.flush()

            assert process.stdout.readline() == alone
        process.stdin.close()

        assert process.stdout.read() == b""
        assert process.wait() == 0


@pytest.mark.parametrize("fixed", [["--seed", "1"], ["--fast"]])
def test_where_company_shows_the_pipe_does_not_choose_it(heedful, model_folder, monkeypatch, fixed):
    from heedful.translation.translator import Translator

    seen = []
    monkeypatch.setattr(
        Translator, "translate_lines", lambda _, lines, options: seen.extend(lines) or []
    )

    heedful("translate", model_folder.path, *fixed, stdin=b"a\nb\n")
    heedful("translate", model_folder.path, stdin=b"c\n")

    assert seen == ["a", "b", "c", None]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no disk that is always full")
def test_output_that_cannot_be_written_is_one_line(model_folder):
    command = [sys.executable, "-m", "heedful", "translate", str(model_folder.path), "a b c"]
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, check=False)

    assert done.returncode == 2
    assert done.stderr == b"heedful: the output cannot be written, No space left on device\n"


def test_a_program_may_be_started_without_standard_streams(model_folder, tmp_path):
    out = tmp_path / "out.txt"
    heedful = (
        f"{shlex.quote(sys.executable)} -m heedful translate {shlex.quote(str(model_folder.path))}"
    )

    told = subprocess.run(f"{heedful} '' >&- <&-", shell=True, capture_output=True, check=False)
    read = subprocess.run(
        f"{heedful} -o {shlex.quote(str(out))} <&-", shell=True, capture_output=True, check=False
    )

    assert (told.returncode, told.stderr) == (0, b"")
    assert (read.returncode, read.stderr, out.read_bytes()) == (0, b"", b"")


def test_a_link_stays_a_link_to_the_file_that_is_written(heedful, model_folder, tmp_path):
    (tmp_path / "file").write_text("old")
    (tmp_path / "link").symlink_to(tmp_path / "file")

    (tmp_path / "in").write_text("a b\n")

    for text in ["a b"], ["-i", tmp_path / "in"]:
        code, _, _ = heedful("translate", model_folder.path, *text, "-o", tmp_path / "link")

        assert code == 0
        assert (tmp_path / "link").is_symlink()
        assert (tmp_path / "file").read_text() not in ("", "old")
        (tmp_path / "file").write_text("old")


def test_invalid_input_is_replaced_on_request_and_all_else_comes_back(heedful, model_folder):
    stdin = b"\xff\r\n\0\n \t\n"

    code, out, _ = heedful("translate", model_folder.path, "--replace-invalid", stdin=stdin)

    assert (code, out) == (0, "\ufffd\r\n\0\n \t\n")


def test_a_glossary_fixes_how_terms_are_translated(heedful, model_folder, tmp_path):
    (tmp_path / "terms.tsv").write_text("b\tB_E\n")

    code, out, _ = heedful(
        "translate", model_folder.path, "a b c", "--glossary", tmp_path / "terms.tsv"
    )

    assert code == 0
    assert "B_E" in out


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no named pipes")
@pytest.mark.timeout(60)
def test_a_glossary_may_be_a_pipe_which_can_be_read_only_once(heedful, model_folder, tmp_path):
    (tmp_path / "in").write_text("a b c\n")
    os.mkfifo(tmp_path / "terms.tsv")
    writer = threading.Thread(target=(tmp_path / "terms.tsv").write_text, args=("b\tB_E\n",))
    writer.start()

    code, _, _ = heedful(
        *("translate", model_folder.path, "--glossary", tmp_path / "terms.tsv"),
        *("-i", tmp_path / "in", "-o", tmp_path / "out"),
    )

    writer.join()
    assert code == 0
    assert "B_E" in (tmp_path / "out").read_text()


def test_invalid_input_is_named_by_line(heedful, model_folder, tmp_path):
    code, _, err = heedful(
        "translate", model_folder.path, "-o", tmp_path / "o", stdin=b"ok\n\xff\n"
    )

    assert code == 2
    assert "standard input, line 2, byte 1: 0xff is not valid UTF-8; convert" in err
    assert "or give --replace-invalid" in err
    assert not list(tmp_path.iterdir())


def test_more_candidates_than_the_beam_keeps_are_refused(heedful, model_folder):
    code, _, err = heedful("translate", model_folder.path, "a", "--n-best", 9)

    assert code == 2
    assert err == (
        "heedful: n_best must be from 1 to the beam's 4, got 9; for more, take a larger beam\n"
    )


def test_an_impossible_beam_is_called_so(heedful, model_folder):
    _, _, err = heedful("translate", model_folder.path, "a", "--beam", 0)

    assert err == "heedful: beam_size must be from 1 to 1,000, got 0\n"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--interactive", "-o", "x"], "--interactive goes without --output, --format and --n-b"),
        (["--interactive", "--n-best", "2"], "--interactive goes without --output, --format"),
        (["a", "--format", "tsv", "--n-best", "2"], "--format tsv has a row for each line; for"),
    ],
)
def test_options_that_would_do_nothing_are_refused(heedful, model_folder, options, message):
    code, _, err = heedful("translate", model_folder.path, *options)

    assert code == 2
    assert err.startswith(f"heedful: {message}")


def test_text_and_a_file_at_once_are_refused(heedful, model_folder, tmp_path):
    code, _, err = heedful("translate", model_folder.path, "a", "-i", tmp_path / "in.txt")

    assert (code, err) == (
        2,
        "heedful: of text, --input and --interactive only one can be; choose one\n",
    )


def test_text_that_is_not_unicode_is_refused(heedful, model_folder):
    code, _, err = heedful("translate", model_folder.path, "a\udcff")

    assert (code, err) == (2, "heedful: 'a\\udcff' is not valid Unicode text; is it UTF-8?\n")


def test_a_folder_or_a_device_is_not_replaced_by_the_output(heedful, model_folder, tmp_path):
    code, _, err = heedful("translate", model_folder.path, "a", "-o", tmp_path)
    assert code == 2
    assert f"{tmp_path} is a folder; name a file to write" in err

    assert heedful("translate", model_folder.path, "a", "-o", "/dev/null")[0] == 0
    assert Path("/dev/null").is_char_device()


@pytest.mark.parametrize(
    ("output", "problem"), [("", "is a folder; name a file"), ("no/a", "cannot be written, No")]
)
def test_an_output_of_scoring_is_refused_before_the_work(
    heedful, model_folder, tmp_path, monkeypatch, output, problem
):
    from heedful.translation.translator import Translator

    monkeypatch.setattr(Translator, "translate", lambda *_, **__: pytest.fail("it translates"))
    (tmp_path / "t.tsv").write_text("a\tA\n")

    code, out, err = heedful(
        "evaluate", model_folder.path, "--source", tmp_path / "t.tsv", "-o", tmp_path / output
    )

    assert (code, out) == (2, "")
    assert problem in err


def test_an_unknown_bleu_tokenizer_is_refused_before_the_work(heedful, model_folder, tmp_path):
    (tmp_path / "t.tsv").write_text("a\tA\n")

    code, _, err = heedful(
        "evaluate", model_folder.path, "--source", tmp_path / "t.tsv", "--tokenize", "13b"
    )

    assert code == 2
    assert "unknown BLEU tokenizer '13b'; did you mean '13a'?" in err


@pytest.mark.parametrize("verb", ["train", "demo"])
def test_training_without_its_extra_says_what_to_install(heedful, monkeypatch, verb):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)

    code, _, err = heedful(verb)

    assert code == 2
    assert err == (
        "heedful: training needs torch; install it: pip install 'heedful[train]', "
        "or in a clone of the repository: make setup\n"
    )


def test_nowhere_to_write_is_refused(heedful, model_folder, tmp_path):
    code, _, err = heedful("translate", model_folder.path, "a", "-o", tmp_path / "no" / "out.txt")

    assert code == 2
    assert "out.txt: cannot be written, No such file or directory" in err


def test_no_text_at_all_is_refused(heedful, model_folder, monkeypatch):
    monkeypatch.setattr("sys.stdin", type("Terminal", (), {"isatty": lambda self: True})())

    code, _, err = heedful("translate", model_folder.path)

    assert code == 2
    assert "no text to translate; give it as an argument, by --input or by a pipe" in err


def test_an_error_is_one_line_whatever_it_names(heedful, tmp_path):
    _, _, err = heedful("translate", tmp_path / "no\nwhere\x1b[2J", "a")

    assert err.count("\n") == 1
    assert r"no\nwhere\x1b[2J: no such model folder" in err


def test_info_reads_like_the_provenance(heedful, model_folder):
    _, out, _ = heedful("info", model_folder.path)

    provenance = json.loads(model_folder.provenance_file.read_text())
    assert f"{provenance['model']['parameters']:,}" in out
    for score in provenance["scores"]:
        assert f"{score['value']:.2f}" in out
