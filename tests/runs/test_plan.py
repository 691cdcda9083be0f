import math
import random
from dataclasses import replace
from itertools import count

import pytest
import torch

from heedful.data.batches import training_batches
from heedful.data.pair_ids import write_pair_ids
from heedful.data.prepare import Preparation, PreparedCorpus, prepare
from heedful.errors import ConfigError
from heedful.model.config import PRESETS
from heedful.runs import plan as planning
from heedful.runs.budget import Stopwatch
from heedful.runs.plan import (
    Size,
    TextCounts,
    choose,
    make_plan,
    open_choices,
    readable_bytes,
)
from heedful.runs.recipe import load_recipe

DEFAULT = load_recipe(source="a.en")
MULTI30K = TextCounts(pairs=29_000, train=430_000, valid=15_000, searched=3_000)


def stopped(seconds: float = 0.0) -> Stopwatch:
    """Return a stopwatch that shows the same whenever one looks."""
    stopwatch = Stopwatch(clock=lambda: 0.0)
    stopwatch.add(seconds)
    return stopwatch


def sizes(recipe, speeds=(16_000.0, 8_000.0, 1_300.0, 250.0)):
    """Yield sizes as they grow, with about what they have in parameters."""
    named = zip(PRESETS, (1.1e6, 2.3e6, 13e6, 60e6), speeds, strict=False)
    for preset, num_parameters, speed in named:
        yield Size(
            recipe=replace(recipe, model=dict(recipe.model) | {"preset": preset}),
            preset=preset,
            num_parameters=int(num_parameters),
            pieces_per_second=speed,
            pieces_per_step=1_800.0,
        )


def plan(minutes, recipe=DEFAULT, counts=MULTI30K, preparing=5.0):
    recipe = recipe.within(minutes)
    return choose(recipe, sizes(recipe), counts, stopped(preparing))


def test_the_size_grows_with_the_time():
    assert [plan(minutes).preset for minutes in (2, 12, 2_000, 30_000)] == [
        "mini", "tiny", "small", "base",
    ]  # fmt: skip


def test_text_is_counted_in_target_pieces_with_their_ends(tmp_path, monkeypatch):
    write_pair_ids(tmp_path / "train", [([4] * 9, [5, 6]), ([4], [5])], vocab_size=20)
    write_pair_ids(tmp_path / "valid", [([4], [5, 6, 7])] * 300, vocab_size=20)
    told, dummy = [], plan(2)
    monkeypatch.setattr(planning, "choose", lambda *given: told.append(given[2]) or dummy)

    make_plan(DEFAULT.within(2), PreparedCorpus(tmp_path), stopped(), torch.device("cpu"))

    assert told == [TextCounts(pairs=2, train=5, valid=1_200, searched=800)]  # of 200 sentences


def test_passes_are_what_the_time_is_enough_for():
    # 3,600 seconds less 5 of preparing and 12 of scoring, 8,000 pieces a second, 430,000 a pass
    assert plan(60).passes == pytest.approx(66.6, abs=0.3)
    assert plan(60).steps == pytest.approx(3_583 * 8_000 / 1_800, abs=30)


def test_a_size_that_is_not_worth_its_time_is_the_last_that_is_measured():
    measured = []
    recipe = DEFAULT.within(60)
    watched = (size for size in sizes(recipe) if measured.append(size.preset) is None)

    choose(recipe, watched, MULTI30K, stopped())

    assert measured == ["mini", "tiny", "small"]


def test_in_a_short_time_batches_are_small_and_the_rate_fits_them():
    long, short = plan(60).recipe.training, plan(2).recipe.training

    assert (long.batch_tokens, long.peak_rate) == (2_048, 5e-3)
    assert short.batch_tokens == 512
    assert short.peak_rate == pytest.approx(5e-3 * math.sqrt(1 / 4) * 128 / 96, rel=0.05)


def test_validations_are_some_but_not_many_and_the_last_are_averaged():
    for minutes in (1, 3, 10, 60, 600):
        chosen = plan(minutes)
        training = chosen.recipe.training
        num_validations = chosen.steps / training.validate_every
        assert 3.9 < num_validations <= 20
        assert 1 <= training.average_last <= max(0.25 * num_validations, 1)


def test_the_rate_falls_to_the_end_of_the_time_whatever_validation_says():
    training = plan(60, recipe=load_recipe("paper", source="a.en")).recipe.training

    assert (training.schedule, training.patience) == ("linear", 0)
    assert training.warmup_steps < 0.1 * plan(60).steps


def test_what_the_recipe_states_is_kept(tmp_path):
    path = tmp_path / "mine.toml"
    path.write_text(
        "[model]\nd_model = 64\n[training]\nbatch_tokens = 3_000\nvalidate_every = 77\n"
    )
    recipe = load_recipe(str(path), source="a.en").within(2)

    chosen = choose(recipe, [next(sizes(recipe))], MULTI30K, stopped()).recipe

    assert chosen.training.batch_tokens == 3_000
    assert chosen.training.validate_every == 77
    assert ("model", "num_layers") not in open_choices(recipe)
    assert ("training", "warmup_steps") in open_choices(recipe)


def test_a_run_by_steps_leaves_nothing_to_a_plan():
    assert open_choices(DEFAULT) == set()
    assert readable_bytes(DEFAULT) == math.inf


def test_a_vocabulary_is_for_the_text_there_is_time_to_read(tmp_path):
    letters = random.Random(1)
    words = ["".join(letters.choices("abcdefghij", k=9)) for _ in range(12_000)]
    lines = [f"{one}\t{other}\n" for one, other in zip(words[::2], words[1::2], strict=True)]
    (tmp_path / "words.tsv").write_text("".join(lines))
    recipe = load_recipe(source=str(tmp_path / "words.tsv"))

    whole, part = (
        prepare(tmp_path / name, recipe.data, Preparation(readable_bytes=limit))
        for name, limit in (("whole", math.inf), ("part", 30_000))
    )

    assert part.tokenizer.vocab_size == 704  # 4 times the root of 30,000, in multiples of 64
    assert whole.tokenizer.vocab_size == 1_280  # the same of 9 letters in 95 % of 12,000 words


def test_too_short_a_time_is_refused_with_what_would_do():
    with pytest.raises(
        ConfigError,
        match=r"minutes = 0\.2 is too short: preparing took 9 seconds and scoring will take "
        r"about 3; give at least 0\.3",
    ):
        plan(0.2, preparing=9.0)


def test_the_machine_is_not_measured_by_batches_that_take_minutes(tmp_path, corpus, monkeypatch):
    recipe = load_recipe("paper", **corpus).within(60)
    prepared = prepare(tmp_path / "corpus", recipe.data, Preparation(tokenizer=recipe.tokenizer))
    sizes = {"num_layers": 1, "d_model": 16, "d_ff": 16, "num_heads": 1}
    small = replace(recipe, model=sizes, stated=recipe.stated | {("model", "num_layers")})
    asked = []

    def recorded(*pairs, batch_tokens, **options):
        asked.append(batch_tokens)
        return training_batches(*pairs, batch_tokens=batch_tokens, **options)

    monkeypatch.setattr(planning, "training_batches", recorded)
    ticks = count()
    stopwatch = Stopwatch(clock=lambda: float(next(ticks)))
    made = make_plan(small, prepared, stopwatch, torch.device("cpu"))

    assert asked == [4_096]
    assert recipe.training.batch_tokens == 25_000
    assert made.steps > 0


def test_a_plan_is_made_from_real_steps(tmp_path, corpus):
    recipe = load_recipe(**corpus).within(0.5)
    prepared = prepare(tmp_path / "corpus", recipe.data, Preparation(tokenizer=recipe.tokenizer))
    ticks = count()

    stopwatch = Stopwatch(clock=lambda: next(ticks) / 10)
    made = make_plan(recipe, prepared, stopwatch, torch.device("cpu"))

    assert made.preset == "mini"
    assert made.num_pairs == len(prepared.train)
    assert made.steps > 0
    assert made.recipe.model_config(9).d_model == PRESETS["mini"]["d_model"]
    assert made.recipe.training.minutes == 0.5
