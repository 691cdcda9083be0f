import shutil
from concurrent.futures import ThreadPoolExecutor
from random import Random
from threading import Barrier

import pytest
import torch

import heedful
from heedful.decoding.hypothesis import Hypothesis, SearchConfig
from heedful.decoding.pytorch_engine import PyTorchEngine
from heedful.errors import MissingExtraError
from heedful.interop.ctranslate2 import export_ctranslate2
from heedful.model.config import ModelConfig
from heedful.model.transformer import Transformer
from heedful.storage.checkpoint import load_model, save_model
from heedful.storage.folder import ModelFolder
from heedful.translation.translator import Translator
from tests.conftest import SilentEngine


class Echo(SilentEngine):
    """An engine that says what it hears, and once more with the first piece gone."""

    def search(self, sources, config, **options):
        self.sources, self.config = sources, config
        return [[Hypothesis(tuple(s), -1.0), Hypothesis(tuple(s[1:]), -2.0)] for s in sources]


@pytest.fixture
def echo(model_folder) -> Translator:
    return Translator(model_folder.tokenizer(), Echo())


def test_one_text_gives_one_translation_and_a_list_a_list(echo):
    assert echo.translate("a b").text == "a b"
    assert [str(t) for t in echo.translate(["a b", "c"])] == ["a b", "c"]


@pytest.mark.parametrize("engine", ["ctranslate2", "exact", "pytorch"])
def test_several_threads_may_use_one_translator_at_once(model_folder, engine):
    texts = [f"{'a b c d e f'[: 2 * n + 1]} {n % 3}" for n in range(6)] * 4
    wishes = [{}, {"details": True}, {"beam_size": 1}, {"prefix": "A"}, {"n_best": 3}]
    jobs = [(text, wishes[number % len(wishes)]) for number, text in enumerate(texts)]
    alone = [heedful.load(model_folder.path, engine).translate(text, **it) for text, it in jobs]
    translator = heedful.load(model_folder.path, engine)
    together = Barrier(8)

    def translate(start: int) -> list[heedful.Translation]:
        together.wait()
        order = [*jobs[start:], *jobs[:start]]
        found = [translator.translate(text, **wish) for text, wish in order]
        return [*found[len(jobs) - start :], *found[: len(jobs) - start]]

    with ThreadPoolExecutor(8) as pool:
        for found in pool.map(translate, range(8)):
            assert found == alone


def test_a_tuple_of_texts_is_translated_too(echo):
    assert [t.text for t in echo.translate(("a b", "c"))] == ["a b", "c"]


def test_learned_positions_bound_the_output(tmp_path):
    config = ModelConfig(
        vocab_size=9,
        num_layers=1,
        d_model=8,
        d_ff=8,
        num_heads=2,
        positions="learned",
        max_length=12,
    )
    engine = PyTorchEngine(Transformer(config))

    ((best,),) = engine.search([[4, 5, 6]], SearchConfig(beam_size=1))

    assert len(best.pieces) <= 12


def test_a_translation_carries_its_source_score_and_alternatives(echo):
    translation = echo.translate("a b", alpha=0.0, n_best=2)

    assert (translation.source, translation.score) == ("a b", -1.0)
    assert [candidate.score for candidate in translation.alternatives] == [-2.0]


def test_empty_and_blank_texts_come_back_as_they_are_and_are_not_searched(echo):
    translations = echo.translate(["", " \t ", "a"])

    assert [t.text for t in translations] == ["", " \t ", "a"]
    assert len(echo.engine.sources) == 1


def test_a_line_feed_spelt_in_bytes_does_not_break_the_line(model_folder):
    tokenizer = model_folder.tokenizer()
    line_feed = tokenizer.pieces(range(tokenizer.vocab_size)).index("<0x0A>")

    class Breaker(SilentEngine):
        def search(self, sources, config, **options):
            a = tuple(tokenizer.encode("a"))
            return [[Hypothesis((*a, line_feed, *a), -1.0)] for _ in sources]

    assert Translator(tokenizer, Breaker()).translate("b").text == "a a"


def test_lines_are_translated_as_a_stream_in_order(echo):
    lines = (f"a {'b' * (i % 3)}".strip() for i in range(1_600))

    translated = [t.text for t in echo.translate_lines(lines)]

    assert translated == [f"a {'b' * (i % 3)}".strip() for i in range(1_600)]


def test_the_search_is_the_models_own_unless_told_otherwise(model_folder):
    translator = Translator(model_folder.tokenizer(), Echo(), SearchConfig(beam_size=7, alpha=0.2))

    translator.translate("a")
    assert translator.engine.config == SearchConfig(beam_size=7, alpha=0.2)

    translator.translate("a", beam_size=1)
    assert translator.engine.config == SearchConfig(beam_size=1, alpha=0.2)


def test_a_model_folder_translates(model_folder):
    translator = heedful.load(model_folder.path)

    translation = translator.translate("a b c", n_best=4)

    assert translation == translator.translate("a b c", n_best=4)
    assert len(translation.alternatives) == 3
    assert translation.score >= translation.alternatives[0].score


@pytest.mark.parametrize("n_best", [1, 2, 3])
def test_the_best_are_the_same_however_many_are_asked_for(model_folder, n_best):
    translator = heedful.load(model_folder.path)
    whole = translator.translate("a b c", n_best=4)

    some = translator.translate("a b c", n_best=n_best)

    assert (some.text, some.score) == (whole.text, whole.score)
    assert some.alternatives == whole.alternatives[: n_best - 1]


@pytest.mark.parametrize("beam_size", [1, 4])
def test_the_output_does_not_depend_on_who_shares_the_batch(model_folder, beam_size):
    translator = heedful.load(model_folder.path)
    texts = ["a b c d e f", "f", "b a", "c c c c c c c c c c c c c c c c", "é ß 你"]

    together = translator.translate(texts, beam_size=beam_size)
    alone = [translator.translate(text, beam_size=beam_size) for text in texts]

    assert [t.text for t in together] == [t.text for t in alone]
    assert [t.score for t in together] == pytest.approx([t.score for t in alone], abs=1e-4)


def test_without_torch_it_says_what_to_install(model_folder, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "heedful.decoding.pytorch_engine", None)

    with pytest.raises(MissingExtraError, match=r"install it: pip install 'heedful\[train\]', or"):
        heedful.load(model_folder.path, engine="pytorch")


@pytest.mark.slow
def test_a_thousand_lines_with_something_to_keep_are_the_same_alone_and_in_company(
    model_folder, tmp_path
):
    folder = ModelFolder(shutil.copytree(model_folder.path, tmp_path / "keen"))
    model = load_model(folder)
    with torch.no_grad():  # make it look at one place, another one in each sentence
        for layer in model.decoder:
            layer.source_attention.query.weight *= 30
    save_model(folder, model)
    export_ctranslate2(folder)
    random = Random(7)
    kept = ["{name}", "<b>?</b>", "http://x.y/z", "1984", "%s", "<i>?</i> 77"]
    lines = []
    for number in range(1_000):
        words = random.choices("abcdef", k=4)
        words[number % 4] = kept[number % 6].replace("?", words[number % 4])
        lines.append(" ".join(words))
    shuffled = random.sample(lines, k=len(lines))
    translator = heedful.load(folder.path)

    together = translator.translate(lines)
    otherwise = dict(zip(shuffled, translator.translate(shuffled), strict=True))

    assert [otherwise[line] for line in lines] == together
    assert [translator.translate(line) for line in lines] == together
