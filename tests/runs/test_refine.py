import errno
import shutil
import threading
from dataclasses import replace
from itertools import takewhile
from math import inf

import pytest
from rich.console import Console

from heedful import ending, refining, translating
from heedful.cli.display import show
from heedful.data.corpus import read_pairs
from heedful.data.prepare import PreparedCorpus, write_rows
from heedful.errors import (
    ConfigError,
    StoppedError,
    StorageError,
    TooShortError,
    TrainingError,
)
from heedful.evaluation import Score, likeness
from heedful.runs.events import Finished, Lesson
from heedful.runs.recipe import load_recipe
from heedful.runs.refine import judged, judged_pairs
from heedful.runs.run import train_model
from heedful.text import prepare
from heedful.training.trainer import Step, Trainer
from heedful.translation.sentence import Candidate
from heedful.translation.translator import Translation, Translator
from tests.conftest import TINY_RECIPE, write_corpus

slow = pytest.mark.slow  # each run trains two models


class Fluent(Translator):
    """Translates everything in the same ways."""

    def __init__(self, *ways: str, flags: tuple[str, ...] = ()) -> None:
        self.ways, self.flags = ways, flags

    def translate_lines(self, lines, **options):
        best, *others = self.ways
        for line in lines:
            yield Translation(
                source=line,
                text=best,
                score=-1.0,
                alternatives=tuple(Candidate(text=other, score=-2.0) for other in others),
                flags=self.flags,
            )


def test_the_best_and_the_worst_are_those_most_and_least_like_the_reference():
    ways = Fluent("ein Hund läuft", "ein  Hund rennt", "die Katze schläft")

    (line,) = judged(["a dog runs\tein Hund rennt"], ways)

    source, target, best, worst, apart = line.split("\t")
    assert (source, target) == ("a dog runs", "ein Hund rennt")
    assert (best, worst) == ("ein Hund rennt", "die Katze schläft")
    assert float(apart) == pytest.approx(1 - likeness("die Katze schläft", target), abs=1e-4)


@pytest.mark.parametrize(
    "ways",
    [
        Fluent("ein Hund"),
        Fluent("ein Hund", "ein  Hund"),
        Fluent("ein Hund", ""),
        Fluent("ein Hund", "Katze", flags=("repetition",)),
    ],
)
def test_nothing_is_told_apart_that_is_the_same_or_unsound(ways):
    (line,) = judged(["a dog\tein Hund"], ways)

    assert float(line.split("\t")[-1]) == 0


def test_likeness_knows_shades():
    reference = "ein Hund läuft über die Wiese"

    assert likeness(reference, reference) == pytest.approx(1)
    assert 0 < likeness("ein Mann schläft", reference) < 0.3
    assert likeness("ein Hund läuft über Gras", reference) > likeness("ein Hund", reference)
    assert 0.5 < likeness("犬が野原を走る。", "犬が野原を走っている。") < 1


@slow
def test_a_full_disk_says_so_in_a_line(tmp_path, events, monkeypatch):
    def full(path, pairs):
        path.write_text("half of it")
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(prepare, "_write_tsv", full)
    corpus = PreparedCorpus(events[-1].folder.corpus)

    with pytest.raises(StorageError, match=r"rows\.tsv: cannot be written, No space left"):
        write_rows(corpus, [0], tmp_path / "rows.tsv")

    assert list(tmp_path.iterdir()) == []


def test_refining_must_not_be_negative(tmp_path):
    (tmp_path / "recipe.toml").write_text("[training]\nrefining = -0.1\n")

    with pytest.raises(ConfigError, match=r"refining must not be negative, got -0\.1"):
        load_recipe(str(tmp_path / "recipe.toml"), source="any")


def test_minutes_are_shared_out(tmp_path):
    (tmp_path / "recipe.toml").write_text("[training]\nrefining = 0.25\nteachers = 0.5\n")

    config = load_recipe(str(tmp_path / "recipe.toml"), source="any").within(100).training

    assert (config.first_minutes, config.own_minutes, config.teacher_minutes) == (80, 40, 20)


def test_a_part_that_is_too_short_says_how_much_it_takes_in_all(tmp_path):
    (tmp_path / "recipe.toml").write_text(
        f"{TINY_RECIPE}refining = 0.25\n".replace("steps = 6", "")
    )
    recipe = load_recipe(str(tmp_path / "recipe.toml"), **write_corpus(tmp_path)).within(0.0005)

    with pytest.raises(TooShortError, match="what goes before refining has 0.0004 of them"):
        list(train_model(recipe, tmp_path / "model"))

    assert not (tmp_path / "model").exists()


@pytest.fixture(scope="module")
def refined_recipe(tmp_path_factory):
    folder = tmp_path_factory.mktemp("refined")
    (folder / "recipe.toml").write_text(f"{TINY_RECIPE}refining = 0.66\n")
    return load_recipe(str(folder / "recipe.toml"), **write_corpus(folder))


@pytest.fixture(scope="module")
def events(refined_recipe, tmp_path_factory):
    return list(train_model(refined_recipe, tmp_path_factory.mktemp("run") / "model"))


@slow
def test_a_model_trains_then_judges_its_translations_and_is_refined(events):
    told = [event for event in events if isinstance(event, Lesson | Finished | Step)]

    assert [getattr(event, "about", type(event)) for event in told] == [
        *(*[Step] * 6, Finished),
        *("judging", "refining", *[Step] * 4, Finished),
    ]
    first, refined = (event.folder for event in told if isinstance(event, Finished))
    assert refined.provenance()["before_refining"] == first.provenance()
    assert refined.tokenizer_file.read_bytes() == first.tokenizer_file.read_bytes()
    assert "| refined | for 4 steps" in refined.card_file.read_text()


@slow
def test_it_learns_from_every_pair_and_from_the_best_and_the_worst_of_it(
    refined_recipe, tmp_path, monkeypatch
):
    monkeypatch.setattr(refining, "load", lambda folder: Fluent("A B", "A B C", "D E F"))
    training = replace(refined_recipe.training, refining=3.0)

    *_, finished = train_model(replace(refined_recipe, training=training), tmp_path / "model")

    folder, pairs = finished.folder, judged_pairs(finished.folder)
    encode, rows = folder.tokenizer().encode, iter(zip(pairs, pairs.weights, strict=True))
    lines = [line.split("\t") for line in folder.judged_file.read_text().splitlines()]
    corpus = list(read_pairs(folder.corpus / "train.tsv"))
    assert sorted(tuple(line[:2]) for line in lines) == sorted(corpus)
    assert [tuple(line[:2]) for line in lines] != corpus  # but in an order by chance
    for source, target, best, worst, apart in lines:
        weight = 4 * float(apart)
        told_apart = [(best, weight), (worst, -weight)] if weight else []
        for text, expected in [(target, 1.0), *told_apart]:
            ids, found = next(rows)
            assert ids == (encode(source), encode(text))
            assert found == pytest.approx(expected)
    assert next(rows, None) is None
    assert len(pairs) > len(lines)


@slow
@pytest.mark.parametrize("number", [3, 8, 9])
def test_a_run_that_stops_in_any_lesson_goes_on_to_the_same_weights(
    refined_recipe, events, tmp_path, number
):
    interrupted = train_model(refined_recipe, tmp_path / "model")
    steps = (event for event in interrupted if isinstance(event, Step))
    for _ in range(number):
        next(steps)
    interrupted.close()

    *_, finished = train_model(refined_recipe, tmp_path / "model")

    expected = events[-1].folder.weights_file.read_bytes()
    assert finished.folder.weights_file.read_bytes() == expected


@slow
def test_a_model_that_is_stopped_while_it_judges_says_how_to_go_on(
    refined_recipe, events, tmp_path, monkeypatch
):
    monkeypatch.setattr(translating, "CHUNK", 4)
    stop = threading.Event()
    run = train_model(refined_recipe, tmp_path / "model", stop)

    list(takewhile(lambda event: event != Lesson(about="judging"), run))
    stop.set()
    with pytest.raises(StoppedError, match="stopped while the model translates; run the same"):
        next(run)
    first, *_, finished = train_model(refined_recipe, tmp_path / "model")

    assert first == Lesson(about="judging")
    assert finished.folder.judged_file.read_bytes() == events[-1].folder.judged_file.read_bytes()


@pytest.fixture
def judged_folder(events, tmp_path):
    """A run that was stopped after its translations were judged."""
    folder = shutil.copytree(events[-1].folder.path, tmp_path / "model")
    for path in folder.iterdir():
        if path.name == "ctranslate2":
            shutil.rmtree(path)
        elif path.name not in ("recipe.toml", "training"):
            path.unlink()
    shutil.rmtree(folder / "training" / "checkpoints")
    return folder


@slow
def test_once_it_is_judged_the_recipe_must_stay_the_same(refined_recipe, judged_folder):
    other = replace(refined_recipe.training, refining=0.9)

    with pytest.raises(ConfigError, match=r"holds a run with .* refining = 0.66, now it is 0.9"):
        list(train_model(replace(refined_recipe, training=other), judged_folder))


@slow
def test_the_curves_show_all_of_it(events):
    folder = events[-1].folder
    first = folder.training / "first" / "curves.csv"

    rows = folder.curves_file.read_text().splitlines()

    before = first.read_text().splitlines()
    assert rows[: len(before)] == before
    steps = [int(row.split(",")[0]) for row in rows[1:]]
    assert steps == sorted(set(steps))
    assert len(rows) > len(before)


@slow
def test_where_refining_diverges_at_any_rate_the_model_before_is_what_remains(
    refined_recipe, events, judged_folder, monkeypatch
):
    learn = Trainer._step
    monkeypatch.setattr(Trainer, "_step", lambda *given: replace(learn(*given), perplexity=inf))

    *_, finished = train_model(refined_recipe, judged_folder)

    first = next(event.folder for event in events if isinstance(event, Finished))
    assert finished.folder.weights_file.read_bytes() == first.weights_file.read_bytes()
    assert finished.undone == "the loss diverged"
    assert "and undone: the loss diverged" in finished.folder.card_file.read_text()
    assert finished.scores


@slow
def test_running_out_of_memory_while_it_is_refined_leaves_the_model_before(
    refined_recipe, events, judged_folder, monkeypatch
):
    def fail(*_):
        raise MemoryError

    monkeypatch.setattr(Trainer, "rehearse", fail)
    with pytest.raises(TrainingError, match=r"while it is refined; .* run the same command again"):
        list(train_model(refined_recipe, judged_folder))
    monkeypatch.undo()

    *_, finished = train_model(refined_recipe, judged_folder)

    expected = events[-1].folder.weights_file.read_bytes()
    assert finished.folder.weights_file.read_bytes() == expected


@slow
def test_the_recipe_that_is_written_repeats_the_run(events, refined_recipe, tmp_path):
    written = load_recipe(str(events[-1].folder.recipe_file))

    assert written.training == refined_recipe.training
    *_, finished = train_model(replace(written, data=refined_recipe.data), tmp_path / "model")
    expected = events[-1].folder.weights_file.read_bytes()
    assert finished.folder.weights_file.read_bytes() == expected


@slow
def test_teachers_come_before_and_what_they_add_is_not_judged(
    refined_recipe, tmp_path, monkeypatch
):
    training = replace(refined_recipe.training, teachers=0.5)
    recipe = replace(refined_recipe, training=training)

    events = list(train_model(recipe, tmp_path / "model"))

    lessons = [event.about for event in events if isinstance(event, Lesson)]
    assert lessons == ["forward", "backward", "translating", "model", "judging", "refining"]
    folder = events[-1].folder
    judged = [line.split("\t") for line in folder.judged_file.read_text().splitlines()]
    assert {target for _, target, *_ in judged} <= {source.upper() for source, *_ in judged}
    assert "| teachers | two, of 3 steps each at most |" in folder.card_file.read_text()


@slow
def test_no_more_is_judged_than_is_seen(refined_recipe, tmp_path):
    training = replace(refined_recipe.training, refining=0.17, batch_tokens=64)

    *_, finished = train_model(replace(refined_recipe, training=training), tmp_path / "model")

    judged = finished.folder.judged_file.read_text().splitlines()
    assert len(judged) == 4  # so many of about six pieces are 64 tokens, three ways each


@slow
def test_what_is_better_becomes_likelier_than_what_is_worse(refined_recipe, tmp_path, monkeypatch):
    right, wrong = "A B C", "D E F"
    monkeypatch.setattr(refining, "load", lambda folder: Fluent(right, wrong))
    monkeypatch.setattr(refining, "likeness", lambda text, target: float(text == right))
    training = replace(refined_recipe.training, refining=5.0, label_smoothing=0.0)

    events = train_model(replace(refined_recipe, training=training), tmp_path / "model")
    first, refined = (event.folder for event in events if isinstance(event, Finished))

    assert _preference(refined, right, wrong) > _preference(first, right, wrong) + 1


@slow
def test_a_model_that_refining_makes_worse_stays_as_it_was(refined_recipe, tmp_path, monkeypatch):
    values = iter((30.0, 20.0, 30.0))
    monkeypatch.setattr(ending, "evaluate", lambda *_: [Score("BLEU", next(values), "of a test")])

    events = list(train_model(refined_recipe, tmp_path / "model"))
    first, finished = (event for event in events if isinstance(event, Finished))

    kept = finished.folder
    assert kept.weights_file.read_bytes() == first.folder.weights_file.read_bytes()
    assert (finished.scores[0].value, finished.undone) == (30.0, "BLEU was 20.00 after it")
    assert kept.provenance()["undone"] == finished.undone
    assert "and undone: BLEU was 20.00 after it" in kept.card_file.read_text()
    console = Console(record=True, width=100)
    show(events, console)
    assert "the one before refining, which was undone: BLEU was 20.00" in console.export_text()


def _preference(folder, right, wrong):
    from heedful import load

    translator = load(folder.path, "exact")
    encode = translator.tokenizer.encode
    readings = translator.engine.read([encode("a b c")] * 2, [encode(right), encode(wrong)])
    likely, unlikely = (sum(reading.log_probabilities) for reading in readings)
    return likely - unlikely


@slow
def test_all_of_it_is_shown(events):
    console = Console(record=True, width=100)

    assert show(events, console) == events[-1]
    shown = console.export_text()
    assert shown.index("The model translates") < shown.index("Now it learns to tell them apart")
