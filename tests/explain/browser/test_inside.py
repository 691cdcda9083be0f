"""Look inside: what the panels show is what the model computes."""

import json
import shutil

import pytest
import torch
from axe_playwright_python.base import AXE_FILE_PATH

import heedful
from heedful.explain.page import write_page
from heedful.model.config import ModelConfig
from heedful.model.transformer import Transformer
from heedful.storage.checkpoint import save_model
from heedful.storage.folder import ModelFolder
from heedful.translation.translator import load
from tests.explain.browser.conftest import AXE

pytestmark = pytest.mark.slow
TEXT = "a b c d"


@pytest.fixture(scope="module")
def page_file(trained, tmp_path_factory):
    return write_page(tmp_path_factory.mktemp("inside") / "page.html", trained, TEXT)


@pytest.fixture(scope="module")
def explanation(trained):
    return heedful.explain(load(trained.path, engine="pytorch"), TEXT)


@pytest.fixture
def look(open_page, page_file):
    """Open the page at a selection, when what it names is there."""

    def look(selection: str, wait_for: str, **options: object):
        tab = open_page(page_file, selection=selection, **options)
        tab.wait_for_selector(wait_for)
        return tab

    return look


def number(text: str) -> float:
    return float(text.replace("−", "-").replace(",", "").replace("∞", "inf"))


def test_it_is_a_translator_until_one_asks_to_look_inside(look):
    tab = look("", ".word")
    opener = tab.get_by_role("button", name="Look inside")
    assert opener.get_attribute("aria-expanded") == "false"
    assert not tab.locator("#inside").is_visible()

    opener.click()

    assert tab.locator("#inside nav button").count() >= 2
    assert "panel=" in tab.url


def test_all_heads_are_there_and_named_by_what_they_do(look, explanation):
    for kind in ("encoder", "decoder", "cross"):
        tab = look(f"panel=heads&kind={kind}", ".head-cell")

        cells = tab.locator(".head-cell")
        heads = [head for head in explanation.heads if head.kind == kind]
        assert cells.count() == len(heads)
        for at, head in enumerate(heads):
            assert cells.nth(at).inner_text() == head.role
            label = cells.nth(at).get_attribute("aria-label")
            assert f"{head.entropy:.1f} bits" in label


def test_arrow_keys_go_through_the_heads_and_enter_opens_one(look):
    tab = look("panel=heads&kind=cross", ".head-cell")
    tab.locator(".head-cell").first.focus()
    tab.keyboard.press("ArrowRight")
    tab.keyboard.press("Enter")

    tab.wait_for_selector(".head-panel table td")
    assert {"panel=head", "head=1"} <= set(tab.url.split("#")[1].split("&"))


def test_heads_are_sorted_by_what_is_lost_without_them(look, trained, explanation):
    tab = look("panel=heads&kind=cross", ".head-cell")
    tab.locator("#order").select_option("lost")
    tab.wait_for_selector(".head-cell span:has-text('−')")

    losses = [float(it.split("−")[1]) for it in tab.locator(".head-cell span").all_inner_texts()]
    assert losses == sorted(losses, reverse=True)
    assert losses == pytest.approx(sorted(lost_in_pytorch(trained, explanation))[::-1], abs=0.06)


@torch.no_grad()
def lost_in_pytorch(folder, explanation) -> list[float]:
    model = load(folder.path, engine="pytorch").engine.model
    source, target = (torch.tensor([it]) for it in (explanation.source_ids, explanation.target_ids))
    wanted = torch.tensor([[*explanation.target_ids[1:], explanation.source_ids[-1]]])

    def likely() -> float:
        scores = model(source, target).log_softmax(-1)
        return scores.gather(2, wanted[..., None]).sum().item()

    usual, losses = likely(), []
    weight, width = model.decoder[0].source_attention.output.weight, model.config.d_v
    for head in range(model.config.num_heads):
        kept = weight.clone()
        weight[:, head * width : (head + 1) * width] = 0
        losses.append(usual - likely())
        weight.copy_(kept)
    return losses


@pytest.mark.parametrize("kind", ["encoder", "decoder", "cross"])
def test_the_weights_on_the_screen_are_those_of_pytorch(look, explanation, kind):
    tab = look(f"panel=head&kind={kind}&layer=0&head=1&piece=3", ".head-panel table td")

    weights = sorted(getattr(explanation, kind)[0, 1, 3].tolist(), reverse=True)
    cells = tab.locator(".head-panel td").all_inner_texts()
    assert [number(it) for it in cells] == pytest.approx(weights[: len(cells)], abs=6e-4)


def test_a_click_on_the_map_keeps_who_looks_and_at_whom(look):
    tab = look("panel=head&kind=encoder&layer=0&head=0", ".head-panel table td")
    canvas = tab.locator(".map-cells canvas")
    size = canvas.bounding_box()["width"] / tab.locator(".map-columns span").count()

    canvas.click(position={"x": 2.5 * size, "y": 1.5 * size})

    assert {"piece=1", "seen=2"} <= set(tab.url.split("#")[1].split("&"))
    assert tab.locator(".who [aria-pressed=true]").get_attribute("data-at") == "1"
    assert tab.locator(".whom [aria-pressed=true]").get_attribute("data-at") == "2"


def test_heads_are_compared_and_figures_saved(look):
    tab = look("panel=head&kind=cross&layer=0&head=0", ".head-panel table td")
    tab.get_by_role("button", name="Compare this head").click()
    tab.keyboard.press("]")
    tab.get_by_role("button", name="Compare this head").click()
    assert tab.locator(".pin").count() == 2
    assert tab.locator("line.hue-1").count() > 0

    for kind, beginning in (("SVG", b"<svg"), ("PNG", b"\x89PNG")):
        with tab.expect_download() as download:
            tab.get_by_role("button", name=f"Save {kind}").click()
        assert download.value.path().read_bytes().startswith(beginning)


def test_words_are_shown_instead_of_pieces(look, explanation):
    tab = look("panel=head&kind=cross", ".head-panel table td")
    tab.get_by_role("button", name="Words").click()

    labels = tab.locator(".map-rows span").all_inner_texts()
    assert labels == ["<s>", *(word.text for word in explanation.words)]


def test_what_the_model_reads_is_embedding_and_position(look, trained, explanation):
    tab = look("panel=pieces&kind=encoder&piece=2", ".pieces-panel table td")
    model = load(trained.path, engine="pytorch").engine.model
    ids = torch.tensor(explanation.source_ids)
    tab.locator("#dimension").fill("5")

    embedding = (model.embedding.weight[ids[2]] * model.config.d_model**0.5)[5].item()
    position = model.positions(0, 3)[2, 5].item()
    shown = [number(it) for it in tab.locator(".strip-value").all_inner_texts()]
    assert shown == pytest.approx([embedding, position, embedding + position], abs=6e-4)
    buttons = tab.locator(".ids").first.locator("button small").all_inner_texts()
    assert [int(it.replace(",", "")) for it in buttons] == list(explanation.source_ids)

    tab.locator("#position").fill("9")
    moved = model.positions(0, 10)[9, 5].item()
    shown = [number(it) for it in tab.locator(".strip-value").all_inner_texts()]
    assert shown == pytest.approx([embedding, moved, embedding + moved], abs=6e-4)


@torch.no_grad()
def test_the_nearest_pieces_are_nearest_in_pytorch(look, trained, explanation):
    tab = look("panel=pieces&kind=encoder&piece=0", ".pieces-panel table td")
    weight = load(trained.path, engine="pytorch").engine.model.embedding.weight
    one = weight[explanation.source_ids[0]]

    cosines = torch.cosine_similarity(one[None], weight).sort(descending=True).values[1:7]
    shown = [number(it) for it in tab.locator(".pieces-panel td").all_inner_texts()]
    assert shown == pytest.approx(cosines.tolist(), abs=6e-3)


def test_a_weight_by_hand_is_made_of_the_numbers_of_pytorch(look, explanation):
    tab = look("panel=hand&kind=cross&layer=0&head=1&piece=2&seen=1", ".hand-panel td")
    tab.locator("#hand-dimension").fill("3")

    q, k = explanation.q["cross"][0, 1, 2], explanation.k["cross"][0, 1, 1]
    shown = [number(it) for it in tab.locator(".strip-value").all_inner_texts()[:3]]
    assert shown == pytest.approx([q[3], k[3], q[3] * k[3]], abs=6e-4)
    weights = [
        number(it) for it in tab.locator(".hand-panel tbody td:last-child").all_inner_texts()
    ]
    assert weights == pytest.approx(explanation.cross[0, 1, 2].tolist(), abs=6e-4)
    assert "Number 4 of q is " in tab.locator(".hand-panel").inner_text()


def test_leaving_out_the_root_sharpens_the_softmax(look, explanation):
    tab = look("panel=hand&kind=cross&layer=0&head=1&piece=2", ".hand-panel td")
    tab.get_by_role("button", name="Leave out").click()

    q, k = explanation.q["cross"][0, 1, 2], explanation.k["cross"][0, 1]
    wanted = torch.tensor(k @ q).softmax(-1).tolist()
    weights = [
        number(it) for it in tab.locator(".hand-panel tbody td:last-child").all_inner_texts()
    ]
    assert weights == pytest.approx(wanted, abs=6e-4)


def test_what_comes_later_is_masked(look):
    tab = look("panel=hand&kind=decoder&layer=0&head=0&piece=1", ".hand-panel td")

    scores = tab.locator(".hand-panel tbody td:nth-child(2)").all_inner_texts()
    assert [score == "−∞" for score in scores[:3]] == [False, False, True]
    assert "it is not there yet" in tab.locator(".hand-panel").inner_text()


def test_every_step_of_writing_has_the_probabilities_of_pytorch(look, explanation):
    tab = look("panel=steps&step=1", ".steps-panel tbody tr")

    rows = tab.locator(".steps-panel tbody tr")
    for at, likely in enumerate(explanation.steps[1][:5]):
        cells = rows.nth(at).locator("td").all_inner_texts()
        assert rows.nth(at).locator("th").inner_text() == likely.piece
        assert number(cells[2]) == pytest.approx(likely.log_probability, abs=6e-3)

    tab.keyboard.press("Escape")
    tab.get_by_role("button", name="Step on").click()
    assert "step=" in tab.url


def test_another_piece_is_taken_and_the_model_goes_on(look):
    tab = look("panel=steps&step=2", ".steps-panel tbody tr")
    piece = tab.locator(".steps-panel tbody th").nth(1).inner_text()
    tab.locator(".steps-panel tbody button").nth(1).click()

    branch = tab.locator(".branches li").first
    branch.get_by_text("log-probability").wait_for()
    assert piece.strip("▁") in branch.locator("span").first.inner_text()


def test_the_beam_is_the_tree_that_python_finds(look, explanation):
    tab = look("panel=beam", ".node")

    nodes = tab.locator(".node")
    found = [node for step in explanation.beam.steps for node in step]
    assert nodes.count() == len(found)
    for at, node in enumerate(found[:12]):
        assert node.fate.replace(" ", "-") in nodes.nth(at).get_attribute("class")
        assert number(nodes.nth(at).locator("small").inner_text().split()[-1]) == pytest.approx(
            node.total, abs=0.006
        )
    scores = tab.locator(".beam-panel tbody td:last-child").all_inner_texts()
    alpha = explanation.search.alpha
    wanted = [best.score(alpha) for best in explanation.beam.best]
    assert [number(it) for it in scores] == pytest.approx(wanted, abs=2e-3)


def test_another_alpha_ranks_anew_and_another_beam_searches_anew(look, explanation):
    tab = look("panel=beam", ".node")
    tab.locator("#alpha").fill("0")
    scores = [number(it) for it in tab.locator(".beam-panel tbody td:last-child").all_inner_texts()]
    logs = [number(it) for it in tab.locator(".beam-panel tbody td:nth-child(3)").all_inner_texts()]
    assert scores == pytest.approx(logs, abs=6e-3)

    tab.locator("#beam-size").fill("2")
    tab.wait_for_timeout(600)
    steps = len(set(tab.locator(".node").evaluate_all("all => all.map((it) => it.style.left)")))
    assert tab.locator(".node").count() <= 4 * steps
    assert tab.locator(".beam-panel tbody tr").count() == 2


def test_arrow_keys_go_along_the_tree(look):
    tab = look("panel=beam", ".node")
    tab.locator(".node").first.focus()
    tab.keyboard.press("ArrowRight")
    tab.keyboard.press("ArrowDown")
    tab.keyboard.press("Enter")

    assert tab.evaluate("document.activeElement.getAttribute('aria-label')").startswith(
        "Step 2, place 2"
    )
    assert "hypothesis=" in tab.url


@torch.no_grad()
def test_the_loss_of_a_given_translation_is_that_of_pytorch(look, trained, explanation):
    tab = look("panel=learning", ".learning-panel tbody tr")
    tab.locator("#reference").fill("B A F")
    tab.wait_for_timeout(1_200)
    tab.locator("#smoothing").fill("0.2")

    translator = load(trained.path, engine="pytorch")
    model, target = translator.engine.model, translator.tokenizer.encode("B A F")
    source = torch.tensor([explanation.source_ids])
    logs = model(source, torch.tensor([[2, *target]])).log_softmax(-1)[0]
    wanted = torch.tensor([*target, 3])
    plain = torch.nn.functional.cross_entropy(logs, wanted, reduction="none")
    smoothed = torch.nn.functional.cross_entropy(
        logs, wanted, reduction="none", label_smoothing=0.2
    )
    shown = [
        [number(it) for it in tab.locator(f".learning-panel td:nth-child({at})").all_inner_texts()]
        for at in (6, 7)
    ]
    assert shown[0] == pytest.approx(plain.tolist(), abs=6e-3)
    assert shown[1] == pytest.approx(smoothed.tolist(), abs=6e-3)
    assert f"Loss {plain.mean():.3f} per piece" in tab.locator(".learning-panel .told").inner_text()


def test_at_once_and_piece_by_piece_are_the_same(look):
    tab = look("panel=learning", ".learning-panel tbody tr")
    tab.get_by_role("button", name="piece by piece").click()

    told = tab.get_by_text("the largest difference is").inner_text()
    assert float(told.split()[-1].rstrip(".")) < 1e-5


@torch.no_grad()
def test_a_silenced_layer_is_silent_in_pytorch_too(look, trained, explanation):
    tab = look("panel=what-if&kind=cross", ".whatif-panel table")
    tab.get_by_role("combobox", name="Head").select_option("")
    tab.locator("#switch-silenced").check()
    tab.wait_for_timeout(1_000)

    model = load(trained.path, engine="pytorch").engine.model
    model.decoder[0].source_attention.output.weight.zero_()
    source, target = (torch.tensor([it]) for it in (explanation.source_ids, explanation.target_ids))
    wanted = torch.tensor([[*explanation.target_ids[1:], 3]])
    logs = model(source, target).log_softmax(-1).gather(2, wanted[..., None]).sum().item()
    told = tab.locator(".result p").inner_text()
    assert number(told.split("as it is, ")[1].split(" ")[0]) == pytest.approx(logs, abs=6e-3)


def test_without_positions_the_order_is_not_seen(look):
    tab = look("panel=what-if", ".whatif-panel table")
    tab.locator("#switch-withoutPositions").check()
    tab.locator("#switch-shuffled").check()

    told = tab.get_by_text("in either order, to").inner_text()
    assert float(told.split("either order, to ")[1].split(":")[0]) < 1e-4


def test_translations_are_drawn_by_chance(look):
    tab = look("panel=what-if", ".whatif-panel table")
    tab.locator("#temperature").fill("2")
    tab.get_by_role("button", name="Draw three").click()

    tab.locator(".whatif-panel .branches li").nth(2).wait_for()


def test_the_tour_leads_through_twelve_cards_each_with_a_panel(look):
    tab = look("panel=heads", ".head-cell")
    tab.get_by_role("button", name="guided tour").click()
    panels = []
    for place in range(1, 13):
        tab.locator(".card-place", has_text=f"{place} / 12").wait_for()
        tab.locator(".options button").last.click()
        assert tab.locator(".options .right").count() == 1
        assert len(tab.locator(".answer").inner_text()) > 20
        assert "{" not in tab.locator(".card").inner_text()
        panels.append(tab.locator("[aria-current=page]").inner_text())
        if place < 12:
            tab.get_by_role("button", name="Next card").click()
    assert len(set(panels)) == 8

    tab.get_by_role("button", name="End the tour").click()
    assert not tab.locator(".card").is_visible()
    assert "card=" not in tab.url


def test_a_link_opens_the_very_picture(look, explanation):
    tab = look("panel=head&kind=cross&layer=0&head=1&piece=2&seen=1", ".head-panel table td")

    assert tab.locator(".who [aria-pressed=true]").get_attribute("data-at") == "2"
    assert tab.locator(".whom [aria-pressed=true]").get_attribute("data-at") == "1"
    tab.keyboard.press("Escape")
    assert "piece=" not in tab.url


def test_a_new_text_is_looked_into_at_once(look):
    tab = look("panel=pieces", ".pieces-panel table td")
    before = tab.locator(".ids").first.inner_text()
    tab.locator("#source").fill("f e d")
    tab.locator(".ids").first.get_by_text("f", exact=False).first.wait_for()
    tab.wait_for_timeout(800)

    assert tab.locator(".ids").first.inner_text() != before
    tab.locator("#source").fill("")
    tab.get_by_text("Write something above").wait_for()


PANELS = ["pieces", "heads", "head", "hand", "steps", "beam", "learning", "what-if"]
READY = "table td, .head-cell, .node"


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", [320, 1200])
def test_axe_finds_no_violation_in_any_panel_and_nothing_sticks_out(look, theme, width):
    tab = look(
        "card=3&panel=hand", READY, color_scheme=theme, viewport={"width": width, "height": 700}
    )
    tab.evaluate(AXE_FILE_PATH.read_text(encoding="utf-8"))
    for panel in PANELS:
        tab.evaluate(f"location.hash = 'card=1&panel={panel}&kind=decoder&piece=2'")
        tab.locator(f".{panel.replace('-', '')}-panel").locator(READY).first.wait_for()

        found = tab.evaluate(AXE)

        assert [(panel, it["id"], it["nodes"][0]["html"]) for it in found["violations"]] == []
        assert tab.evaluate("document.documentElement.scrollWidth") <= width, panel


@pytest.mark.parametrize(
    "text", ["שלום עולם", "日本語の文", "مرحبا", "👩‍👩‍👧 é", "\x07", "<b onclick=alert(1)>&lt;"]
)
def test_every_panel_takes_odd_text(look, text):
    tab = look("panel=pieces", READY)
    tab.locator("#source").fill(text)
    tab.wait_for_timeout(1_500)
    for panel in PANELS:
        tab.evaluate(
            f"location.hash = 'panel={panel}&layer=99&head=99&piece=999&seen=999&step=999'"
        )
        tab.wait_for_timeout(250)

    assert tab.locator("b[onclick]").count() == 0
    assert "�" not in tab.locator("#inside").inner_text()


def test_motion_is_still_where_that_is_wished_for(look):
    tab = look("panel=steps", ".steps-panel tbody tr", reduced_motion="reduce")

    assert tab.evaluate("document.getAnimations().length") == 0
    assert tab.locator("[aria-label='Play or stop']").count() == 0


def test_a_notebook_frame_runs_the_page(open_page, explanation, tmp_path):
    frame = getattr(explanation, "_repr_html_")()  # noqa: B009
    (tmp_path / "notebook.html").write_text(f"<!doctype html><title>a</title>{frame}")
    tab = open_page(tmp_path / "notebook.html")

    tab.frame_locator("iframe").locator(".word").first.wait_for()


@pytest.mark.parametrize(
    "changes",
    [
        {"normalisation": "post", "d_k": 3, "d_v": 5, "positions": "halves"},
        {"normalisation": "pre", "positions": "learned", "max_length": 40, "num_layers": 3},
        {"num_heads": 1, "num_layers": 1, "d_model": 6, "d_ff": 4},
    ],
    ids=str,
)
def test_every_architecture_is_looked_into(open_page, trained, tmp_path, changes):
    folder = ModelFolder(shutil.copytree(trained.path, tmp_path / "model"))
    for path in (folder.checksums_file, folder.alignment_file):
        path.unlink(missing_ok=True)
    sizes = {"num_layers": 2, "d_model": 16, "d_ff": 24, "num_heads": 2}
    config = ModelConfig(vocab_size=folder.config().vocab_size, **(sizes | changes))
    folder.config_file.write_text(json.dumps(vars(config)))
    save_model(folder, Transformer(config))
    explanation = heedful.explain(load(folder.path, engine="pytorch"), TEXT)
    layer = config.num_layers - 1

    tab = open_page(
        write_page(tmp_path / "page.html", folder, TEXT),
        selection=f"panel=hand&kind=cross&layer={layer}&head=0&piece=1",
    )
    tab.wait_for_selector(".hand-panel td")

    # By its pieces the untrained model may write another end, but it reads as Python reads.
    weights = tab.locator(".hand-panel tbody td:last-child").all_inner_texts()
    wanted = explanation.cross[layer, 0, 1].tolist()
    assert [number(it) for it in weights] == pytest.approx(wanted, abs=2e-3)
    assert "= " in tab.locator(".hand-steps li").nth(6).inner_text()
    for panel in PANELS:
        tab.evaluate(f"location.hash = 'panel={panel}'")
        tab.locator(f".{panel.replace('-', '')}-panel").locator(READY).first.wait_for()


def test_of_several_languages_the_wanted_one_is_a_piece_and_no_word(open_page, several, tmp_path):
    explanation = heedful.explain(
        load(several.path, engine="pytorch"), "alder birch", to_language="xb"
    )
    page = write_page(tmp_path / "page.html", several, "alder birch", "xb")

    tab = open_page(page, selection="panel=pieces")

    tab.wait_for_selector(READY)
    assert tab.locator("#target").input_value() == "xb"
    assert tab.locator(".ids").first.locator("button").first.inner_text().startswith(">>xb<<")
    assert "which language is wanted" in tab.locator(".pieces-panel .told").inner_text()
    tab.locator(".word").first.hover()
    word = explanation.words[0]
    assert tab.locator("#line").inner_text().endswith(f"from “{word.source}”")
