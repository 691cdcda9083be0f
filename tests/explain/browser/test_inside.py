"""Look inside: what the panels show is what the model computes."""

import pytest
import torch

import heedful
from heedful.explain.page import write_page
from heedful.translation.translator import load

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
