import gzip
from pathlib import Path

import pytest
import torch

import heedful
from benchmarks import fresh, translators
from benchmarks.translate import Turn, main, single_table, take_turns
from benchmarks.translators import no_cache_translator
from heedful.text.normalise import normalise

TEXTS = ["a b c d e f", "f", "b a", "c c c c c"]


def test_the_loop_without_cache_finds_what_our_greedy_search_finds(model_folder):
    ours, loop = heedful.load(model_folder.path, "pytorch"), no_cache_translator(model_folder)

    for text in TEXTS:
        written = [normalise(translation) for translation in loop([text], 1)]
        assert written == ours.translate_as_found([text], beam_size=1)


def test_ctranslate2_leaves_torch_its_threads(model_folder):
    torch.set_num_threads(2)

    translators.quickstart_translator(model_folder)
    translators.hand_set_translator(model_folder, [["a b"]], 1)

    assert torch.get_num_threads() == 2


def test_every_system_translates_a_part_before_any_begins_the_next():
    taken = []

    def system(name):
        return lambda texts, beam_size: taken.append((name, texts)) or list(texts)

    turns = take_turns({"one": system("one"), "two": system("two")}, [["a"], ["b"]], 1)

    assert taken == [
        *[("one", ["a"]), ("two", ["a"])],  # unmeasured
        *[("two", ["a"]), ("one", ["a"])],
        *[("one", ["b"]), ("two", ["b"])],
    ]
    assert [turn.translations for turn in turns["two"]] == [["a"], ["b"]]


def test_our_lead_is_the_median_over_the_same_parts():
    seconds = {"heedful": [1.0, 2.0, 1.0], "other": [3.0, 4.0, 9.0]}
    turns = {
        name: [Turn(seconds=each, translations=["x"]) for each in taken]
        for name, taken in seconds.items()
    }

    assert single_table(turns).splitlines()[-1].endswith("| 3.00 |")


@pytest.mark.slow
def test_all_that_is_installed_takes_part(model_folder, corpus, tmp_path, monkeypatch, capsys):
    for module in (translators, fresh):
        monkeypatch.setattr(module, "find_spec", lambda name: None)
    for side, name in (("en", "source"), ("de", "target")):
        packed = gzip.compress(Path(corpus[name]).read_bytes())
        (tmp_path / f"test_2016_flickr.lc.norm.tok.{side}.gz").write_bytes(packed)

    main(data=tmp_path, model=model_folder.path, sentences=20, single=3, rounds=1)

    printed = capsys.readouterr().out
    assert printed.count("| CTranslate2, float32 | 20 of 20 |") == 2
    for system in ("heedful", "CTranslate2, quickstart", "CTranslate2, best by hand"):
        assert printed.count(f"| {system} |") == 3
    assert printed.count("| loop without cache |") == 2  # it searches greedily alone
    assert "| bare CTranslate2 script |" in printed
