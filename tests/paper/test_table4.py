"""Table 4 on a bank of made-up sentences."""

from itertools import chain

import pytest
import torch

from heedful.errors import ConfigError
from heedful.model.config import ModelConfig
from heedful.model.transformer import Transformer
from heedful.paper import table4
from heedful.paper.catalogue import run
from heedful.paper.laboratory import train, training_of
from heedful.paper.request import Request
from heedful.paper.trees import read_folder
from heedful.training.config import TrainingConfig
from tests.paper.bank import write_bank


@pytest.fixture
def bank(tmp_path):
    write_bank(tmp_path / "trees")
    return table4.bank_of(read_folder(tmp_path / "trees"))


def test_the_last_files_are_not_learned_from(bank):
    assert len(bank.seen) == 9 * 8
    assert len(bank.unseen) == 8
    assert bank.alphabet.labels == ["NP", "PP", "S", "VP"]


def test_trees_are_found_over_the_words_whatever_the_network_knows(bank):
    torch.manual_seed(1)
    network = Transformer(
        ModelConfig(
            vocab_size=bank.alphabet.vocab_size, num_layers=1, d_model=16, d_ff=16, num_heads=2
        )
    )

    for config in table4.BEAMS.values():
        found = table4.parse(network, bank, bank.unseen[:3], config)
        for gold, tree in zip(bank.unseen, found, strict=False):
            assert list(tree.leaves()) == list(gold.leaves())


@pytest.mark.slow
def test_a_small_model_learns_to_parse_what_it_has_not_seen(tmp_path, bank):
    torch.manual_seed(1)
    sizes = {"num_layers": 1, "d_model": 32, "d_ff": 64, "num_heads": 2, "dropout": 0.0}
    network = Transformer(ModelConfig(vocab_size=bank.alphabet.vocab_size, **sizes))
    pairs = table4.pairs_of(Request(name="table4", out=tmp_path / "out"), bank)
    config = TrainingConfig(steps=150, batch_tokens=512, warmup_steps=20, peak_rate=5e-3)
    assert training_of(1.0).optimizer == config.optimizer

    train(network, pairs, config)

    found = table4.parse(network, bank, bank.unseen, table4.BEAMS["greedy"])
    assert max(len(bank.alphabet.encode(tree)) - table4.longest(9) for tree in found) <= 0
    right = [str(tree) == str(gold) for tree, gold in zip(found, bank.unseen, strict=True)]
    assert sum(right) >= 6
    assert len({str(tree) for tree in chain(found, bank.unseen)}) > 2


@pytest.mark.slow
def test_the_table_stands_beside_the_printed_one_and_is_measured_once(tmp_path, bank, monkeypatch):
    request = Request(name="table4", out=tmp_path / "out", trees=tmp_path / "trees", minutes=0.1)

    *_, first = run(request)
    monkeypatch.setattr(table4, "train", None)  # would fail
    *_, second = run(request)

    assert first.tables == second.tables
    assert [row[0] for row in first.tables[0].rows] == ["one flat S", "greedy", "beam 21"]
    assert ("Transformer (4 layers)", "WSJ only", 91.3) in first.tables[1].rows


def test_without_trees_it_says_what_to_name(tmp_path):
    with pytest.raises(ConfigError, match="table4 needs --trees; name a folder of bracketed trees"):
        list(run(Request(name="table4", out=tmp_path)))
