from dataclasses import replace

import pytest

from heedful.data.corpus import CleaningConfig
from heedful.data.files import DataConfig
from heedful.data.prepare import Preparation, prepare
from heedful.errors import ConfigError, CorpusError, ModelFolderError
from heedful.text.tokenizer import TokenizerConfig


def write_corpus(folder, num_pairs: int = 60, repeat: int = 1) -> DataConfig:
    sources = [f"sentence number {i}" for i in range(num_pairs)]
    lines = [(s, f"phrase {i} variante {r}") for i, s in enumerate(sources) for r in range(repeat)]
    (folder / "a.en").write_text("".join(f"{source}\n" for source, _ in lines))
    (folder / "a.fr").write_text("".join(f"{target}\n" for _, target in lines))
    return DataConfig(source=str(folder / "a.en"), target=str(folder / "a.fr"))


def prepared(folder, data):
    return prepare(folder / "corpus", (data,), Preparation())


def test_a_corpus_is_cleaned_cut_into_pieces_and_counted(tmp_path):
    corpus = prepared(tmp_path, write_corpus(tmp_path))

    assert corpus.report.kept == 60
    assert (len(corpus.train), len(corpus.valid)) == (57, 3)
    source, target = corpus.valid[0]
    assert (corpus.tokenizer.decode(source), corpus.tokenizer.decode(target)) == (
        corpus.valid_pairs()[0]
    )


def test_the_size_of_the_training_text_is_that_of_its_sentences(tmp_path):
    corpus = prepared(tmp_path, write_corpus(tmp_path))

    lines = (corpus.folder / "train.tsv").read_text().splitlines()
    assert corpus.num_train_bytes == sum(len(side) for line in lines for side in line.split("\t"))


@pytest.mark.slow
def test_no_more_than_five_hundred_pairs_are_held_out_however_many_there_are(tmp_path):
    corpus = prepared(tmp_path, write_corpus(tmp_path, num_pairs=11_000))

    assert (len(corpus.train), len(corpus.valid)) == (10_500, 500)


def test_no_validation_source_is_trained_on_even_if_it_has_many_translations(tmp_path):
    corpus = prepared(tmp_path, write_corpus(tmp_path, repeat=3))

    decode = corpus.tokenizer.decode
    trained = {decode(corpus.train[i][0]) for i in range(len(corpus.train))}
    held_out = {source for source, _ in corpus.valid_pairs()}
    assert len(corpus.train) + len(corpus.valid) == 180
    assert held_out
    assert not trained & held_out


def test_validation_files_of_ones_own_are_used_whole(tmp_path):
    data = write_corpus(tmp_path)
    (tmp_path / "v.tsv").write_text("hello\tbonjour\nbye\tau revoir\n")

    corpus = prepared(
        tmp_path,
        DataConfig(source=data.source, target=data.target, valid_source=str(tmp_path / "v.tsv")),
    )

    assert corpus.valid_pairs() == [("hello", "bonjour"), ("bye", "au revoir")]
    assert len(corpus.train) == 60


def test_what_is_dropped_of_validation_files_is_told(tmp_path):
    data = write_corpus(tmp_path)
    (tmp_path / "v.tsv").write_text("hello\tbonjour\nhello\tbonjour\n\tau revoir\n")

    corpus = prepared(tmp_path, replace(data, valid_source=str(tmp_path / "v.tsv")))

    told = "1 of 3 pairs kept; dropped 1 with an empty side, 1 seen before"
    assert str(corpus.valid_report) == told
    assert str(corpus.report) == "60 of 60 pairs kept"


def test_a_corpus_that_was_prepared_in_another_way_is_prepared_anew(tmp_path):
    data, folder = write_corpus(tmp_path), tmp_path / "corpus"
    vocabulary = prepared(tmp_path, data).tokenizer

    small = Preparation(tokenizer=TokenizerConfig(vocab_size=330))
    smaller = prepare(folder, (data,), small).tokenizer
    short = Preparation(cleaning=CleaningConfig(max_characters=19))
    shorter = prepare(folder, (data,), short).report

    assert vocabulary.vocab_size != smaller.vocab_size == 330
    assert shorter.too_long == 50  # all with numbers of two digits


def test_a_file_is_known_by_what_is_in_it(tmp_path):
    data = write_corpus(tmp_path)
    before = prepared(tmp_path, data)
    (tmp_path / "a.en").rename(tmp_path / "b.en")

    again = prepared(tmp_path, replace(data, source=str(tmp_path / "b.en")))

    assert again.about == before.about


def test_a_prepared_corpus_is_taken_again_and_other_files_are_refused(tmp_path):
    data = write_corpus(tmp_path)
    first = prepared(tmp_path, data)
    made = (first.folder / "corpus.json").stat().st_mtime_ns

    again = prepared(tmp_path, data)
    assert (again.folder / "corpus.json").stat().st_mtime_ns == made

    write_corpus(tmp_path, num_pairs=80)
    with pytest.raises(ModelFolderError, match=r"made from other files: a\.en is not what it was"):
        prepared(tmp_path, data)
    assert first.report.read == 60


def test_a_damaged_account_of_a_corpus_is_named(tmp_path):
    data = write_corpus(tmp_path)
    (prepared(tmp_path, data).folder / "corpus.json").write_text("")

    with pytest.raises(ModelFolderError, match=r"corpus\.json: damaged, .*; choose another folder"):
        prepared(tmp_path, data)


def test_a_file_whose_name_is_no_text_is_refused():
    with pytest.raises(ConfigError, match=r"'caf\\udce9\.en': its name is not UTF-8; rename it"):
        DataConfig(source="caf\udce9.en")


def test_a_corpus_half_removed_is_prepared_again(tmp_path):
    data = write_corpus(tmp_path)
    (prepared(tmp_path, data).folder / "corpus.json").unlink()

    assert len(prepared(tmp_path, data).train) == 57


def test_a_refused_corpus_leaves_nothing_behind(tmp_path):
    data = write_corpus(tmp_path)
    with (tmp_path / "a.fr").open("ab") as file:
        file.write(b"one more\n")

    with pytest.raises(CorpusError, match="not parallel: 60 lines against 61"):
        prepared(tmp_path, data)

    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.en", "a.fr"]


def test_two_pairs_are_enough_and_one_is_not(tmp_path):
    with pytest.raises(CorpusError, match=r"1 of 1 pairs kept; training needs at least two pairs"):
        prepared(tmp_path, write_corpus(tmp_path, num_pairs=1))

    corpus = prepared(tmp_path, write_corpus(tmp_path, num_pairs=2))
    assert (len(corpus.train), len(corpus.valid)) == (1, 1)


def test_validation_files_with_nothing_in_them_are_named(tmp_path):
    data = write_corpus(tmp_path)
    (tmp_path / "v.tsv").write_text("hello\t\n")
    data = replace(data, valid_source=str(tmp_path / "v.tsv"))

    with pytest.raises(
        CorpusError, match=r"v\.tsv: 0 of 1 pairs kept; .* nothing is left to valid"
    ):
        prepared(tmp_path, data)


def test_no_source_is_refused():
    with pytest.raises(
        ConfigError, match=r"source is missing; give --source, a text file or a TSV"
    ):
        DataConfig()


def test_half_a_validation_set_is_refused():
    with pytest.raises(ConfigError, match=r"valid_target is given without valid_source"):
        DataConfig(source="a.en", target="a.fr", valid_target="v.fr")


def test_teachers_that_leave_nothing_to_train_on_are_told_in_a_line(tmp_path):
    data = replace(write_corpus(tmp_path), valid_source=str(tmp_path / "a.en"))
    data = replace(data, valid_target=data.target)
    (tmp_path / "taught.tsv").write_text("sentence number 1\tphrase 1\n")

    with pytest.raises(CorpusError, match=r"taught\.tsv: every source is one to validate on"):
        prepare(tmp_path / "corpus", (data,), Preparation(taught=tmp_path / "taught.tsv"))
