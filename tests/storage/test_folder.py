import json
import shutil

import pytest

import heedful
from heedful.errors import ModelFolderError
from heedful.model.config import ModelConfig
from heedful.storage.alignment_head import AlignmentHead, usual_head
from heedful.storage.checkpoint import load_model
from heedful.storage.folder import ModelFolder
from heedful.storage.habits import Habits
from heedful.text.tokenizer import TokenizerConfig, train_tokenizer


@pytest.fixture
def copy(model_folder, tmp_path) -> ModelFolder:
    shutil.copytree(model_folder.path, tmp_path / "copy")
    return ModelFolder(tmp_path / "copy")


def test_a_missing_folder_is_named(tmp_path):
    with pytest.raises(ModelFolderError, match=r"nowhere: no such model folder; check the path"):
        heedful.load(tmp_path / "nowhere")


def test_a_folder_of_something_else_is_named(tmp_path):
    with pytest.raises(ModelFolderError, match=r"has no provenance.json: this is not a finished"):
        heedful.load(tmp_path)


def test_an_unfinished_training_says_how_to_go_on(tmp_path):
    (tmp_path / "training").mkdir()

    with pytest.raises(ModelFolderError, match=r"training has not finished; run the same `heedful"):
        heedful.load(tmp_path)


def test_truncated_weights_are_named(copy):
    copy.weights_file.write_bytes(copy.weights_file.read_bytes()[:1_000])

    with pytest.raises(ModelFolderError, match=r"model\.safetensors: damaged weights"):
        load_model(copy)


def test_missing_weights_are_named(copy):
    copy.weights_file.unlink()

    with pytest.raises(ModelFolderError, match=r"has no model\.safetensors; copy it again"):
        load_model(copy)


def test_weights_of_another_model_are_refused(copy):
    config = json.loads(copy.config_file.read_text())
    copy.config_file.write_text(json.dumps(config | {"d_ff": 64}))

    with pytest.raises(ModelFolderError, match=r"the weights do not fit config\.json; the files"):
        load_model(copy)


def test_sizes_beyond_all_memory_are_compared_with_the_weights_before_any_is_asked_for(copy):
    config = json.loads(copy.config_file.read_text())
    huge = {"d_model": 1 << 17, "d_ff": 1 << 20, "vocab_size": 1 << 20}  # 3 TB
    copy.config_file.write_text(json.dumps(config | huge))

    with pytest.raises(ModelFolderError, match=r"the weights do not fit config\.json; the files"):
        load_model(copy)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("{", r"config\.json: damaged, "),
        ("[]", r"config\.json: damaged, not a JSON object"),
        (
            '{"vocab_size": 9, "rotary": true}',
            r"unknown name 'rotary'; .*newer heedful, so upgrade",
        ),
        ('{"vocab_size": 9, "num_heads": 7}', r"config\.json: num_heads must divide d_model"),
        ("{}", r"config\.json: .*vocab_size"),
    ],
)
def test_a_damaged_config_is_named(copy, content, message):
    copy.config_file.write_text(content)

    with pytest.raises(ModelFolderError, match=message):
        copy.config()


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("[]", r"alignment\.json: damaged, not a JSON object"),
        ('{"layer": 0, "neck": 1}', r"alignment\.json: unknown name 'neck'"),
        ('{"layer": 1}', r"no head None in layer 1 of 1 layers with 2 heads, counted from 0"),
        ('{"layer": 0, "head": 2}', r"no head 2 in layer 0 of 1 layers with 2 heads"),
        ('{"layer": 0, "shift": 2}', r"alignment\.json: shift must be 0 or 1, got 2"),
    ],
)
def test_an_alignment_head_that_is_not_there_is_named(copy, content, message):
    copy.alignment_file.write_text(content)

    with pytest.raises(ModelFolderError, match=message):
        copy.alignment_head(copy.config())


def test_a_folder_without_a_chosen_head_has_the_usual_one(copy):
    copy.alignment_file.unlink(missing_ok=True)

    assert copy.alignment_head(copy.config()) == AlignmentHead(layer=0)
    assert usual_head(ModelConfig(vocab_size=9)) == AlignmentHead(layer=4)  # of six


def test_a_vocabulary_of_another_model_is_refused(copy):
    other = train_tokenizer(lambda: iter(["quite another text"]), TokenizerConfig())
    copy.tokenizer_file.write_bytes(other.model)

    with pytest.raises(
        ModelFolderError, match=r"the vocabulary has \d+ pieces and the model \d+; the"
    ):
        heedful.load(copy.path)


def test_an_empty_vocabulary_is_named(copy):
    copy.tokenizer_file.write_bytes(b"")

    with pytest.raises(ModelFolderError, match=r"as a vocabulary \(the file is empty\)"):
        heedful.load(copy.path)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("[]", r"habits\.json: damaged, not a JSON object"),
        ('{"most_turn": 4}', r"habits\.json: unknown name 'most_turn'"),
        ('{"most_turns": 4.5}', r"habits\.json: 'most_turns' must be a whole number, found 4"),
        ('{"most_turns": 0}', r"habits\.json: most_turns must be from 1 to 1,048,576, got 0"),
        ('{"longest_ratio": "x"}', r"habits\.json: 'longest_ratio' must be a number, found .x."),
        ('{"longest_ratio": NaN}', r"habits\.json: 'longest_ratio' must be a number, found NaN"),
    ],
)
def test_habits_that_cannot_be_are_named(model_folder, tmp_path, content, message):
    folder = ModelFolder(shutil.copytree(model_folder.path, tmp_path / "copy"))
    folder.habits_file.write_text(content)

    with pytest.raises(ModelFolderError, match=message):
        folder.habits()


def test_a_folder_without_habits_has_the_usual_ones(model_folder, tmp_path):
    folder = ModelFolder(shutil.copytree(model_folder.path, tmp_path / "copy"))
    assert folder.habits_file.exists()
    folder.habits_file.unlink()

    assert folder.habits() == Habits(most_turns=4, longest_ratio=3.0)
