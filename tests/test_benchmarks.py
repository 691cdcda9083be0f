import gzip
import math
import re
from pathlib import Path

import pytest
import torch
from torch.testing import assert_close

from benchmarks import scaling, systems
from benchmarks.flops import model_flops
from benchmarks.scaling import cut_to_length, print_scaling, repeat_pairs, write_once
from benchmarks.systems import installed_systems, micro_batches
from benchmarks.train import main
from benchmarks.turns import Task
from heedful.data.pair_ids import PairIds, write_pair_ids
from heedful.model.batch import Batch
from heedful.model.config import ModelConfig
from heedful.specials import BOS, EOS, PAD


def test_model_flops_are_those_counted_by_hand():
    config = ModelConfig(vocab_size=5, num_layers=1, d_model=2, d_ff=3, num_heads=1)

    flops = model_flops(config, source_lengths=[2], target_lengths=[3])

    # Each pair of W^Q, W^O or W^K, W^V has 2 * 2 * 2 = 8 parameters, the feed-forward 2 * 2 * 3.
    source = 2 * (8 + 8 + 12 + 8)  # self-attention, feed-forward, offered to the decoder
    target = 3 * (8 + 8 + 8 + 12 + 2 * 5)  # self-attention, queries, feed-forward, output
    visible = 2 * 2 + (1 + 2 + 3) + 3 * 2  # in the encoder, in the decoder, between them
    assert flops == 6 * source + 6 * target + 3 * visible * (2 * 2 + 2 * 2) == 1644


def test_model_flops_of_sentences_add_up():
    config = ModelConfig(vocab_size=50, num_layers=2, d_model=8, d_ff=16, num_heads=2)

    together = model_flops(config, [2, 7], [3, 4])

    assert together == model_flops(config, [2], [3]) + model_flops(config, [7], [4])


def test_micro_batches_hold_every_piece_once_and_no_needless_padding():
    source = torch.tensor([[4, EOS, PAD, PAD], [4, EOS, PAD, PAD], [4, 5, 6, EOS]])
    target = torch.tensor([[BOS, 7, EOS], [BOS, 8, EOS], [BOS, 9, EOS]])

    first, second = micro_batches(Batch(source, target), tokens=8)

    assert_close(first.source, source[:2, :2])
    assert_close(second.source, source[2:])
    assert_close(first.target, target[:2])
    assert_close(second.target, target[2:])


def test_marian_takes_part_only_where_transformers_is_installed(monkeypatch):
    monkeypatch.setattr(systems, "find_spec", lambda name: None)
    without = installed_systems()
    monkeypatch.setattr(systems, "find_spec", lambda name: object())

    assert installed_systems() == [*without, "HuggingFace MarianMTModel loop"]


def test_sentences_of_one_length_are_cut_from_the_whole_corpus(tmp_path):
    pairs = write_pair_ids(tmp_path / "ids", [([4, 5], [14]), ([6], [15, 16])], vocab_size=20)

    assert list(cut_to_length(pairs, 1)) == [([4], [14]), ([5], [15]), ([6], [16])]
    assert list(repeat_pairs(pairs, 2)) == [([4, 5], [14]), ([6], [15, 16])] * 2


def test_a_corpus_that_is_there_is_not_written_again(tmp_path):
    write_once(tmp_path / "ids", [([4], [5])], vocab_size=20)

    write_once(tmp_path / "ids", [([6], [7])], vocab_size=20)

    assert PairIds(tmp_path / "ids")[0] == ([4], [5])


@pytest.mark.slow
def test_growth_is_measured_for_model_batch_sentence_and_corpus(tmp_path, monkeypatch, capsys):
    write_pair_ids(tmp_path / "ids", [([4, 5, 6], [7, 8, 9])] * 40, vocab_size=20)
    config = ModelConfig(vocab_size=20, num_layers=1, d_model=8, d_ff=8, num_heads=1)
    task = Task(system="heedful", config=config, ids=tmp_path / "ids", batch_tokens=64, threads=1)
    for name, values in {"SIZES": ["tiny"], "BATCH_TOKENS": [16, 32], "COPIES": [2]}.items():
        monkeypatch.setattr(scaling, name, values)
    monkeypatch.setattr(scaling, "LENGTHS", [5])

    print_scaling(task, steps=2, cache=tmp_path)

    first_cells = re.findall(r"^\| ([^|]+) \|", capsys.readouterr().out, flags=re.MULTILINE)
    assert first_cells == [
        "model", "tiny", "tokens in a batch", "16", "32", "pieces in a sentence", "5",
        "pairs in the corpus", "80",
    ]  # fmt: skip


@pytest.fixture
def multi30k(tmp_path, corpus):
    """A folder with files of the names that Multi30k has."""
    for side, name in (("en", "source"), ("de", "target")):
        packed = gzip.compress(Path(corpus[name]).read_bytes())
        (tmp_path / f"train.lc.norm.tok.{side}.gz").write_bytes(packed)
    return tmp_path


@pytest.fixture
def same_threads_afterwards():
    before = torch.get_num_threads()
    yield
    torch.set_num_threads(before)


@pytest.mark.slow
@pytest.mark.usefixtures("same_threads_afterwards")
def test_the_comparison_is_one_of_equals(multi30k, monkeypatch, capsys):
    monkeypatch.setattr(systems, "find_spec", lambda name: None)

    main(data=multi30k, steps=2, batch_tokens=256, threads=1, cache=multi30k / "cache")

    printed = capsys.readouterr().out
    (vocab_size,) = re.findall(r"Model `tiny`, (\d+) pieces", printed)
    losses = [float(line.split("|")[-2]) for line in printed.splitlines() if " GB |" in line]
    assert "MarianMTModel loop left out: transformers is not installed" in printed
    assert printed.count("| torch.nn.Transformer loop |") == 2
    assert len(losses) == 2
    # A model that knows nothing yet is about as surprised as one that guesses.
    assert losses == pytest.approx([math.log(int(vocab_size))] * 2, rel=0.2)
