import re
from dataclasses import replace
from html import unescape

from markdown_it import MarkdownIt

from heedful.storage.card import model_card
from heedful.storage.languages import Direction
from heedful.storage.provenance import Example, SourceFile


def rendered(card: str) -> str:
    return MarkdownIt("commonmark").enable("table").render(card)


def cells(card: str, heading: str) -> list[list[str]]:
    """Return what a reader sees in the cells of the table under a heading."""
    _, after = rendered(card).split(f"<h2>{heading}</h2>")
    body = after[after.index("<tbody>") : after.index("</tbody>")]
    return [
        [unescape(re.sub(r"<[^>]*>", "", cell)) for cell in re.findall(r"<td>(.*?)</td>", row)]
        for row in re.findall(r"<tr>(.*?)</tr>", body, re.DOTALL)
    ]


def test_every_score_has_its_whole_signature_in_a_cell(model_folder):
    provenance = model_folder.provenance()

    shown = cells(model_card(provenance), "Scores")

    assert "|" in provenance.scores[0].signature
    assert shown == [
        [score.name, f"{score.value:.2f}", score.signature] for score in provenance.scores
    ]


def test_the_name_of_a_file_is_shown_as_it_is(model_folder):
    provenance = model_folder.provenance()
    names = ["a`b.en", "<b>&.de", "line\nend"]
    files = [SourceFile(name=name, bytes=1, sha256="0" * 64) for name in names]
    data = replace(provenance.data, files=files)

    shown = rendered(model_card(replace(provenance, data=data)))

    items = [unescape(it) for it in re.findall(r"<li><code>(.*?)</code> \(1 bytes", shown)]
    assert items == ["a`b.en", "<b>&.de", "line\\nend"]


def test_languages_are_shown_whatever_a_stranger_calls_them(model_folder):
    odd = "<b>*a_b*</b> [c](d) `e` & |\\"
    provenance = model_folder.provenance()
    data = replace(provenance.data, directions=[Direction(odd, "fr")])

    (_, after) = rendered(model_card(replace(provenance, data=data))).split("<td>languages</td>")

    shown = after.split("</td>")[0].strip().removeprefix("<td>")
    assert unescape(shown) == f"{odd} to fr"


def test_examples_are_shown_whatever_they_are_made_of(model_folder):
    odd = ["a | b", "``c` \\| d", "<script>&amp;*_e_*", "", "[f](g)", "\\"]
    examples = [Example(source=text, translation=text[::-1], reference=text) for text in odd]

    shown = cells(model_card(replace(model_folder.provenance(), examples=examples)), "Examples")

    assert shown == [[text, text[::-1], text] for text in odd]


def test_a_card_without_examples_has_no_heading_for_them(model_folder):
    assert "## Examples" in model_card(model_folder.provenance())
    assert "## Examples" not in model_card(replace(model_folder.provenance(), examples=[]))


def test_the_card_says_what_the_folder_holds_and_what_is_private(model_folder):
    card = model_folder.card_file.read_text()

    sizes = {name: size for name, size, _ in cells(card, "Files")}
    assert {"`training/`" not in card, "training/" in sizes} == {False, True}
    size = model_folder.weights_file.stat().st_size
    assert sizes["model.safetensors"] == f"{size / 1e3:,.1f} kB"
    assert "**holds your text; delete it before you give the folder away**" in card


def test_the_card_says_in_words_what_the_model_is_worth(model_folder):
    assert "<strong>Not usable yet: most sentences are wrong;" in rendered(
        model_folder.card_file.read_text()
    )


def test_the_card_is_written_from_the_provenance_alone(model_folder):
    assert model_folder.card_file.read_text() == model_card(model_folder.provenance())
