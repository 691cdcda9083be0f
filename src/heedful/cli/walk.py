"""A walk through one translation, in the terminal."""

import math
from collections.abc import Iterable

from rich.console import Console, RenderableType
from rich.table import Table
from rich.text import Text

from heedful.cli.terminal import say, tell
from heedful.errors import printable
from heedful.explain.explanation import Explanation, Word, shown_pieces
from heedful.explain.roles import Head, Role
from heedful.explain.tree import Node

_SHADES = " ░▒▓█"
_DOES: dict[Role, str] = {
    "previous": "looks at the piece before",
    "same": "looks at the piece itself",
    "next": "looks at the piece after",
    "end": "rests on the end of the sentence",
    "start": "rests on the beginning",
    "aligner": "looks at the word that is translated",
}
_KINDS = {
    "encoder": "source to source",
    "decoder": "target to target",
    "cross": "target to source",
}
_BESTS = 3  # heads of each kind, and pieces of each step


def show_walk(explanation: Explanation, console: Console) -> None:
    """Print what a model does with a sentence, in the order in which it does it."""
    say(console, "", printable(explanation.source), f"  -> {printable(explanation.text)}")
    _part(console, "Pieces and their numbers", _pieces(explanation))
    _part(console, "Words: how sure, and from where", _words(explanation.words))
    _part(console, "Where the aligning head looked (source pieces across)", _map(explanation))
    _part(console, "Step by step: the three likeliest pieces", _steps(explanation))
    _part(console, "Beam search: what was kept, with log-probabilities", *_beam(explanation))
    _part(console, "What its heads do in this sentence", _heads(explanation.heads))
    say(console, "")
    tell(console, "All of it with pictures: heedful explain MODEL --out page.html")


def _part(console: Console, title: str, *shown: RenderableType) -> None:
    console.print()
    console.print(title, style="bold", highlight=False)
    for each in shown:
        console.print(each, highlight=False, soft_wrap=isinstance(each, Text))


def _pieces(explanation: Explanation) -> Table:
    table = Table.grid(padding=(0, 2))
    table.add_column(style="dim")
    table.add_column()
    for name, pieces, ids in (
        ("read", explanation.source_pieces, explanation.source_ids),
        ("written", explanation.target_pieces, explanation.target_ids),
    ):
        text = Text()
        for piece, id in zip(pieces, ids, strict=True):
            text.append(printable(piece)).append(f"\u00a0{id}  ", "dim")
        table.add_row(name, text)
    return table


def _words(words: Iterable[Word]) -> Table:
    table = Table.grid(padding=(0, 2))
    for word in words:
        style = "" if word.confidence >= 0.5 else "yellow" if word.confidence >= 0.2 else "red"
        sure = Text(f"{word.confidence:.0%}", style, justify="right")
        table.add_row(
            f"  {printable(word.text)}", sure, Text(f"from {printable(word.source)}", "dim")
        )
    return table


def _map(explanation: Explanation) -> Table:
    head = explanation.alignment
    weights = explanation.cross[head.layer]
    shown = weights.mean(axis=0) if head.head is None else weights[head.head]
    table = Table.grid(padding=(0, 0))
    table.add_column(justify="right", no_wrap=True)
    for piece, row in zip(
        explanation.target_pieces[1:], shown[head.shift :].tolist(), strict=False
    ):
        cells = Text()
        for source, weight in zip(explanation.source_pieces, row, strict=True):
            level = min(int(math.sqrt(weight) * len(_SHADES)), len(_SHADES) - 1)
            cells.append(_SHADES[level] * len(source) + " ")
        table.add_row(Text(f"{printable(piece)} "), cells)
    table.add_row("", Text(" ".join(map(printable, explanation.source_pieces)), "dim"))
    return table


def _steps(explanation: Explanation) -> Table:
    table = Table.grid(padding=(0, 2))
    written = [*explanation.target_pieces[1:], "</s>"]
    for number, (piece, likely) in enumerate(zip(written, explanation.steps, strict=False), 1):
        bests = Text()
        for one in likely[:_BESTS]:
            style = "" if one.piece == piece else "dim"
            bests.append(f"{printable(one.piece)} {math.exp(one.log_probability):.0%}   ", style)
        table.add_row(Text(f"{number:>4}", "dim"), Text(printable(piece), "bold"), bests)
    return table


def _beam(explanation: Explanation) -> list[Text]:
    """Write the likeliest way, under it those that part from it, and what came out."""
    tree, alpha = explanation.beam, explanation.search.alpha
    going_on: dict[int, list[Node]] = {}
    for node in (node for step in tree.steps for node in step if node.fate not in _LEFT):
        going_on.setdefault(node.parent, []).append(node)
    lines = _branch(explanation, going_on, going_on[0][0], 0)
    for other in going_on[0][1:]:
        lines += _branch(explanation, going_on, other, 1)
    lines.append(Text(f"  what came out, by log-probability / ((5 + n) / 6)^{alpha:g}", "dim"))
    for best in tree.best:
        text = printable(explanation.tokenizer.decode(best.pieces))
        lines.append(Text(f"  {best.score(alpha):8.3f}  {text}"))
    return lines


def _branch(
    explanation: Explanation, going_on: dict[int, list[Node]], node: Node, depth: int
) -> list[Text]:
    """Write how a hypothesis went on to its end, and indented under it what parted from it."""
    step, parted = len(node.pieces), []
    while following := going_on.get(node.number):
        parted.append(following[1:])
        node = following[0]
    written = printable(" ".join(shown_pieces(explanation.tokenizer, node.pieces[step - 1 :])))
    beginning = f"step {step}: " if depth else ""
    fate = _ENDS.get(node.fate, "outranked")
    text = f"  {node.total:8.3f}  {'  ' * depth}{beginning}{written}  ({fate})"
    lines = [Text(text, "bold" if node.fate == "finished" else "dim")]
    for other in (other for others in parted for other in others):
        lines += _branch(explanation, going_on, other, depth + 1)
    return lines


_LEFT = ("outranked", "ended too low")
_ENDS = {"finished": "finished", "cut": "cut at the length limit"}


def _heads(heads: Iterable[Head]) -> Table:
    """Name the heads whose part in a sentence is plainest."""
    table = Table.grid(padding=(0, 2))
    plain = sorted((head for head in heads if head.role in _DOES), key=lambda it: -it.share)
    for kind, between in _KINDS.items():
        for head in [it for it in plain if it.kind == kind][:_BESTS]:
            name = f"  {between}, layer {head.layer + 1}, head {head.head + 1}"
            table.add_row(name, f"{_DOES[head.role]} ({head.share:.0%})")
    return table
