"""Whatever lies where a verb writes, nothing changes that heedful did not make."""

import os
import shutil
import tempfile
from functools import partial
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from heedful.__main__ import main
from heedful.data import embedded
from heedful.errors import StoppedError
from tests.conftest import TINY_RECIPE
from tests.foreign import described, snapshot

pytestmark = pytest.mark.slow

KINDS = st.sampled_from(
    ["file", "empty", "private", "script", "folder", "link", "link away", "broken link", "pipe"]
)
OUTPUTS = ["out", "out.partial", "out.progress.json", "out.progress.json.partial", "out.tmp"]
IN_MODELS = [
    f"{folder}{ending}{name}"
    for folder in ("ctranslate2", "onnx")
    for ending in ("", ".partial")
    for name in ("", "/mine", "/model.bin", "/heedful.txt", "/below/heedful.txt")
]
IN_RUNS = [
    *("README.md", "model.safetensors", "config.json", "recipe.toml", "recipe.toml.partial"),
    *("ctranslate2", "training", "training/corpus", "training/corpus.partial", "training/mine"),
    *("training/corpus/mine", "training/corpus/corpus.json", "training/corpus.partial/mine"),
    *("training/heedful.txt", "training/heedful.txt.partial", "training/teachers/mine"),
    *("training/checkpoints/step-1000.safetensors", "training/checkpoints/mine.partial"),
    *("training/checkpoints/interrupted.safetensors", "training/diagnoses.jsonl"),
]


def foreign(names: list[str]) -> st.SearchStrategy[dict[str, str]]:
    return st.dictionaries(st.sampled_from(names), KINDS, min_size=1, max_size=4)


def put(folder: Path, files: dict[str, str]) -> None:
    """Put somebody else's files and links into a folder, where there is room for them."""
    (folder / "away").mkdir(parents=True)
    (folder / "away" / "file").write_text("far away and precious\n")
    for name, kind in files.items():
        path = folder / name
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
        except FileExistsError:
            continue
        if os.path.lexists(path):
            continue
        match kind:
            case "folder":
                path.mkdir()
                (path / "mine").write_text("precious\n")
            case "link":
                path.symlink_to(folder / "away" / "file")
            case "link away":
                path.symlink_to(folder / "away")
            case "broken link":
                path.symlink_to(folder / "away" / "nowhere")
            case "pipe":
                os.mkfifo(path)
            case _:
                path.write_text("" if kind == "empty" else "precious\n")
                path.chmod({"private": 0o600, "script": 0o755}.get(kind, 0o644))


def heedful(*arguments: object) -> int:
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("sys.argv", ["heedful", *map(str, arguments)])
        try:
            main()
        except SystemExit as end:
            return int(end.code or 0)
        return 0


@pytest.fixture(scope="module")
def inputs(model_folder, tmp_path_factory) -> Path:
    """What verbs read: two models, sentences, pairs, terms, and a corpus that is refused."""
    folder = tmp_path_factory.mktemp("inputs")
    for name in "model", "backward":
        shutil.copytree(model_folder.path, folder / name)
    provenance = folder / "backward" / "provenance.json"
    provenance.write_text(provenance.read_text().replace('"sha256": "', '"sha256": "f'))
    (folder / "in").write_text("a b\nc\n")
    (folder / "pairs").write_text("a b\tA B\nc\tC\n")
    (folder / "terms").write_text("a\tA\n")
    (folder / "tiny.toml").write_text(TINY_RECIPE)
    for name, lines in ("train.low", 3), ("train.up", 4):
        (folder / name).write_text("a\n" * lines)
    return folder


WRITING = {
    "translate text": ["translate", "model", "a b"],
    "translate a file": ["translate", "model", "--input", "in", "--glossary", "terms"],
    "go on": ["translate", "model", "--input", "in", "--resume"],
    "evaluate": ["evaluate", "model", "--source", "pairs"],
    "diversify": ["diversify", "model", "backward"],
    "pack": ["pack", "model"],
    "data check": ["data", "check", "pairs"],
    "data dates": ["data", "dates", "--pairs", "5"],
    "explain": ["explain", "model", "a b"],
}


def to(verb: str) -> str:
    """Return the option by which a verb is told where to write."""
    return "--out" if verb == "explain" else "--output"


def spelt(arguments: list[str], inputs: Path) -> list[str]:
    return [str(inputs / it) if (inputs / it).exists() else it for it in arguments]


@pytest.mark.parametrize("verb", WRITING)
@given(files=foreign(OUTPUTS))
@settings(max_examples=30)
def test_what_lies_beside_an_output_stays(inputs, monkeypatch_module, verb, files):
    read = snapshot(inputs)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        put(folder, {n: k for n, k in files.items() if (n, k) != ("out", "pipe")})
        output = (folder / "out").resolve()  # which is asked for, and may be written over
        before = snapshot(folder)

        code = heedful(*spelt(WRITING[verb], inputs), to(verb), folder / "out")

        after = snapshot(folder)
        assert code in (0, 2)
        relative = str(output.relative_to(folder.resolve()))
        changed = {it for it in before if before[it] != after.get(it)}
        assert changed <= ({relative} if code == 0 else set())
        assert after.keys() - before.keys() <= ({relative} if code == 0 else set())
        if relative in before:
            assert after[relative][0] == before[relative][0]  # type and mode
    assert snapshot(inputs) == read


@pytest.mark.parametrize("verb", WRITING)
@pytest.mark.parametrize("ending", ["", ".partial", ".progress.json"])
def test_no_input_is_written_over(inputs, verb, ending, tmp_path):
    copy = Path(shutil.copytree(inputs, tmp_path / "inputs"))
    read = [it for it in WRITING[verb][1:] if (copy / it).is_file()]
    if "model" in WRITING[verb]:
        read += ["model/training/corpus/train.tsv", "model/provenance.json"]
    for name in read:
        place = copy / name
        (tmp_path / "out").unlink(missing_ok=True)
        (tmp_path / f"out{ending}").unlink(missing_ok=True)
        (tmp_path / f"out{ending}").symlink_to(place)
        before = snapshot(copy)

        code = heedful(*spelt(WRITING[verb], copy), to(verb), tmp_path / "out")

        assert code == 2
        assert snapshot(copy) == before
        assert (tmp_path / f"out{ending}").is_symlink()


@given(files=foreign(IN_MODELS))
@settings(max_examples=40)
def test_what_lies_in_a_model_folder_stays_when_it_is_exported(inputs, files):
    with tempfile.TemporaryDirectory() as name:
        model = Path(shutil.copytree(inputs / "model", Path(name) / "model"))
        shutil.rmtree(model / "training")
        if any(it == "ctranslate2" for it in files):
            shutil.rmtree(model / "ctranslate2")
        ours = {it: described(model / it) for it in snapshot(model)}
        put(model, files)
        theirs = {it: what for it, what in snapshot(model).items() if it not in ours}

        code = heedful("export", model)

        after = snapshot(model)
        assert code in (0, 2)
        assert {it: after.get(it) for it in theirs} == theirs
        assert code == 0 or {it: after[it] for it in ours} == ours


@given(files=foreign(IN_RUNS))
@settings(max_examples=60)
def test_what_lies_in_a_folder_stays_when_a_model_is_to_be_trained_there(inputs, files):
    corpus = ["--source", inputs / "train.low", "--target", inputs / "train.up"]
    with tempfile.TemporaryDirectory() as name:
        put(Path(name), {f"out/{it}": kind for it, kind in files.items()})
        before = snapshot(Path(name))

        code = heedful("train", *corpus, "--out", f"{name}/out", "--recipe", inputs / "tiny.toml")

        assert code == 2
        assert snapshot(Path(name)) == before


@given(files=foreign(["data", "data.partial", "data/train.tsv", "data/mine", "data/heedful.txt"]))
@settings(max_examples=30)
def test_what_lies_where_the_demo_writes_stays(monkeypatch_module, files):
    few = partial(embedded.generate, train=30, held_out=2)
    monkeypatch_module.setattr("heedful.cli.demo.generate", few)
    monkeypatch_module.setattr("heedful.cli.demo.train_model", _stop)
    with tempfile.TemporaryDirectory() as name:
        put(Path(name), files)
        before = snapshot(Path(name))

        heedful("demo", "--out", name)

        after = snapshot(Path(name))
        assert {it: after.get(it) for it in before} == before


def _stop(*_):
    raise StoppedError("stopped")


@pytest.fixture(scope="module")
def monkeypatch_module():
    with pytest.MonkeyPatch.context() as patched:
        yield patched
