"""Each diagnosis is provoked by a real run, or by the corpus that such a run prepares."""

import io
import json
import random
from pathlib import Path

import pytest
from rich.console import Console

from heedful.cli.display import show
from heedful.evaluation import Score
from heedful.model.config import ModelConfig
from heedful.runs.doctor import Diagnosis, attend, watch
from heedful.runs.events import Finished, RolledBack, Started, Validation
from heedful.runs.recipe import load_recipe
from heedful.runs.train import train_model
from heedful.storage.folder import ModelFolder
from heedful.training.step import Step
from tests.conftest import validation

Pairs = list[tuple[str, str]]

RECIPE = """
[tokenizer]
vocab_size = 400

[model]
num_layers = 1
d_model = 32
d_ff = 64
num_heads = 2
dropout = 0.0
normalisation = "pre"

[training]
steps = 450
batch_tokens = 256
warmup_steps = 20
peak_rate = 5e-3
validate_every = 50
average_last = 1
teachers = 0.0
patience = 0
"""

SOURCE_WORDS, TARGET_WORDS = (
    ["".join(random.Random(f"{letters}{n}").choices(letters, k=4)) for n in range(50)]
    for letters in ("abcdefghi", "mnopqrstuv")
)


def make_pairs(count: int, seed: int = 1) -> Pairs:
    """Write sentences of two small languages that translate word by word, some words common."""
    draw = random.Random(seed)
    shares = [1 / (rank + 1) for rank in range(50)]
    rows = [draw.choices(range(50), shares, k=draw.randint(3, 7)) for _ in range(count)]
    return [
        (" ".join(SOURCE_WORDS[n] for n in row), " ".join(TARGET_WORDS[n] for n in row))
        for row in rows
    ]


VALID = make_pairs(25, seed=2)


@pytest.fixture(autouse=True)
def _few_will_do(monkeypatch):
    """Corpora are small here so that tests are fast."""
    monkeypatch.setattr("heedful.runs.doctor.FEWEST_PAIRS", 2)


def begin(folder: Path, train: Pairs, valid: Pairs = VALID, **changes: object):
    """Begin a run with some settings of the recipe changed."""
    recipe = RECIPE
    for name, value in changes.items():
        (line,) = [line for line in RECIPE.splitlines() if line.startswith(f"{name} =")]
        recipe = recipe.replace(line, f"{name} = {json.dumps(value)}")
    (folder / "recipe.toml").write_text(recipe)
    for name, pairs in (("train", train), ("valid", valid)):
        lines = (f"{source}\t{target}\n" for source, target in pairs)
        (folder / f"{name}.tsv").write_text("".join(lines))
    files = {"source": str(folder / "train.tsv"), "valid_source": str(folder / "valid.tsv")}
    return train_model(load_recipe(str(folder / "recipe.toml"), **files), folder / "model")


def diagnoses(events) -> dict[str, Diagnosis]:
    return {event.name: event for event in watch(events) if isinstance(event, Diagnosis)}


def before_training(run) -> dict[str, Diagnosis]:
    """Tell what is said of the corpus alone."""
    said = {}
    for event in watch(run):
        if isinstance(event, Started):
            break
        if isinstance(event, Diagnosis):
            said[event.name] = event
    return said


def test_nothing_is_said_of_a_good_corpus(tmp_path):
    assert before_training(begin(tmp_path, make_pairs(2_500))) == {}


def test_few_pairs_are_said_to_be_few(tmp_path, monkeypatch):
    monkeypatch.setattr("heedful.runs.doctor.FEWEST_PAIRS", 60)

    said = diagnoses([next(begin(tmp_path, make_pairs(50)))])

    assert said["few pairs"].seen == "there are 50 pairs to train on"
    monkeypatch.setattr("heedful.runs.doctor.FEWEST_PAIRS", 50)
    assert diagnoses([next(begin(tmp_path, make_pairs(50)))]) == {}


def test_nothing_is_said_of_a_corpus_too_small_to_tell(tmp_path):
    shuffled = list(zip([s for s, _ in make_pairs(90)], [t for _, t in VALID] * 4, strict=False))

    assert before_training(begin(tmp_path, shuffled)) == {}


def test_validation_files_the_other_way_round_are_called_swapped(tmp_path):
    said = before_training(begin(tmp_path, make_pairs(300), [(t, s) for s, t in VALID]))

    assert said.keys() == {"source and target swapped"}
    assert "exchange the two names" in str(said["source and target swapped"])


def test_validation_pairs_that_are_trained_on_are_counted(tmp_path):
    said = before_training(begin(tmp_path, [*make_pairs(300), *VALID[:9], *VALID[:9]]))

    assert said.keys() == {"validation pairs are trained on"}
    assert "9 of the 25 validation pairs are training pairs as well" in said.popitem()[1].seen


def test_nothing_is_said_of_one_short_pair_in_both_files(tmp_path):
    assert before_training(begin(tmp_path, [*make_pairs(300), VALID[0]])) == {}


@pytest.mark.parametrize(("offset", "where"), [(1, "1 line below"), (-2, "2 lines above")])
def test_a_target_file_that_has_moved_is_called_misaligned(tmp_path, offset, where):
    sources, targets = zip(*make_pairs(500), strict=True)
    pairs = list(zip(sources[3:-3], targets[3 - offset : len(targets) - 3 - offset], strict=True))

    said = before_training(begin(tmp_path, pairs))

    assert said.keys() == {"misaligned lines"}
    assert said["misaligned lines"].seen.startswith("in all training pairs")
    assert where in said["misaligned lines"].meaning


def test_a_line_lost_on_the_way_is_found_about_where_it_was(tmp_path):
    sources, targets = zip(*make_pairs(3_000), strict=True)
    pairs = list(zip(sources[:-1], [*targets[:1_800], *targets[1_801:]], strict=True))

    said = before_training(begin(tmp_path, pairs))

    assert said.keys() == {"misaligned lines"}
    assert "in training pairs from about number 1,8" in said["misaligned lines"].seen
    assert "1 line above" in said["misaligned lines"].meaning


def test_a_shuffled_target_file_is_called_misaligned(tmp_path):
    sources, targets = zip(*make_pairs(1_200), strict=True)
    pairs = list(zip(sources, random.Random(3).sample(targets, len(targets)), strict=True))

    said = before_training(begin(tmp_path, pairs))

    assert said.keys() == {"misaligned lines"}
    assert "do not belong together" in said["misaligned lines"].meaning


def test_misaligned_validation_files_are_told_apart_from_training_files(tmp_path):
    sources, targets = zip(*make_pairs(500, seed=4), strict=True)
    moved = list(zip(sources[1:], targets[:-1], strict=True))

    said = before_training(begin(tmp_path, make_pairs(500), moved))

    assert "in all validation pairs" in said["misaligned lines"].seen


def test_a_vocabulary_of_rare_pieces_is_called_too_large(tmp_path):
    draw = random.Random(5)
    words = ["".join(draw.choices("abcdefghijklmnopqrst", k=8)) for _ in range(600)]
    pairs = [(" ".join(draw.sample(words, 4)), " ".join(draw.sample(words, 4))) for _ in range(150)]

    said = before_training(begin(tmp_path, pairs, vocab_size=4_000))

    assert said.keys() == {"vocabulary too large"}
    assert "leave vocab_size to the program" in said["vocabulary too large"].advice


@pytest.mark.slow
def test_a_healthy_run_gives_no_cause_to_speak(tmp_path):
    *events, finished = watch(begin(tmp_path, make_pairs(2_500)))

    assert isinstance(finished, Finished)
    assert not [event for event in events if isinstance(event, Diagnosis)]
    assert finished.scores[0].value > 20  # it did learn


@pytest.mark.slow
def test_targets_that_are_all_the_same_make_outputs_all_alike(tmp_path):
    said = diagnoses(begin(tmp_path, [(source, "mnop qrst uvmn") for source, _ in make_pairs(200)]))

    assert "outputs all alike" in said
    assert "different translations: 1, different references: 25" in str(said["outputs all alike"])


@pytest.mark.slow
def test_targets_that_are_cut_off_end_in_length_collapse(tmp_path):
    cut = [(source, target.split()[0]) for source, target in make_pairs(300)]

    said = diagnoses(begin(tmp_path, cut))

    assert "targets end too early" in said["length collapse"].meaning


@pytest.mark.slow
def test_targets_that_run_on_end_in_length_collapse(tmp_path):
    long = [(source, " ".join([target] * 4)) for source, target in make_pairs(300)]

    said = diagnoses(begin(tmp_path, long))

    assert "does not know when to end" in said["length collapse"].meaning


def test_a_loss_that_explodes_means_too_high_a_learning_rate(tmp_path):
    run = watch(begin(tmp_path, make_pairs(200), peak_rate=3.0))

    first = next(event for event in run if isinstance(event, Diagnosis))

    assert first.name == "learning rate too high"
    assert "training loss rose from" in first.seen
    assert "peak_rate = " in first.advice


@pytest.mark.slow
def test_a_loss_stuck_where_only_frequencies_are_known_means_too_high_a_learning_rate(tmp_path):
    hot = {"peak_rate": 0.1, "warmup_steps": 1, "normalisation": "post", "steps": 2_000}
    run = watch(begin(tmp_path, make_pairs(300), **hot))

    first = next(event for event in run if isinstance(event, Diagnosis))

    assert first.name == "learning rate too high"
    assert "to know only how common each piece is" in first.seen


@pytest.mark.slow
def test_too_few_pairs_for_too_long_are_overfitted(tmp_path):
    said = diagnoses(begin(tmp_path, make_pairs(40), steps=300, validate_every=25))

    assert "learned by heart" in said["overfitting"].meaning
    assert "while training loss fell" in said["overfitting"].seen


def step(number: int, learning_rate: float = 1e-3) -> Step:
    return Step(
        number=number,
        loss=3.0,
        perplexity=20.0,
        learning_rate=learning_rate,
        num_pieces=100,
        seconds=0.1,
    )


def overfitted(*scores: float) -> list[Validation]:
    """Let validation loss rise while training loss falls and BLEU goes as told."""
    return [
        validation(
            1_000 * (number + 1),
            loss=2.0 + 0.2 * number,
            train_loss=2.0 - 0.2 * number,
            bleu=Score("BLEU", score, "tok:13a"),
        )
        for number, score in enumerate(scores)
    ]


def test_a_rising_loss_is_no_overfitting_while_bleu_rises_too():
    assert diagnoses(overfitted(20.0, 21.0, 22.0, 23.0, 24.0)) == {}
    assert diagnoses(overfitted(20.0, 21.0, 20.0, 19.0, 18.0)).keys() == {"overfitting"}


def test_odd_outputs_are_forgiven_soon_after_the_peak_of_the_learning_rate():
    climb = [step(number, learning_rate=number * 1e-5) for number in range(1, 101)]
    odd = {"num_distinct": 1, "length_ratio": 0.1}
    early = [validation(number, **odd) for number in (100, 200, 300, 399)]
    late = [validation(number, **odd) for number in (400, 500, 600)]

    assert diagnoses([*climb, *early]) == {}
    assert diagnoses([*climb, *late]).keys() == {"outputs all alike", "length collapse"}


def test_one_good_validation_among_odd_ones_keeps_the_doctor_silent():
    odd = {"num_distinct": 1, "length_ratio": 3.0}
    events = [validation(400, **odd), validation(500), validation(600, **odd)]

    assert diagnoses(events) == {}


def test_odd_outputs_are_forgiven_while_the_loss_still_falls():
    falling = [validation(500 * n, loss=5.0 - 0.2 * n, length_ratio=3.0) for n in range(1, 6)]

    assert diagnoses(falling) == {}


def test_a_task_with_few_answers_may_have_few_outputs():
    few = {"num_distinct": 1, "num_distinct_references": 3}

    assert diagnoses([validation(1_000 * n, **few) for n in range(1, 6)]) == {}


def test_what_a_roll_back_undid_is_forgotten():
    before, *undone = overfitted(20.0, 21.0, 20.0, 19.0)
    back = RolledBack(diverged=step(3_900), loss=9.0, best_loss=2.0, step=1_000, rate_scale=0.5)
    after = overfitted(20.0, 21.0, 20.0)[1:]

    assert diagnoses([before, *undone[:2], back, *after]).keys() == {"learning rate too high"}
    assert "overfitting" in diagnoses([before, *undone[:2], *after])


def test_what_went_before_an_interruption_is_remembered():
    *before, last = overfitted(20.0, 21.0, 20.0, 19.0)
    again = Started(
        folder=ModelFolder(Path("m")),
        config=ModelConfig(vocab_size=9),
        num_parameters=10,
        step=3_000,
        steps=9_000,
        minutes=0.0,
        seconds=60.0,
        validations=tuple(before),
    )

    assert diagnoses([again, last]).keys() == {"overfitting"}
    assert diagnoses([last]) == {}


def test_each_thing_is_said_once():
    events = watch(overfitted(*[20.0, 21.0, 20.0, 19.0, 18.0, 17.0, 16.0]))

    assert sum(isinstance(event, Diagnosis) for event in events) == 1


def test_events_are_passed_on_unchanged():
    events = [step(1), validation(2), step(3)]

    assert list(watch(events)) == events


def test_what_is_said_is_written_down_once_and_listed_in_the_provenance(tmp_path):
    folder = ModelFolder(tmp_path / "model")
    swapped = [(target, source) for source, target in VALID]
    brief = {"steps": 4, "warmup_steps": 1, "validate_every": 2}
    run = attend(begin(tmp_path, make_pairs(100), swapped, **brief))
    while not isinstance(next(run), Validation):
        pass
    run.close()

    again = begin(tmp_path, make_pairs(100), swapped, **brief)
    said = [event for event in attend(again) if isinstance(event, Diagnosis)]

    assert [diagnosis.name for diagnosis in said] == ["source and target swapped"]
    assert [past["name"] for past in folder.diagnoses()] == ["source and target swapped"]
    assert folder.provenance().diagnoses == folder.diagnoses()


@pytest.mark.slow
def test_what_is_said_of_teachers_is_written_down_in_their_own_folders(tmp_path):
    swapped = [(target, source) for source, target in VALID]
    brief = {"steps": 4, "teachers": 0.5, "warmup_steps": 1, "validate_every": 2}

    events = list(attend(begin(tmp_path, make_pairs(100), swapped, **brief)))

    folders = [event.folder for event in events if isinstance(event, Finished)]
    assert len({folder.path for folder in folders}) == 3
    for folder in folders:
        assert [past["name"] for past in folder.diagnoses()] == ["source and target swapped"]
    assert folder.diagnoses()[0].keys() == {"name", "step", "seen", "meaning", "advice"}


@pytest.mark.parametrize("terminal", [True, False])
def test_a_diagnosis_is_yellow_on_a_terminal_and_plain_elsewhere(tmp_path, terminal):
    colours = "standard" if terminal else "auto"
    console = Console(file=io.StringIO(), force_terminal=terminal, color_system=colours)
    diagnosis = Diagnosis(
        name="trouble", step=1, seen="seen [here]", meaning="it means", advice="Do this"
    )
    finished = Finished(
        folder=ModelFolder(tmp_path), scores=[], num_averaged=1, stopped_early=False, seconds=1.0
    )

    show([diagnosis, finished], console)

    text = console.file.getvalue()
    assert "trouble: seen [here]" in text
    assert "it means. Do this" in text
    assert ("\x1b[33mtrouble" in text) == terminal


def test_pairs_that_one_setting_of_cleaning_dropped_are_counted_with_how_to_keep_them(tmp_path):
    odd = [(word, f"{word} " * 20) for word in SOURCE_WORDS[:9]]

    said = before_training(begin(tmp_path, [*make_pairs(300), *odd]))

    assert said.keys() == {"many pairs dropped by max_ratio"}
    told = str(said["many pairs dropped by max_ratio"])
    assert "9 of 309 pairs (2.9%) were left out as of absurd length ratio" in told
    assert "raise max_ratio in [cleaning] of the recipe" in told
