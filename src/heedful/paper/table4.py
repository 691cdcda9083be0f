"""Table 4: constituency parsing as sequence to sequence, on a folder of bracketed trees."""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch

from heedful.data.pair_ids import PairIds, write_pair_ids
from heedful.decoding.hypothesis import SearchConfig
from heedful.decoding.search import StepFunction
from heedful.model.config import ModelConfig
from heedful.model.transformer import Transformer
from heedful.paper.brackets import Agreement, compare_all
from heedful.paper.laboratory import refuse_too_short, search, train, training_of
from heedful.paper.linear_trees import Alphabet, Half, WellFormed, well_formed
from heedful.paper.request import Cells, Request
from heedful.paper.result import UNTESTED, Claim, Events, Result, Table, claim
from heedful.paper.trees import Tree, read_folder, read_trees
from heedful.storage.writing import folder_written_whole, make_folder
from heedful.text.tokenizer import Tokenizer, TokenizerConfig, train_tokenizer

DEFAULT_MINUTES = 15.0
EXTRA = 300  # section 6.3: output at most input + 300
BEAMS = {"greedy": SearchConfig(beam_size=1), "beam 21": SearchConfig(beam_size=21, alpha=0.3)}
"""Section 6.3: beam 21, alpha 0.3."""
_UNSEEN = 10  # one in so many files, the last ones, is not trained on
SIZES: dict[str, Any] = {
    "num_layers": 4,
    "d_model": 128,
    "d_ff": 512,
    "num_heads": 4,
    "dropout": 0.2,
}
_PRINTED = (
    ("Vinyals & Kaiser (2014)", "WSJ only", 88.3),
    ("Petrov et al. (2006)", "WSJ only", 90.4),
    ("Zhu et al. (2013)", "WSJ only", 90.4),
    ("Dyer et al. (2016)", "WSJ only", 91.7),
    ("Transformer (4 layers)", "WSJ only", 91.3),
    ("Zhu et al. (2013)", "semi-supervised", 91.3),
    ("Huang & Harper (2009)", "semi-supervised", 91.3),
    ("McClosky et al. (2006)", "semi-supervised", 92.1),
    ("Vinyals & Kaiser (2014)", "semi-supervised", 92.1),
    ("Transformer (4 layers)", "semi-supervised", 92.7),
    ("Luong et al. (2015)", "multi-task", 93.0),
    ("Dyer et al. (2016)", "generative", 93.3),
)


@dataclass(frozen=True)
class Bank:
    """Trees to learn from and trees to be judged by, and their words and labels as ids."""

    seen: list[Tree]
    unseen: list[Tree]
    tokenizer: Tokenizer
    alphabet: Alphabet

    def source(self, tree: Tree) -> list[int]:
        """Return the words of a tree as pieces."""
        return self.tokenizer.encode(sentence(tree))

    @property
    def fingerprint(self) -> str:
        """What tells one bank from another."""
        return hashlib.sha256("".join(map(str, self.seen + self.unseen)).encode()).hexdigest()[:16]


def run(request: Request) -> Events:
    """Train a parser within the minutes, and compare its trees."""
    assert request.trees is not None  # which the catalogue sees to
    minutes = request.minutes or DEFAULT_MINUTES
    refuse_too_short(minutes, 1)
    bank = bank_of(read_folder(request.trees))
    yield f"{len(bank.seen):,} trees to learn from, {len(bank.unseen):,} to be judged by"
    cell = parsed(Cells(request.out), request, bank, minutes)
    agreements = {how: _agreement(bank, found) for how, found in cell["trees"].items()}
    baseline = compare_all((tree, _flat(tree)) for tree in bank.unseen)
    yield Result(
        name=request.name,
        title="Table 4: English constituency parsing",
        tables=(_here(agreements, baseline, len(bank.unseen)), _printed()),
        scale=f"{len(bank.seen):,} trees to learn from where the paper had 40,000, "
        f"{len(bank.unseen):,} unseen ones of other files, {bank.tokenizer.vocab_size:,} pieces, "
        f"{cell['parameters'] / 1e6:.2f} million parameters, {minutes:g} minutes, "
        f"{cell['steps']:,} steps. So the numbers are not to be compared with the printed ones. "
        "F1 as EVALB counts it, punctuation aside.",
        claims=_claims(agreements, baseline, cell),
    )


def bank_of(files: dict[str, list[Tree]]) -> Bank:
    """Keep the last files for judging, and learn words and labels from the others."""
    names = list(files)
    held = max(len(names) // _UNSEEN, 1)
    if len(names) > 1:
        seen = [tree for name in names[:-held] for tree in files[name]]
        unseen = [tree for name in names[-held:] for tree in files[name]]
    else:
        trees = files[names[0]]
        cut = max(len(trees) // _UNSEEN, 1)
        seen, unseen = trees[:-cut], trees[-cut:]
    tokenizer = train_tokenizer(lambda: iter([sentence(tree) for tree in seen]), TokenizerConfig())
    labels = {label for tree in seen for label in _labels(tree)}
    return Bank(seen, unseen, tokenizer, Alphabet(labels, tokenizer.vocab_size))


def parsed(cells: Cells, request: Request, bank: Bank, minutes: float) -> dict[str, Any]:
    """Train a parser and let it parse, unless that has been done."""

    def measure() -> dict[str, Any]:
        torch.manual_seed(2017)
        network = Transformer(ModelConfig(vocab_size=bank.alphabet.vocab_size, **SIZES))
        pairs = pairs_of(request, bank)
        steps, seconds, _ = train(network, pairs, training_of(minutes, peak_rate=1e-3))
        trees = {how: parse(network, bank, bank.unseen, config) for how, config in BEAMS.items()}
        return {
            "trees": {how: [str(tree) for tree in found] for how, found in trees.items()},
            "steps": steps,
            "seconds": seconds,
            "parameters": network.num_parameters,
        }

    about = {"trees": bank.fingerprint, "minutes": minutes, "sizes": SIZES}
    return cells.measured("table4", about, measure)


def parse(
    network: Transformer, bank: Bank, trees: Sequence[Tree], config: SearchConfig
) -> list[Tree]:
    """Find a tree over the words of each of these, which lend their words and tags."""
    leaves = [list(tree.leaves()) for tree in trees]
    sources = [bank.source(tree) for tree in trees]

    def around(
        rows: list[int], step: StepFunction, state: Any, limits: list[int]
    ) -> tuple[StepFunction, Any]:
        halves = tuple(
            Half(len(leaves[row]), min(limit - 1, longest(len(leaves[row]))))
            for row, limit in zip(rows, limits, strict=True)
        )
        return well_formed(step, bank.alphabet), WellFormed(state, halves)

    found = search(network, sources, config, extra=EXTRA, around=around)
    return [
        bank.alphabet.decode(hypothesis.pieces, words)
        for hypothesis, words in zip(found, leaves, strict=True)
    ]


def longest(words: int) -> int:
    """Return how many ids a tree may take: more than any of the Penn Treebank's sample needs."""
    return 4 * words + 10


def sentence(tree: Tree) -> str:
    """Return the words of a tree."""
    return " ".join(leaf.word for leaf in tree.leaves())


def pairs_of(request: Request, bank: Bank) -> PairIds:
    """Write words and trees as ids, once, to learn from."""
    folder = request.out / "corpora" / f"trees-{bank.fingerprint}"
    if not folder.exists():
        make_folder(folder.parent)
        pairs = [(bank.source(tree), bank.alphabet.encode(tree)) for tree in bank.seen]
        with folder_written_whole(folder) as partial:
            write_pair_ids(partial / "train", pairs, bank.alphabet.vocab_size)
            (partial / "labels.json").write_text(json.dumps(bank.alphabet.labels))
    return PairIds(folder / "train")


def _agreement(bank: Bank, found: Sequence[str]) -> Agreement:
    trees = (tree for text in found for tree in read_trees(text, "a parsed tree"))
    return compare_all(zip(bank.unseen, trees, strict=True))


def _flat(tree: Tree) -> Tree:
    return Tree("S", tuple(tree.leaves()))


def _labels(tree: Tree) -> set[str]:
    inside = {label for child in tree.children for label in _labels(child)}
    return inside | {tree.label} if tree.children else set()


def _here(agreements: dict[str, Agreement], baseline: Agreement, trees: int) -> Table:
    rows = {"one flat S": baseline, **agreements}
    return Table(
        title=f"Here, over {trees} unseen trees",
        columns=("parser", "F1", "recall", "precision", "all brackets right, %"),
        rows=tuple(
            (
                name,
                *(round(it, 1) for it in (found.f1, found.recall, found.precision)),
                round(100 * found.exact / found.trees, 1),
            )
            for name, found in rows.items()
        ),
    )


def _printed() -> Table:
    return Table(
        title="Printed (WSJ section 23)", columns=("parser", "training", "F1"), rows=_PRINTED
    )


def _claims(
    agreements: dict[str, Agreement], baseline: Agreement, cell: dict[str, Any]
) -> tuple[Claim, ...]:
    best = max(found.f1 for found in agreements.values())
    return (
        claim(
            "The Transformer learns to parse without being made for it",
            "section 6.3",
            holds=best > baseline.f1 + 10,
            printed="91.3 F1",
            measured=f"{best:.1f} F1; one flat S gets {baseline.f1:.1f}",
            why="" if best > baseline.f1 + 10 else f"After {cell['steps']:,} steps.",
        ),
        Claim(
            text="It does better than all but one of the earlier parsers trained on 40,000 trees",
            source="table 4",
            printed="91.3 F1",
            measured=f"{best:.1f} F1",
            verdict=UNTESTED,
            why="The 40,000 trees of the Wall Street Journal are not free.",
        ),
    )
