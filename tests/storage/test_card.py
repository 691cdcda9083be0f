from dataclasses import replace
from html import unescape
from re import findall

from markdown_it import MarkdownIt

from heedful.storage.card import model_card
from heedful.storage.provenance import SourceFile


def rendered(card: str) -> str:
    return MarkdownIt("commonmark").enable("table").render(card)


def test_every_score_has_its_whole_signature_in_a_cell(model_folder):
    provenance = model_folder.provenance()

    shown = rendered(model_card(provenance))

    rows = findall(r"<td>(.*)</td>\n<td>(.*)</td>\n<td>(.*)</td>", shown)
    assert "|" in provenance.scores[0].signature
    assert [tuple(map(unescape, row)) for row in rows] == [
        (score.name, f"{score.value:.2f}", f"<code>{score.signature}</code>")
        for score in provenance.scores
    ]


def test_the_name_of_a_file_is_shown_as_it_is(model_folder):
    provenance = model_folder.provenance()
    names = ["a`b.en", "<b>&.de", "line\nend"]
    files = [SourceFile(name=name, bytes=1, sha256="0" * 64) for name in names]
    data = replace(provenance.data, files=files)

    shown = rendered(model_card(replace(provenance, data=data)))

    items = [unescape(it) for it in findall(r"<li><code>(.*?)</code> \(1 bytes", shown)]
    assert items == ["a`b.en", "<b>&.de", "line\\nend"]
