import io
import re
from dataclasses import replace
from pathlib import Path

import pyte
import pytest
from rich.console import Console

from heedful.cli.display import show
from heedful.cli.terminal import say_scores
from heedful.data.corpus import CleaningReport
from heedful.data.prepare import PreparedCorpus
from heedful.evaluation import Score
from heedful.model.config import ModelConfig
from heedful.runs.events import (
    Examples,
    Finished,
    Plan,
    Prepared,
    RolledBack,
    Started,
    WentBack,
)
from heedful.runs.recipe import load_recipe
from heedful.runs.train import train_model
from heedful.storage.folder import ModelFolder
from heedful.storage.provenance import Example
from heedful.training.step import Step
from tests.conftest import validation


def shown(corpus, recipe_file, out, *, terminal: bool) -> str:
    console = Console(file=io.StringIO(), force_terminal=terminal, width=140)
    show(train_model(load_recipe(recipe_file, **corpus), out), console)
    return console.file.getvalue()


def test_plain_lines_tell_the_run_when_nobody_watches(corpus, recipe_file, tmp_path, monkeypatch):
    monkeypatch.setattr("heedful.cli.display.SECONDS_BETWEEN_LINES", 0.0)

    text = shown(corpus, recipe_file, tmp_path / "model", terminal=False)

    assert "\x1b" not in text
    assert "pairs kept" in text
    for column in ("step 3 of 6", "loss ", "perplexity ", " tokens/s", "rate ", " left"):
        assert column in text
    assert "minutes; the model is the last checkpoint. On validation:" in text


@pytest.mark.slow
def test_going_on_is_said(corpus, recipe_file, tmp_path):
    run = train_model(load_recipe(recipe_file, **corpus), tmp_path / "model")
    for _ in range(7):  # Prepared, Started, two steps, Validation (saved), Examples, a step
        next(run)
    run.close()

    text = shown(corpus, recipe_file, tmp_path / "model", terminal=False)

    assert "Going on after step 2: 1+1 layers, d_model 16" in text


def told(*events) -> str:
    console = Console(file=io.StringIO(), width=140)
    show([*events, FINISHED], console)
    return console.file.getvalue()


FINISHED = Finished(
    folder=ModelFolder(Path("m")), scores=[], num_averaged=1, stopped_early=False, seconds=1.0
)


def test_what_was_dropped_is_told_of_both_corpora():
    event = Prepared(
        folder=ModelFolder(Path("m")),
        corpus=PreparedCorpus(Path("c")),
        report=CleaningReport(read=60),
        valid_report=CleaningReport(read=3, empty=1),
        num_train=60,
        num_valid=2,
        vocab_size=300,
    )

    assert (
        "60 to train on, 2 to validate (2 of 3 pairs kept; dropped 1 with an empty side), 300"
        in (told(event).replace("\n", " "))
    )
    assert "2 to validate, 300" in told(replace(event, valid_report=None)).replace("\n", " ")


def test_the_end_tells_what_the_model_is_the_mean_of():
    assert "the model is the mean of the last 3" in told(replace(FINISHED, num_averaged=3))
    assert "the model is the last checkpoint." in told()


def test_damaged_checkpoints_are_named_with_where_it_goes_on():
    damage = ["step-000000400.safetensors is damaged (checksum differs)"]

    assert told(WentBack(damage=damage, step=200)).startswith(
        "step-000000400.safetensors is damaged (checksum differs); going on from step 200\n"
    )
    assert told(WentBack(damage=damage, step=0)).startswith(
        "step-000000400.safetensors is damaged (checksum differs); going on from the beginning\n"
    )


def test_a_diverging_loss_is_told_with_what_is_done_about_it():
    step = Step(
        number=1_137, loss=34.2, perplexity=9.0, learning_rate=1.0, num_pieces=9, seconds=1.0
    )

    text = told(RolledBack(diverged=step, loss=34.2, best_loss=4.1, step=1_000, rate_scale=0.25))

    assert text.startswith(
        "step 1,137: the loss diverges (34.20, its best was 4.10); "
        "going on from step 1,000 at 0.25 of the scheduled learning rate\n"
    )


def test_a_plan_is_told_in_a_line():
    recipe = load_recipe(source="a.en").within(60)
    plan = Plan(recipe=recipe, preset="tiny", steps=15_941, passes=66.6, num_pairs=29_000)

    assert (
        told(plan)
        .replace("\n", " ")
        .startswith(
            "60 minutes here: about 67 passes over 29,000 pairs with the tiny model, in some "
            "16,000 steps of 2,048 tokens at a rate of up to 0.005 "
        )
    )
    assert "with the model of the recipe" in told(replace(plan, preset=""))


def test_a_run_by_minutes_tells_what_is_left(monkeypatch):
    monkeypatch.setattr("heedful.cli.display.SECONDS_BETWEEN_LINES", -1.0)
    started = replace(STARTED, steps=0, minutes=60.0, seconds=600.0)
    step = Step(number=7, loss=2.0, perplexity=7.4, learning_rate=1.0, num_pieces=9, seconds=1.0)
    text = told(started, step, validation(7, is_best=True))

    assert "0.00 million parameters, 50.0 of 60 minutes left" in text
    assert re.search(r"step 7: loss 2\.000, .* 0:(50:00|49:\d\d) left", text)
    assert text.replace("\n", " ").count("best yet") == 1


def screen(width: int, *events) -> list[str]:
    """Return what a terminal of that width shows of a run that is not over yet."""
    file, picture = io.StringIO(), pyte.Screen(width, 40)
    console = Console(file=file, force_terminal=True, width=width, height=40)

    def watched():
        yield from events
        pyte.Stream(picture).feed(file.getvalue().replace("\n", "\r\n"))
        yield FINISHED

    show(watched(), console)
    return [line.rstrip() for line in picture.display if line.strip()]


STARTED = Started(
    folder=ModelFolder(Path("m")),
    config=ModelConfig(vocab_size=9),
    num_parameters=10,
    step=0,
    steps=200_000,
    minutes=0.0,
    seconds=0.0,
    validations=(),
)
STEP = Step(
    number=123_456,
    loss=3.1234,
    perplexity=12.3,
    learning_rate=1e-3,
    num_pieces=12_345,
    seconds=1.0,
)
LONG = Example(source="a b " * 50, translation="A B " * 50, reference="A B " * 50)
EXAMPLES = Examples(
    step=123_456, found=(Example(source="Hi\x1b[2J!", translation="Salut !", reference="?"), LONG)
)


@pytest.mark.parametrize("width", [80, 100, 160])
def test_the_live_display_is_whole_time_left_and_quality_first(width):
    *_, above, below = screen(width, STARTED, STEP, validation(123_000))

    assert re.fullmatch(r"21:15:44 left  [━╸╺]+  BLEU 20\.0, perplexity 7\.39", above)
    assert len(above) == width
    assert below == "step 123,456 of 200,000  loss 3.123  12,345 tokens/s  rate 1.0e-03"


@pytest.mark.parametrize("width", [80, 100, 160])
def test_a_validation_is_a_line_and_its_examples_two_each_and_the_signature_is_said_once(width):
    lines = screen(
        width,
        *(STARTED, validation(123_000, is_best=True), EXAMPLES),
        *(STEP, validation(123_400), EXAMPLES),
    )

    assert sum("tok:13a" in line for line in lines) == 1
    at = lines.index("step 123,400: BLEU 20.0, validation perplexity 7.39")
    assert "step 123,000: BLEU 20.0, validation perplexity 7.39, best yet" in lines
    assert lines[at + 1 : at + 3] == ["  Hi\\x1b[2J!", "   -> Salut !"]
    assert [len(line) for line in lines[at + 3 : at + 5]] == [width, width]
    assert all(line.endswith("…") for line in lines[at + 3 : at + 5])
    assert lines[at + 5].startswith("21:15:44 left")


def test_a_perplexity_beyond_all_bounds_leaves_the_display_whole():
    *_, said, above, below = screen(80, STARTED, STEP, validation(123_000, loss=600.0))

    assert said.endswith("BLEU 20.0, validation perplexity 3.8e+260")
    assert above.startswith("21:15:44 left  ")
    assert above.endswith("  BLEU 20.0, perplexity 3.8e+260")
    assert below.startswith("step 123,456 of")


def test_before_the_first_validation_nothing_is_said_of_quality():
    *_, above, _ = screen(80, STEP, STARTED)

    assert above.endswith("not validated yet")


def test_a_run_that_goes_on_knows_its_last_validation():
    *_, above, _ = screen(80, STEP, replace(STARTED, validations=(validation(100),)))

    assert above.endswith("BLEU 20.0, perplexity 7.39")


def test_a_run_that_does_not_finish_is_a_bug():
    with pytest.raises(AssertionError, match="a run ends with Finished"):
        show([], Console(file=io.StringIO()))


def scores_told(**options) -> list[str]:
    console = Console(file=io.StringIO(), **options)
    signature = "nrefs:1|case:lc|tok:tercom|norm:no|punct:yes|asian:no|version:2.6.0"
    say_scores(console, [Score("TER", 12.3, signature)])
    return console.file.getvalue().splitlines()


def test_every_score_is_a_line_with_its_signature_whatever_reads_it():
    (line,) = scores_told()

    assert re.fullmatch(r"TER +12\.30  nrefs:1\|.*\|version:2\.6\.0 *", line)


def test_a_narrow_terminal_folds_signatures_beside_the_scores():
    first, second = scores_told(force_terminal=True, no_color=True, width=60)

    assert "12.30" in first
    assert len(re.sub(r"\x1b\[\d*m", "", first).rstrip()) <= 60
    assert re.sub(r"\x1b\[\d*m", "", second).startswith(" " * 10)
