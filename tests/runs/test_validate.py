from dataclasses import replace

import pytest

from heedful.data.prepare import PreparedCorpus
from heedful.decoding.hypothesis import Hypothesis, SearchConfig
from heedful.runs.events import Examples
from heedful.runs.recipe import load_recipe
from heedful.runs.train import train_model
from heedful.runs.validate import BLEU_SENTENCES, Validator, examples_of
from heedful.storage.checkpoint import load_model

FORTY = "a sentence of about forty characters, ok"


@pytest.fixture
def validator(model_folder) -> Validator:
    recipe = load_recipe(str(model_folder.recipe_file))
    recipe = replace(
        recipe,
        search=SearchConfig(beam_size=3),
        training=replace(recipe.training, average_last=4),
    )
    return Validator(load_model(model_folder), PreparedCorpus(model_folder.corpus), recipe)


def test_the_end_takes_a_validation_its_means_and_a_beam_for_all_pairs(validator):
    """Of 10 seconds 6 are for searching 200 of 500 pairs: 10, 4 times 4, and 3 * 0.5 * 6 * 2.5."""
    validator.pairs = [("a", "A")] * 500

    ending = validator.ending_seconds(validating=10.0, searching=6.0, length_ratio=0.5)

    assert ending == pytest.approx(10 + 4 * 4 + 3 * 0.5 * 6 * 2.5)


def test_output_that_is_too_long_now_will_take_less_time_at_the_end(validator):
    validator.pairs = [("a", "A")] * 100  # all of which were searched

    ending = validator.ending_seconds(validating=10.0, searching=6.0, length_ratio=4.0)

    assert ending == pytest.approx(10 + 4 * 4 + 3 * 0.5 * 6 / 4)


def test_translations_are_compared_with_their_references(validator, monkeypatch):
    validator.pairs = [("a b", "A B C D E"), ("c", "C D E F G"), ("a b", "A B C D E")]
    texts = ["A B C D E", "C D", "C D"]
    found = [[Hypothesis(tuple(validator.tokenizer.encode(text)), -1.0)] for text in texts]
    monkeypatch.setattr(
        validator.engine, "search", lambda sources, config: {1: found}[config.beam_size]
    )

    found = validator.search()

    assert (found.num_distinct, found.num_distinct_references) == (2, 2)
    assert found.length_ratio == pytest.approx((9 + 3 + 3) / 27)
    assert 0 < found.bleu.value < 100


def test_bleu_is_measured_on_the_first_pairs_alone(validator, monkeypatch):
    validator.pairs = [(f"{n}", f"{n} a b c d") for n in range(BLEU_SENTENCES + 3)]
    validator.ids = [([n], [n]) for n in range(BLEU_SENTENCES + 3)]
    searched = []

    def search(sources, config):
        searched.extend(source for (source,) in sources)
        texts = [f"{source} a b c d" for (source,) in sources]
        return [[Hypothesis(tuple(validator.tokenizer.encode(text)), -1.0)] for text in texts]

    monkeypatch.setattr(validator.engine, "search", search)

    found = validator.search()

    assert searched == list(range(BLEU_SENTENCES))
    assert found.num_distinct == found.num_distinct_references == BLEU_SENTENCES


def shown(*pairs: tuple[str, str]) -> list[str]:
    translations = [f"{source}!" for source, _ in pairs]
    found = examples_of(pairs, translations)
    assert all(it.translation == f"{it.source}!" for it in found)
    return [it.source for it in found]


def test_examples_are_neither_the_shortest_nor_the_longest():
    pairs = [
        ("short", "x"),
        ("first", FORTY),
        ("long", 5 * FORTY),
        ("second", f"{FORTY}."),
        ("t", FORTY[:-3]),
    ]

    assert shown(*pairs) == ["first", "second", "t"]


def test_what_stays_the_same_is_no_example_where_there_is_another():
    assert shown((FORTY, FORTY), ("a", "b"), ("c", "d"), ("e", "f")) == ["a", "c", "e"]


def test_one_pair_is_one_example_however_often_it_comes():
    assert shown(("a", FORTY), ("a", FORTY), ("b", "c")) == ["a", "b"]


def test_examples_are_of_the_sentences_that_bleu_is_measured_on():
    pairs = [(f"{n}", "x") for n in range(BLEU_SENTENCES)] + [("late", FORTY)]

    assert shown(*pairs) == ["0", "1", "2"]


def test_the_same_two_are_shown_at_every_validation_and_with_one_more_at_the_end(
    corpus, recipe_file, tmp_path
):
    events = list(train_model(load_recipe(recipe_file, **corpus), tmp_path / "model"))

    told = [event for event in events if isinstance(event, Examples)]
    sources = [[example.source for example in event.found] for event in told]
    finished = events[-1]
    assert [event.step for event in told] == [2, 4, 6]
    assert [len(set(pair)) for pair in sources] == [2, 2, 2]
    assert sources[0] == sources[1] == sources[2]
    assert [example.source for example in finished.examples][:2] == sources[0]
    assert len(finished.examples) == 3
    assert finished.folder.provenance().examples == list(finished.examples)
    held_out = finished.folder.corpus / "valid.tsv"
    pairs = {tuple(line.split("\t")) for line in held_out.read_text().splitlines()}
    assert {(it.source, it.reference) for it in finished.examples} <= pairs
