"""The walk in the terminal: everything is in it, at 80 columns."""

import io

import pytest
from rich.console import Console

import heedful
from heedful.cli.walk import show_walk
from heedful.translation.translator import load


@pytest.fixture(scope="module")
def explanation(model_folder):
    return heedful.explain(load(model_folder.path), "a b c d", translation="A B")


def walked(explanation) -> str:
    console = Console(file=io.StringIO(), width=80, force_terminal=False)
    show_walk(explanation, console)
    return console.file.getvalue()


def test_all_parts_are_told_in_order(explanation):
    lines = walked(explanation)

    parts = [
        "a b c d",
        "-> A B",
        "Pieces",
        "Words:",
        "aligning head",
        "Step by step",
        "Beam search",
    ]
    places = [lines.index(part) for part in parts]
    assert places == sorted(places)
    for piece, id in zip(explanation.source_pieces, explanation.source_ids, strict=True):
        assert f"{piece}\xa0{id}" in lines
    for word in explanation.words:
        assert f"{word.confidence:.0%}" in lines


def test_what_came_out_of_the_beam_stands_under_it_with_its_score(explanation):
    lines = walked(explanation).splitlines()

    at = next(number for number, line in enumerate(lines) if "what came out" in line)
    alpha = explanation.search.alpha
    for best, line in zip(explanation.beam.best, lines[at + 1 :], strict=False):
        assert f"{best.score(alpha):.3f}" in line
    kept = [node for node in explanation.beam.steps[0] if node.fate == "kept"]
    assert len(kept) == 4
