"""Where right outputs repeat, as in SCAN, what a model finds is what it gives out."""

import random
from dataclasses import replace

import pytest

import heedful
from heedful.runs.recipe import load_recipe
from heedful.runs.train import train_model

RECIPE = """
[cleaning]
max_ratio = 20.0

[tokenizer]
vocab_size = 320

[model]
num_layers = 1
d_model = 64
d_ff = 128
num_heads = 4
dropout = 0.0

[training]
steps = 400
batch_tokens = 1024
warmup_steps = 40
validate_every = 200
average_last = 1
label_smoothing = 0.0
"""
ACTIONS = {"walk": "W", "look": "L", "jump": "J", "run": "R"}
TIMES = {"once": 1, "often": 8, "always": 24}


def commands() -> list[tuple[str, str]]:
    """Write all commands and what they make one do, as "walk often and run once"."""
    single = [
        (f"{action} {often}", [done] * times)
        for action, done in ACTIONS.items()
        for often, times in TIMES.items()
    ]
    return [
        (f"{first} and {second}", " ".join([*one, *other]))
        for first, one in single
        for second, other in single
    ]


@pytest.mark.slow
def test_outputs_that_repeat_are_given_out_as_they_are_found(tmp_path):
    pairs = commands()
    (tmp_path / "recipe.toml").write_text(RECIPE)
    lines = [f"{source}\t{target}\n" for source, target in pairs]
    (tmp_path / "train.tsv").write_text("".join(random.Random(3).sample(lines, k=len(lines))))
    recipe = load_recipe(str(tmp_path / "recipe.toml"), source=str(tmp_path / "train.tsv"))
    *_, finished = train_model(recipe, tmp_path / "model")
    translator = heedful.load(finished.folder.path)
    sources = [source for source, _ in pairs]

    translations = translator.translate(sources)
    found = translator.translate_as_found(sources, beam_size=4)
    translator.habits = replace(translator.habits, most_turns=4, longest_ratio=3.0)
    doubted = translator.translate(sources)

    assert [translation.text for translation in translations] == found
    assert sum(bool(translation.flags) for translation in translations) <= 0.02 * len(sources)
    assert sum(bool(translation.flags) for translation in doubted) > 0.5 * len(sources)
