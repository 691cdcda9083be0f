"""What a table or a figure comes to, as text."""

import pytest

from heedful.paper.result import Claim, Picture, Result, Table, claim, show

TABLE = Table(
    title="Sizes", columns=("row", "printed", "ours"), rows=(("a|b", 65, 65.13), ("c", None, 0.25))
)


def test_a_table_in_markdown_escapes_what_would_end_a_cell():
    assert TABLE.markdown().splitlines() == [
        "| row | printed | ours |",
        "| --- | --- | --- |",
        "| a\\|b | 65 | 65.13 |",
        "| c |  | 0.25 |",
    ]


def test_a_table_in_csv_keeps_all_digits():
    table = Table(title="", columns=("x",), rows=((1 / 3,),))

    assert table.csv() == "x\n0.3333333333333333\n"


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (None, ""),
        (1_234, "1,234"),
        (0.12344, "0.1234"),
        (12_345.6, "12,346"),
        (1e-8, "1e-08"),
        ("a", "a"),
    ],
)
def test_numbers_are_shown_by_four_digits(value, shown):
    assert show(value) == shown


def test_a_claim_is_judged_by_what_was_measured():
    assert claim("x", "section 3", holds=True).verdict == "holds"
    assert claim("x", "section 3", holds=False).verdict == "does not hold at this scale"
    assert Claim(text="x", source="section 3").verdict == "cannot be tested here"


def test_a_result_in_markdown_has_tables_pictures_scale_and_claims():
    picture = Picture(name="p", caption="A picture", draw=lambda: None)
    result = Result(
        name="n",
        title="T",
        tables=(TABLE,),
        scale="Small.",
        pictures=(picture,),
        claims=(claim("It works", "section 1", holds=True, why="Seen."),),
    )

    text = result.markdown()

    for part in (
        "# T",
        "**Sizes**",
        "![A picture](p.svg)",
        "Small.",
        "It works (section 1): **holds**. Seen.",
    ):
        assert part in text
