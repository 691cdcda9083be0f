import pytest
from markdown_it import MarkdownIt

from tests.documents.making import texts_of, translated

README = """---
title: kept
---
# A *title* #

One `code` and [a link](https://example.org "t"), ![a picture](b.png)
on two lines.

- item **bold**
  > quoted
  > text
1. [x][ref] `` `a ``

| head | two |
|------|-----|
| a    | a b |

<div><p>html</p></div>

    code

```sh
run it
```
[ref]: https://example.org
"""


def md(source: str) -> str:
    return translated(source.encode(), "a.md").decode()


def test_prose_is_translated_and_all_else_stays():
    assert (
        md(README)
        == """---
title: kept
---
# A *TITLE* #

ONE `code` AND [A LINK](https://example.org "t"), ![a picture](b.png) ON TWO LINES.

- ITEM **BOLD**
  > QUOTED TEXT
1. [X][ref] `` `a ``

| HEAD | TWO |
|------|-----|
| A    | A B |

<div><p>HTML</p></div>

    code

```sh
run it
```
[ref]: https://example.org
"""
    )


def test_the_structure_is_the_same_to_another_parser():
    parser = MarkdownIt("commonmark").enable("table")

    before, after = (parser.parse(text) for text in (README, md(README)))

    assert [token.type for token in after] == [token.type for token in before]


@pytest.mark.parametrize("source", ["two  \nlines", "two\\\nlines"])
def test_lines_that_are_to_break_are_left_as_they_are(source):
    assert texts_of(source.encode(), "a.md") == []


def test_line_ends_of_windows_stay():
    assert md("# a\r\n\r\nb\r\nc\r\n") == "# A\r\n\r\nB C\r\n"
