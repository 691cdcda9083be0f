"""Texts with numbered tags, each of which stands for something that has to come back."""

import re
from dataclasses import dataclass, field
from typing import Any


@dataclass
class Node:
    """What a tag stood for, with what is inside it now; None if it stands alone."""

    thing: Any
    inside: "list[str | Node] | None" = None


@dataclass
class Tagged:
    """A text that is written part by part, and read again when it is translated."""

    things: list[Any] = field(default_factory=list)
    _parts: list[tuple[str, int, str]] = field(default_factory=list)
    _alone: set[int] = field(default_factory=set)

    def write(self, text: str) -> None:
        """Go on with a text."""
        self._parts.append((text, -1, ""))

    def alone(self, thing: Any) -> None:
        """Go on with something that has no text."""
        number = self._number(thing)
        self._alone.add(number)
        self._parts.append(("<", number, "/>"))

    def begin(self, thing: Any) -> int:
        """Go on inside something, until the number that is returned ends."""
        number = self._number(thing)
        self._parts.append(("<", number, ">"))
        return number

    def end(self, number: int) -> None:
        """Go on after what was begun."""
        self._parts.append(("</", number, ">"))

    @property
    def words(self) -> str:
        """The text without tags."""
        return "".join(text for text, number, _ in self._parts if number < 0)

    @property
    def text(self) -> str:
        """The text with its tags."""
        name = self._name
        return "".join(
            text if number < 0 else f"{text}{name}{number}{end}"
            for text, number, end in self._parts
        )

    def read(self, translation: str) -> list[str | Node] | None:
        """Read a translation; None if its tags are not those of the text, or do not nest."""
        top = Node(None, [])
        stack, seen = [top], set[int]()
        parts = re.split(rf"<(/?){self._name}(\d+)(/?)>", translation)
        texts, tags = parts[::4], zip(parts[1::4], parts[2::4], parts[3::4], strict=True)
        for text, (closing, digits, alone) in zip(texts, [*tags, ("", "", "")], strict=True):
            inside = stack[-1].inside
            if text and inside is not None:
                inside.append(text)
            if not digits:
                continue
            number = int(digits[:9])
            if number >= len(self.things):
                return None
            if closing:
                if stack.pop().thing is not self.things[number] or not stack:
                    return None
                continue
            if number in seen or inside is None:
                return None
            if bool(alone) is not (number in self._alone):
                return None
            seen.add(number)
            inside.append(node := Node(self.things[number], None if alone else []))
            if not alone:
                stack.append(node)
        is_whole = len(stack) == 1 and len(seen) == len(self.things)
        return top.inside if is_whole else None

    @property
    def _name(self) -> str:
        """A name of tags that the text itself does not have."""
        words, name = self.words, "x"
        while f"<{name}" in words or f"</{name}" in words:
            name += "x"
        return name

    def _number(self, thing: Any) -> int:
        self.things.append(thing)
        return len(self.things) - 1
