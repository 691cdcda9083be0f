"""The page as a person finds it: opened from disk, in both themes, on any screen."""

import json
import re

import pytest
from axe_playwright_python.base import AXE_FILE_PATH

from heedful.decoding.hypothesis import SearchConfig
from heedful.decoding.pytorch_engine import PyTorchEngine
from heedful.explain.page import page_data, write_page
from heedful.storage.folder import ModelFolder
from heedful.translation.translator import Translator
from tests.explain.browser.conftest import AXE

pytestmark = pytest.mark.slow

HOSTILE = "</script><script>alert(1)</script><img src=x onerror=alert(2)>\u202e\u0001]]>-->"


@pytest.fixture(scope="session")
def page_file(trained, tmp_path_factory):
    return write_page(tmp_path_factory.mktemp("page") / "page.html", trained, "a b c d")


@pytest.fixture
def tab(open_page, page_file):
    tab = open_page(page_file)
    tab.wait_for_selector(".word")
    return tab


@pytest.fixture(scope="session")
def python(trained):
    """What translates a line just as the model says, in Python."""
    translator = Translator(trained.tokenizer(), PyTorchEngine.load(trained), SearchConfig())
    return lambda line: translator.translate_as_found([line], beam_size=4)[0]


def translation(tab) -> str:
    tab.wait_for_selector(".output:not([aria-busy])")
    return tab.locator(".output").inner_text()


def typed(tab, text: str) -> str:
    """Type a text and return its translation, when all of it is there."""
    tab.locator("#source").fill(text)
    tab.wait_for_timeout(300)
    return translation(tab)


def test_it_opens_with_the_translation_of_its_text(tab, python):
    assert translation(tab) == python("a b c d")


def test_what_is_typed_is_translated_line_by_line(tab, python):
    text = "a b c\n\n  d e f  \nb a d c"

    wanted = f"{python('a b c')}\n\n  {python('d e f')}  \n{python('b a d c')}"
    assert typed(tab, text) == wanted
    assert typed(tab, "") == ""


def test_pointing_at_a_word_shows_where_it_is_from_and_how_sure_it_is(tab):
    tab.locator(".word").nth(2).hover()

    line = tab.locator("#line").inner_text()
    assert line.startswith("“C”: ")
    assert "sure, from “" in line
    assert tab.locator(".marks mark").count() == 1


def test_a_click_offers_other_words_and_takes_one(tab):
    before = translation(tab)
    tab.locator(".word").nth(1).click()
    tab.wait_for_selector("#others button")
    other = tab.locator("#others button").first
    text = other.locator("span").inner_text()

    other.click()

    assert translation(tab) == text != before


def test_all_of_it_works_by_keys_alone(tab):
    tab.locator("#source").focus()
    for _ in range(3):
        tab.keyboard.press("Tab")
    tab.keyboard.press("ArrowRight")
    second = tab.locator(".word").nth(1).inner_text()
    assert tab.evaluate("document.activeElement.textContent") == second

    tab.keyboard.press("Enter")
    tab.wait_for_selector("#others button:focus")
    tab.keyboard.press("Escape")

    assert not tab.locator("#others").is_visible()


def test_earlier_translations_come_back_on_a_click(tab):
    before = translation(tab)
    typed(tab, "f f f")
    tab.locator(".history li button").first.click()

    assert translation(tab) == before


CUE = "{}\r\n00:00:0{},000 --> 00:00:0{},500\r\n{}\r\n\r\n"


@pytest.mark.parametrize(
    ("name", "file"),
    [
        ("a.b.txt", lambda say: f"{say('a b c')}\r\n\r\n {say('c d')}\r\n"),
        (
            "films.srt",
            lambda say: CUE.format(1, 1, 1, say("a b c")) + CUE.format(2, 3, 3, say("e")),
        ),
    ],
)
def test_a_file_comes_back_translated(tab, tmp_path, python, name, file):
    (tmp_path / name).write_bytes(file(str).encode())
    tab.locator("input[type=file]").set_input_files(tmp_path / name)
    link = tab.get_by_role("link", name="Download")
    with tab.expect_download() as download:
        link.click()

    stem, ending = name.rsplit(".", 1)
    assert download.value.suggested_filename == f"{stem}.translated.{ending}"
    assert download.value.path().read_bytes().decode() == file(python)


def test_a_cue_has_as_many_lines_as_before(tab, tmp_path):
    (tmp_path / "a.srt").write_text("1\n00:00:01,000 --> 00:00:02,000\na b c\nd e\nf\n")
    tab.locator("input[type=file]").set_input_files(tmp_path / "a.srt")
    with tab.expect_download() as download:
        tab.get_by_role("link", name="Download").click()

    _, timing, *lines, end = download.value.path().read_text().split("\n")
    assert timing == "00:00:01,000 --> 00:00:02,000"
    assert (len(lines), end) == (3, "")


def test_a_file_that_is_no_text_is_refused_in_words(tab, tmp_path):
    (tmp_path / "a.txt").write_bytes(b"\xff\xfe\x00")
    tab.locator("input[type=file]").set_input_files(tmp_path / "a.txt")

    tab.get_by_text("a.txt is not text in UTF-8").wait_for()


def test_a_paste_of_a_megabyte_leaves_the_page_answering(tab):
    tab.locator("#source").fill("a b c d e f. " * 80_000)
    tab.wait_for_timeout(500)

    tab.locator("#source").fill("b a")
    tab.get_by_role("toolbar").get_by_text("B", exact=True).first.wait_for(timeout=10_000)

    assert len(translation(tab)) < 20


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", [320, 1200])
def test_axe_finds_no_violation_and_nothing_sticks_out(open_page, page_file, theme, width):
    tab = open_page(page_file, color_scheme=theme, viewport={"width": width, "height": 700})
    tab.wait_for_selector(".word")
    typed(tab, "a b c")
    typed(tab, "xyz qrs tuv")
    tab.locator(".word").first.click()
    tab.wait_for_selector("#others button, #others:has-text('No other')")
    tab.evaluate(AXE_FILE_PATH.read_text(encoding="utf-8"))

    found = tab.evaluate(AXE)

    assert [(it["id"], it["nodes"][0]["html"]) for it in found["violations"]] == []
    assert tab.evaluate("document.documentElement.scrollWidth") <= width


@pytest.mark.parametrize(
    "text", ["שלום עולם", "日本語の文。次の文。", "🏳️‍🌈 👩‍👩‍👧", "\0\x07", "a" * 3_000]
)
def test_odd_text_is_taken(tab, text):
    typed(tab, text)

    assert not tab.locator(".output[aria-busy]").count()
    assert tab.locator(".status").inner_text() == ""


def test_hostile_text_stays_text_wherever_it_stands(open_page, trained, tmp_path, monkeypatch):
    import shutil

    folder = ModelFolder(shutil.copytree(trained.path, tmp_path / "<b onclick=alert(1)>&amp;"))
    provenance = json.loads(folder.provenance_file.read_text())
    provenance["scores"][0]["name"] = HOSTILE
    provenance["data"]["directions"] = [{"from_language": "en", "to_language": HOSTILE}]
    folder.provenance_file.write_text(json.dumps(provenance))
    vocabulary = folder.tokenizer().vocabulary()
    pieces = [
        f"{piece}{HOSTILE}" if at > 300 else piece for at, piece in enumerate(vocabulary.pieces)
    ]
    changed = vocabulary._replace(pieces=pieces)
    monkeypatch.setattr("heedful.text.tokenizer.Tokenizer.vocabulary", lambda self: changed)

    tab = open_page(write_page(tmp_path / "page.html", folder, HOSTILE))
    tab.wait_for_selector(".output:not([aria-busy])")
    tab.wait_for_timeout(500)

    assert tab.locator("script").count() == 3
    assert tab.locator("img").count() == 0
    assert HOSTILE in tab.locator("footer").inner_text()
    assert tab.locator("h1").inner_text() == "<b onclick=alert(1)>&amp;"
    assert tab.locator("#source").input_value() == HOSTILE


def test_the_policy_holds_against_whoever_gets_into_the_page(browser, page_file):
    tab = browser.new_page()
    tab.goto(page_file.as_uri())
    tab.wait_for_selector(".word")

    refused = tab.evaluate("""async () => {
      const refused = [];
      const attempt = async (name, act) => { try { await act(); } catch { refused.push(name); } };
      await attempt("fetch", () => fetch("https://example.org"));
      await attempt("html", () => { document.body.innerHTML = "<b>a</b>"; });
      await attempt("policy", () => trustedTypes.createPolicy("other", {}));
      return refused;
    }""")

    assert refused == ["fetch", "html", "policy"]
    tab.close()


def test_the_selection_is_in_the_address(call):
    hash = "#kind=cross&layer=5&head=3&piece=7&panel=one-head&x=1&step=-1&head=1e9"
    changes = [
        ("preview", {"head": 1}),
        ("release", None),
        ("keep", {"head": 2}),
        ("release", None),
    ]

    found = call("selection", hash=hash, changes=changes)

    kept = {"panel": "one-head", "kind": "cross", "layer": 5, "head": 3, "piece": 7}
    others = [kept | {"head": 1}, kept, kept | {"head": 2}, {"panel": "one-head"}]
    assert found == {"hash": "panel=one-head", "seen": [kept, *others]}


@pytest.mark.parametrize("code", ["de", "fr"])
def test_other_languages_say_all_that_english_says(call, trained, code):
    english = call("texts")

    other = page_data(trained)[0]["texts"][code]

    names = {name: set(re.findall(r"{\w+}", text)) for name, text in english.items()}
    assert {name: set(re.findall(r"{\w+}", text)) for name, text in other.items()} == names
    assert len([name for name in names if other[name] == english[name]]) < 0.1 * len(names)


def test_the_page_speaks_the_language_of_the_browser_and_another_on_request(browser, page_file):
    tab = browser.new_page(locale="fr-FR")
    tab.goto(page_file.as_uri())
    tab.get_by_role("button", name="Regarder à l’intérieur").click()
    tab.get_by_role("button", name="Toutes les têtes").click()
    tab.locator("#source").fill("f e d")

    tab.get_by_role("combobox", name="Langue de cette page").select_option("de")

    tab.get_by_role("button", name="Hineinsehen").wait_for()
    assert tab.locator("#source").input_value() == "f e d"
    assert "panel=heads" in tab.url
    assert tab.evaluate("document.documentElement.lang") == "de"
    tab.close()
