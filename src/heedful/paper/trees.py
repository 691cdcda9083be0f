"""Bracketed trees: read with the place of what is wrong, cleaned as parsers are judged, written."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from heedful.errors import CorpusError

_TOKEN = re.compile(r"[()]|[^\s()]+")
_DEEPEST = 400  # far deeper than any sentence
_TRACE = "-NONE-"


@dataclass(frozen=True)
class Tree:
    """A constituent, or a word with its part of speech."""

    label: str
    children: tuple["Tree", ...] = ()
    word: str = ""

    @property
    def is_word(self) -> bool:
        """Whether this is a part of speech over one word."""
        return not self.children

    def leaves(self) -> Iterator["Tree"]:
        """Yield the words, each with its part of speech, from left to right."""
        if self.is_word:
            yield self
        for child in self.children:
            yield from child.leaves()

    def __str__(self) -> str:
        inside = " ".join(map(str, self.children)) if self.children else self.word
        return f"({self.label} {inside})"


def read_folder(folder: Path) -> dict[str, list[Tree]]:
    """Read every file of a folder that begins with a bracket: trees by the name of their file."""
    try:
        files = sorted(path for path in folder.iterdir() if path.is_file())
        texts = {path: path.read_text(encoding="utf-8", errors="replace") for path in files}
    except OSError as error:
        raise CorpusError(
            f"{folder}: cannot be read, {error.strerror}; name a folder of bracketed trees"
        ) from error
    found = {
        path.name: [clean(tree) for tree in read_trees(text, path)]
        for path, text in texts.items()
        if text.lstrip().startswith("(")
    }
    found = {name: [tree for tree in trees if tree] for name, trees in found.items()}
    if sum(map(len, found.values())) < 2:
        raise CorpusError(
            f"{folder}: fewer than two bracketed trees in its {len(files)} files; a file of trees "
            "begins with ("
        )
    return found  # type: ignore[return-value]


def read_trees(text: str, where: Path | str) -> list[Tree]:
    """Read trees one after the other; say line and column of what is wrong."""
    trees: list[Tree] = []
    open_at: list[int] = []
    stack: list[tuple[str, list[Tree], list[str]]] = []
    expects_label = False
    for found in _TOKEN.finditer(text):
        token, place = found.group(), found.start()
        if token == "(":
            if len(stack) == _DEEPEST:
                raise _wrong(text, place, where, f"brackets are more than {_DEEPEST} deep")
            stack.append(("", [], []))
            open_at.append(place)
            expects_label = True
        elif token == ")":
            if not stack:
                raise _wrong(text, place, where, "a ) closes nothing")
            open_at.pop()
            tree = _closed(text, place, where, *stack.pop())
            (stack[-1][1] if stack else trees).append(tree)
            expects_label = False
        elif not stack:
            raise _wrong(text, place, where, f"'{token:.20}' stands outside of brackets")
        elif expects_label:
            stack[-1] = (token, [], [])
            expects_label = False
        else:
            stack[-1][2].append(token)
    if open_at:
        raise _wrong(text, open_at[-1], where, "this ( is never closed")
    return trees


def _closed(
    text: str, place: int, where: Path | str, label: str, children: list[Tree], words: list[str]
) -> Tree:
    if len(words) > 1 or (words and children):
        raise _wrong(text, place, where, f"({label} holds a word and more; a word stands alone")
    if not words and not children:
        raise _wrong(text, place, where, f"({label}) is empty")
    return Tree(label, tuple(children), words[0] if words else "")


def _wrong(text: str, place: int, where: Path | str, what: str) -> CorpusError:
    line = text.count("\n", 0, place) + 1
    column = place - (text.rfind("\n", 0, place) + 1) + 1
    return CorpusError(f"{where}, line {line}, column {column}: {what}; mend it, or take it out")


def clean(tree: Tree) -> Tree | None:
    """Leave out traces, functions such as -SBJ, and brackets without a label."""
    if tree.is_word:
        return None if tree.label == _TRACE else tree
    children = tuple(kept for child in tree.children if (kept := clean(child)))
    if not children:
        return None
    if not tree.label or tree.label in ("TOP", "ROOT", "S1"):
        return children[0] if len(children) == 1 else Tree("S", children)
    return Tree(_category(tree.label), children)


def _category(label: str) -> str:
    """NP-SBJ-1 and NP=2 are NP, ADVP|PRT is ADVP; -LRB- is itself."""
    return re.split(r"[-=|]", label)[0] or label
