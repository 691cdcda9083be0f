"""A model of several languages, from its corpora to what is made of a text."""

import pytest

from heedful import load
from heedful.data.prepare import PreparedCorpus
from heedful.errors import ConfigError
from heedful.evaluation import bleu
from heedful.runs.recipe import load_recipe
from heedful.runs.train import train_model
from heedful.storage.languages import Direction
from tests.conftest import TINY_RECIPE

LEARNING = """
[tokenizer]
vocab_size = 400

[model]
num_layers = 2
d_model = 64
d_ff = 128
num_heads = 4
dropout = 0.0

[training]
steps = 500
batch_tokens = 512
optimizer = "adam"
rivals = 1.0
peak_rate = 3e-3
warmup_steps = 100
validate_every = 250
average_last = 1
"""
WORDS = [
    *("alder", "birch", "cedar", "elm", "fir", "hazel", "larch"),
    *("maple", "oak", "pine", "rowan", "spruce", "willow", "yew"),
]
CORPORA = """
[[data]]
source = "caps.tsv"
from = "xa"
to = "en"

[[data]]
source = "tail.tsv"
from = "en"
to = "xb"
both_ways = true
"""


def sentences(count: int) -> list[str]:
    return [
        " ".join(WORDS[(row * step + row // 14) % 14] for step in range(1, 3 + row % 3))
        for row in range(count)
    ]


def in_xa(text: str) -> str:
    return text.upper()


def in_xb(text: str) -> str:
    return " ".join(f"{word[::-1]}ü" for word in text.split())


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A model of a few steps: it knows its languages, and says nothing sensible in them."""
    place = tmp_path_factory.mktemp("several")
    texts = sentences(120)
    (place / "caps.tsv").write_text("".join(f"{in_xa(text)}\t{text}\n" for text in texts))
    (place / "tail.tsv").write_text("".join(f"{text}\t{in_xb(text)}\n" for text in texts))
    (place / "mine.toml").write_text(CORPORA + TINY_RECIPE)
    recipe = load_recipe(place / "mine.toml", folder=place)
    *_, finished = train_model(recipe, place / "model")
    return finished.folder


@pytest.fixture(scope="module", params=["ctranslate2", "pytorch"])
def translator(folder, request):
    return load(folder.path, request.param)


@pytest.fixture
def asked(translator, monkeypatch):
    """What the engine is asked to search for: first piece of each source, in the order asked."""
    tags, search = [], translator.engine.search

    def noting(sources, config, **options):
        tags.extend(source[0] for source in sources)
        return search(sources, config, **options)

    monkeypatch.setattr(translator.engine, "search", noting)
    return tags


def test_a_model_knows_its_languages(translator, folder):
    assert set(map(str, translator.languages)) == {"xa-en", "en-xb", "xb-en"}
    scores = folder.provenance().scores
    of_each = [score.name for score in scores if score.name.startswith("BLEU ")]
    assert of_each == ["BLEU xa-en", "BLEU en-xb", "BLEU xb-en"]
    assert "xa-en, en-xb, xb-en" in folder.card_file.read_text()


def test_the_wanted_language_stands_before_the_source(translator, asked):
    translator.translate("oak elm", from_language="en", to_language="xb")

    assert set(asked) == {translator.tokenizer.tags["xb"]}


def test_text_that_spells_a_tag_is_text(translator, asked):
    source = ">>en<< oak"

    translation = translator.translate(source, from_language="en", to_language="xb")

    assert set(asked) == {translator.tokenizer.tags["xb"]}
    assert translation.direction == Direction("en", "xb")


def test_a_way_that_was_not_learned_goes_through_another_and_says_so(translator, asked):
    translation = translator.translate(
        "OAK ELM", from_language="xa", to_language="xb", details=True
    )

    tags = translator.tokenizer.tags
    assert list(dict.fromkeys(asked)) == [tags["en"], tags["xb"]]
    assert "through" in translation.flags
    assert translation.source == "OAK ELM"
    assert translation.details.source_words == ("OAK", "ELM")
    assert all(source < 2 for source, _ in translation.details.alignment)
    assert translation.direction == Direction("xa", "xb")
    with pytest.raises(ConfigError, match=r"it goes through en, where a glossary cannot"):
        translator.translate("OAK", glossary={"OAK": "Q"}, from_language="xa", to_language="xb")


def test_texts_of_several_languages_come_back_in_order(translator):
    texts = ["oak elm", "kaoü mleü", "pine", "hcribü radecü"]
    alone = [translator.translate(text, to_language="xb").text for text in texts]

    together = translator.translate(texts, to_language="xb")

    assert [translation.text for translation in together] == alone
    assert [it.flags for it in together][1::2] == [("same",), ("same",)]
    assert together[1].text == "kaoü mleü"
    assert "same" not in together[0].flags
    assert translator.with_details(together)[1] == together[1]


def test_a_text_in_none_of_its_languages_is_flagged(translator):
    assert "language" in translator.translate("жёлтый лист", to_language="en").flags
    assert "language" not in translator.translate("2026", to_language="en").flags


def test_what_is_said_goes_before_what_seems(translator):
    said = translator.translate("kaoü mleü", from_language="en", to_language="xb")

    assert said.direction == Direction("en", "xb")
    assert "same" not in said.flags


def test_words_that_are_linked_are_those_of_the_text_without_the_tag(translator):
    translation = translator.translate(
        "oak elm pine", from_language="en", to_language="xb", details=True
    )

    assert translation.details.source_words == ("oak", "elm", "pine")
    for source, word in translation.details.alignment:
        assert source < 3
        assert word < len(translation.details.words)


def test_other_words_are_found_in_the_same_language(translator, asked):
    translation = translator.translate("oak elm", from_language="en", to_language="xb")
    asked.clear()

    translator.alternatives(translation, 0)

    assert set(asked) == {translator.tokenizer.tags["xb"]}


def test_a_language_that_is_not_there_or_not_said_is_an_error_before_any_work(translator):
    with pytest.raises(ConfigError, match=r"to which language\? Give one \(--to\) of: en, xb"):
        translator.translate("oak")
    with pytest.raises(ConfigError, match=r"does not translate to 'fr'; known names: en, xb"):
        translator.translate_lines(iter(["oak"]), to_language="fr")
    with pytest.raises(ConfigError, match=r"does not translate from 'fr'"):
        translator.translate("oak", from_language="fr", to_language="en")


def test_both_engines_agree(folder):
    texts = sentences(40)[20:]

    ours, theirs = (
        [it.text for it in load(folder.path, engine).translate(texts, to_language="xb")]
        for engine in ("pytorch", "exact")
    )

    assert ours == theirs


def test_a_model_of_several_languages_goes_on_in_one_direction(folder, tmp_path):
    (tmp_path / "new.tsv").write_text("".join(f"oak {n}\tkaoü {n}ü\n" for n in range(40)))
    (tmp_path / "mine.toml").write_text(TINY_RECIPE)
    languages = {"from_language": "en", "to_language": "xb"}
    recipe = load_recipe(tmp_path / "mine.toml", source=tmp_path / "new.tsv", **languages)

    *_, finished = train_model(recipe.going_on_from(folder.path, 0.2), tmp_path / "model")

    better, before = load(finished.folder.path), load(folder.path)
    assert better.languages == before.languages
    assert better.guess("kaoü mleü") == before.guess("kaoü mleü")
    tag = before.tokenizer.tags["xb"]
    sources = [source for source, _ in PreparedCorpus(finished.folder.corpus).valid]
    assert {source[0] for source in sources} == {tag}


def test_a_direction_that_a_model_has_not_cannot_be_gone_on_with(folder, tmp_path):
    (tmp_path / "new.tsv").write_text("a\tb\nc\td\n")
    recipe = load_recipe(source=tmp_path / "new.tsv", from_language="en", to_language="fr")

    with pytest.raises(ConfigError, match=r"translates xa-en, en-xb, xb-en, and the new pairs are"):
        next(train_model(recipe.going_on_from(folder.path), tmp_path / "model"))


@pytest.mark.slow
def test_a_model_learns_to_write_what_is_wanted(folder, tmp_path):
    place = folder.path.parent
    (tmp_path / "mine.toml").write_text(CORPORA + LEARNING)
    recipe = load_recipe(tmp_path / "mine.toml", folder=place)
    *_, finished = train_model(recipe, tmp_path / "model")
    translator = load(finished.folder.path)
    texts = sentences(120)

    there = translator.translate(texts, from_language="en", to_language="xb")
    back = translator.translate([in_xb(text) for text in texts], to_language="en")

    assert all(word.endswith("ü") for it in there for word in it.text.split())
    assert not any(word.endswith("ü") for it in back for word in it.text.split())
    assert bleu([it.text for it in there], list(map(in_xb, texts))).value > 40
    assert bleu([it.text for it in back], texts).value > 40
