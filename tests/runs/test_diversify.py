import shutil
from pathlib import Path

import pytest

from heedful.__main__ import main
from heedful.data.corpus import read_pairs
from heedful.errors import CorpusError, ModelFolderError
from heedful.runs.budget import Limit, Stopwatch
from heedful.runs.diversify import diversified, diversify
from heedful.runs.recipe import load_recipe
from heedful.runs.train import train_model
from heedful.storage.folder import ModelFolder
from heedful.translation.translator import Translation, Translator
from tests.conftest import TINY_RECIPE, write_corpus


class Phrasebook(Translator):
    """Translates what it has an entry for; "?" stands for something that went wrong."""

    def __init__(self, **entries: str) -> None:
        self.entries = entries

    def translate_lines(self, lines, **options):
        for line in lines:
            text = self.entries[line]
            flags = ("repetition",) if text == "?" else ()
            yield Translation(source=line, text=text, score=-1.0, flags=flags)


@pytest.mark.parametrize(
    ("forward", "backward", "added"),
    [
        ("katze", "feline", ["cat\tkatze", "feline\tkater"]),
        ("kater", "feline", ["feline\tkater"]),
        ("katze", "cat", ["cat\tkatze"]),
        ("?", "", []),
        (" zahme \t katze ", "?", ["cat\tzahme katze"]),
    ],
)
def test_each_side_is_put_beside_what_a_model_makes_of_it_if_that_is_new(forward, backward, added):
    models = Phrasebook(cat=forward), Phrasebook(kater=backward)

    (lines,) = diversified(["cat\tkater"], *models)

    assert lines.split("\n") == ["cat\tkater", *added]


def test_pairs_for_which_there_is_no_time_stay_alone_and_none_is_lost(monkeypatch):
    monkeypatch.setattr("heedful.runs.diversify.CHUNK", 1)
    models = Phrasebook(a="x", b="y"), Phrasebook(A="a", B="b")
    seconds = iter([0.0, 1.0, 2.0, 3.0])  # when it was made, and before each of three lines
    limit = Limit(3.0, Stopwatch(lambda: next(seconds)))

    found = list(diversified(["a\tA", "b\tB", "c\tC", "d\tD"], *models, limit))

    assert found == ["a\tA\na\tx", "b\tB\nb\ty", "c\tC", "d\tD"]


@pytest.fixture(scope="module")
def backward(tmp_path_factory) -> ModelFolder:
    """The model of the other tests the other way around."""
    folder = tmp_path_factory.mktemp("backward")
    (folder / "recipe.toml").write_text(TINY_RECIPE)
    files = write_corpus(folder)
    exchanged = {"source": files["target"], "target": files["source"]}
    *_, finished = train_model(
        load_recipe(str(folder / "recipe.toml"), **exchanged), folder / "model"
    )
    return finished.folder


def test_what_is_written_can_be_trained_on_and_leaves_held_out_pairs_alone(
    model_folder, backward, tmp_path, monkeypatch
):
    known = dict(read_pairs(model_folder.corpus / "train.tsv"))
    books = {
        model_folder.path: Phrasebook(**{source: f"{source} !" for source in known}),
        backward.path: Phrasebook(**{target: f"{target} ?" for target in known.values()}),
    }
    monkeypatch.setattr("heedful.runs.diversify.load", books.__getitem__)

    diversify(model_folder.path, backward.path, tmp_path / "more.tsv")

    found = list(read_pairs(tmp_path / "more.tsv"))
    assert set(found) == {
        pair
        for source, target in known.items()
        for pair in ((source, target), (source, f"{source} !"), (f"{target} ?", target))
    }
    held_out = {source for source, _ in read_pairs(model_folder.corpus / "valid.tsv")}
    assert held_out
    assert not held_out & {source for source, _ in found}


def test_models_as_they_are_do_it_too(model_folder, backward, tmp_path, monkeypatch):
    folders = [str(folder.path) for folder in (model_folder, backward)]
    monkeypatch.setattr(
        "sys.argv", ["heedful", "diversify", *folders, "--output", str(tmp_path / "more.tsv")]
    )

    main()

    known = list(read_pairs(model_folder.corpus / "train.tsv"))
    assert set(read_pairs(tmp_path / "more.tsv")) >= set(known)


def test_two_models_that_translate_the_same_way_are_refused(model_folder, tmp_path):
    with pytest.raises(ModelFolderError, match=r"translates the same way as .*; train it with"):
        diversify(model_folder.path, model_folder.path, tmp_path / "more.tsv")


def test_a_model_without_its_training_text_is_refused(model_folder, backward, tmp_path):
    moved = Path(shutil.copytree(model_folder.path, tmp_path / "moved"))
    shutil.rmtree(moved / "training")

    with pytest.raises(ModelFolderError, match=r"has no train\.tsv of its training any more"):
        diversify(moved, backward.path, tmp_path / "more.tsv")


@pytest.mark.parametrize("line", ["one column", "three\tcolumns\there"])
def test_a_training_text_that_was_changed_since_is_named_by_line(
    model_folder, backward, tmp_path, line
):
    copied = Path(shutil.copytree(model_folder.path, tmp_path / "copied"))
    text = copied / "training" / "corpus" / "train.tsv"
    first, *rest = text.read_text().splitlines()
    text.write_text("\n".join([first, line, *rest]) + "\n")

    with pytest.raises(CorpusError, match=r"train\.tsv, line 2: expected .* joined by one tab"):
        diversify(copied, backward.path, tmp_path / "more.tsv")

    assert not list(tmp_path.glob("more*"))
