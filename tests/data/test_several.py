import pytest

from heedful.data.files import DataConfig
from heedful.data.prepare import Preparation, prepare
from heedful.errors import ConfigError
from heedful.storage.languages import Direction

# Six ideas in three languages; the corpora share some sentences, and say some in two ways.
FRENCH = [f"idea {n}\tidée {n}" for n in range(40)] + ["idea 3\tpensée 3"]
GERMAN = [f"idea {n}\tEinfall {n}" for n in range(30, 70)]


def corpora(folder, *, both_ways: bool = True, **more: str) -> tuple[DataConfig, ...]:
    for name, lines in (("fr", FRENCH), ("de", GERMAN)):
        (folder / f"{name}.tsv").write_text("".join(f"{line}\n" for line in lines))
    return tuple(
        DataConfig(
            source=str(folder / f"{code}.tsv"),
            **({"from_language": "en", "to_language": code} | more),
            both_ways=both_ways,
        )
        for code in ("fr", "de")
    )


def rows(corpus, split: str) -> list[list[str]]:
    return [line.split("\t") for line in (corpus.folder / f"{split}.tsv").read_text().splitlines()]


def ways(corpus, split: str) -> set[str]:
    return {f"{source}-{target}" for _, _, source, target in rows(corpus, split)}


def test_each_pair_is_learned_both_ways_and_its_source_begins_with_the_tag_of_its_target(tmp_path):
    corpus = prepare(tmp_path / "corpus", corpora(tmp_path), Preparation())

    tags = corpus.tokenizer.tags
    assert sorted(tags) == ["de", "en", "fr"]
    assert ways(corpus, "valid") == {"en-fr", "fr-en", "en-de", "de-en"}
    for (source, target, _, code), (ids, target_ids) in zip(
        rows(corpus, "train"), corpus.train, strict=True
    ):
        assert ids[0] == tags[code]
        assert corpus.tokenizer.decode(ids) == source
        assert not set(target_ids) & set(tags.values())
        assert corpus.tokenizer.decode(target_ids) == target


def test_a_pair_is_held_out_either_way(tmp_path):
    corpus = prepare(tmp_path / "corpus", corpora(tmp_path), Preparation())

    held_out = {frozenset(row[:2]) for row in rows(corpus, "valid")}
    assert held_out
    assert not held_out & {frozenset(row[:2]) for row in rows(corpus, "train")}


def test_languages_without_a_corpus_learn_from_sentences_that_two_corpora_share(tmp_path):
    corpus = prepare(tmp_path / "corpus", corpora(tmp_path), Preparation())

    bridged = [row for row in rows(corpus, "train") if "en" not in row[2:]]
    assert {tuple(row[2:]) for row in bridged} == {("fr", "de"), ("de", "fr")}
    for source, target, _, _ in bridged:
        assert source.split()[1] == target.split()[1]  # the same idea
        assert 30 <= int(source.split()[1]) < 40
    known = {text for row in rows(corpus, "valid") for text in row[:2]}
    assert not known & {text for row in bridged for text in row[:2]}


def test_the_first_sentences_to_validate_on_are_of_every_direction(tmp_path):
    corpus = prepare(tmp_path / "corpus", corpora(tmp_path), Preparation())

    first = [tuple(row[2:]) for row in rows(corpus, "valid")[:4]]
    assert sorted(first) == [("de", "en"), ("en", "de"), ("en", "fr"), ("fr", "en")]


def test_corpora_of_one_direction_need_no_tags(tmp_path):
    data = corpora(tmp_path, both_ways=False, to_language="xx")

    corpus = prepare(tmp_path / "corpus", data, Preparation())

    assert corpus.directions == [Direction("en", "xx")]
    assert corpus.tokenizer.tags == {}
    assert {len(row) for row in rows(corpus, "train")} == {2}


def test_languages_must_be_named_where_there_are_several(tmp_path):
    with pytest.raises(ConfigError, match=r"fr\.tsv: of which languages it is must be said"):
        prepare(tmp_path / "corpus", corpora(tmp_path, from_language=""), Preparation())


def test_what_looks_like_a_tag_in_text_is_none(tmp_path):
    tokenizer = prepare(tmp_path / "corpus", corpora(tmp_path), Preparation()).tokenizer

    for text in (">>fr<<", ">>fr<< idea", "a >>de<<", "＞＞fr＜＜", ">\u200b>fr<<"):
        assert not set(tokenizer.encode(text)) & set(tokenizer.tags.values())
    assert tokenizer.decode(tokenizer.encode(">>fr<< idea")) == ">>fr<< idea"
    assert tokenizer.spell([tokenizer.tags["fr"]]) == [""]


def test_directions_through_shared_sentences_are_learned_where_there_are_enough(
    tmp_path, monkeypatch
):
    monkeypatch.setattr("heedful.data.prepare.FEWEST_BRIDGED", 5)

    corpus = prepare(tmp_path / "corpus", corpora(tmp_path), Preparation())

    assert {str(way) for way in corpus.directions} == {
        *("en-fr", "fr-en", "en-de", "de-en"),
        *("fr-de", "de-fr"),
    }


def test_a_few_shared_sentences_teach_no_direction(tmp_path):
    corpus = prepare(tmp_path / "corpus", corpora(tmp_path), Preparation())

    assert {str(way) for way in corpus.directions} == {"en-fr", "fr-en", "en-de", "de-en"}


def test_both_ways_without_languages_is_refused(tmp_path):
    data = corpora(tmp_path, from_language="", to_language="")[:1]

    with pytest.raises(ConfigError, match=r"of which languages it is must be said"):
        prepare(tmp_path / "corpus", data, Preparation())


def test_a_source_to_validate_on_is_in_no_corpus_and_on_no_side(tmp_path):
    """Sides repeat each other here, and both corpora have the same pairs."""
    lines = [f"word {n % 20}\tmot {n % 15}" for n in range(60)]
    for name in ("a", "b"):
        (tmp_path / f"{name}.tsv").write_text("".join(f"{line}\n" for line in lines))
    languages = {"from_language": "en", "to_language": "fr", "both_ways": True}
    data = tuple(DataConfig(source=str(tmp_path / f"{it}.tsv"), **languages) for it in "ab")

    corpus = prepare(tmp_path / "corpus", data, Preparation())

    held_out = {(source, to) for source, _, _, to in rows(corpus, "valid")}
    assert held_out
    assert not held_out & {(source, to) for source, _, _, to in rows(corpus, "train")}
