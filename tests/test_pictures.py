"""The pictures of the documents: what a terminal showed, in a form that GitHub shows."""

import io
import re
from pathlib import Path
from xml.etree import ElementTree

import pytest
from rich.console import Console

from tools import pictures
from tools.pictures import PICTURES, last_screen, terminal_svg

ROOT = Path(__file__).parents[1]
COMMITTED = sorted((ROOT / PICTURES).iterdir())


def recorded() -> str:
    console = Console(record=True, width=40, file=io.StringIO())
    console.print("step 1: loss 2.0")
    console.print("2 held-out items")
    console.print("  Kenya <&> Chad [dim]->[/dim] ░▓█ [green]right[/green]")
    return console.export_text(styles=True)


def texts(svg: str) -> str:
    return "".join(ElementTree.fromstring(svg).itertext()).replace("\xa0", " ")


def test_what_came_before_the_first_line_that_is_wanted_is_not_shown():
    assert last_screen("loss\nheld-out\nright", "held-out") == "held-out\nright"


def test_a_picture_of_a_terminal_has_its_words_and_its_colours():
    svg = terminal_svg(last_screen(recorded(), "held-out"), "make demo")

    assert "Kenya <&> Chad -> ░▓█ right" in texts(svg)
    assert "loss" not in texts(svg)
    assert "make demo" in texts(svg)
    assert len(set(re.findall(r"fill: (#\w+)", svg))) >= 3


def test_a_long_line_is_shown_whole():
    svg = terminal_svg("x" * 120, "long")

    assert "x" * 120 in texts(svg)
    assert float(re.search(r'viewBox="0 0 ([\d.]+)', svg)[1]) > 120 * 10


def test_the_pictures_are_drawn_from_a_demo_and_from_its_end_alone(tmp_path, monkeypatch):
    def run_demo(folder, locale, console):
        assert locale == "fr"
        console.print("loss 2.0\n2 held-out items")
        (folder / "model").mkdir(parents=True)
        (folder / "model" / "curves.svg").write_text("<svg/>")

    monkeypatch.setattr(pictures, "run_demo", run_demo)
    monkeypatch.setattr(pictures, "PICTURES", tmp_path / "pictures")

    pictures.make_pictures(tmp_path / "demo")

    assert (tmp_path / "pictures" / "curves.svg").read_text() == "<svg/>"
    drawn = texts((tmp_path / "pictures" / "demo.svg").read_text())
    assert "2 held-out items" in drawn
    assert "loss" not in drawn


def test_the_committed_pictures_are_those_that_the_documents_show():
    documents = [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]
    shown = {
        (path.parent / link).resolve()
        for path in documents
        for link in re.findall(r"!\[[^]]+\]\(([^)]+)\)", path.read_text())
    }

    assert shown == set(COMMITTED)


PAINTED = [path for path in COMMITTED if path.suffix == ".png"]
DRAWN = [path for path in COMMITTED if path not in PAINTED]


@pytest.mark.parametrize("picture", PAINTED, ids=lambda path: path.name)
def test_a_picture_of_the_page_is_small(picture):
    assert picture.read_bytes().startswith(b"\x89PNG")
    assert picture.stat().st_size < 300_000


@pytest.mark.parametrize("picture", DRAWN, ids=lambda path: path.name)
def test_a_picture_loads_nothing_runs_nothing_is_small_and_has_a_title(picture):
    """GitHub shows an SVG as an image: what it would load or run is not there."""
    text = picture.read_text()
    root = ElementTree.fromstring(text)
    names = {element.tag.split("}")[1] for element in root.iter()}

    assert not names & {"script", "image", "foreignObject", "use", "a"}
    assert "@font-face" not in text
    assert re.findall(r"https?://[^\"]+", text) == ["http://www.w3.org/2000/svg"]
    assert "title" in names
    assert picture.stat().st_size < 300_000
