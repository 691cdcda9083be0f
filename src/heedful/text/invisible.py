"""Marks that are not seen: taken out of what a model reads, which knows them as bytes at most."""

import re
from collections import Counter
from functools import cache

from heedful.text.markup import find_pictures
from heedful.text.spans import find_copies, find_tags

# Soft hyphen, direction marks, word joiner, byte order mark, tags without a flag, and the like.
_NEVER_READ = "\u00ad\u034f\u061c\u200e\u200f\u2060-\u2065\u206a-\u206f\ufeff\U000e0000-\U000e007f"
# Joiners and spaces of no width, but where the letters before them are shaped by them, as in
# Persian and Hindi, or are not set apart by spaces, as in Thai and Khmer.
_SHAPED = "\u0600-\u0dff\u0e00-\u0eff\u1000-\u109f\u1780-\u18af"
# What asks for a picture, or for none, says nothing behind a letter.
_ASKS = "(?<=[^\\W\\d_])[\ufe0e\ufe0f]"
_INVISIBLE = f"[{_NEVER_READ}]|(?<![{_SHAPED}])[\u180e\u200b-\u200d]|{_ASKS}"

AT_EDGES = "".join(map(chr, (0xAD, 0x34F, 0x61C, 0x200B, 0x200E, 0x200F, 0x2060, 0xFEFF)))
"""Those that come back where they were, at the beginning or the end of a text."""


@cache
def _pattern() -> re.Pattern[str]:
    return re.compile(_INVISIBLE)


def without_invisible(text: str) -> str:
    """Return a text without invisible marks, but for those in tags, addresses and emoji."""
    if text.isascii() or not _pattern().search(text):
        return text
    whole = [match.span() for match in (*find_tags(text), *find_pictures(text))]
    whole += [(copy.start, copy.end) for copy in find_copies(text)]
    parts, at = [], 0
    for start, end in sorted(whole):
        if start >= at:
            parts += [_pattern().sub("", text[at:start]), text[start:end]]
            at = end
    return "".join([*parts, _pattern().sub("", text[at:])])


def lacks_invisible(source: str, translation: str) -> bool:
    """Whether a translation has not all invisible marks of its source."""
    if source.isascii():
        return False
    marks = Counter(_pattern().findall(source))
    return bool(marks - Counter(_pattern().findall(translation)))
