"""Pictures of a model's page, taken in a browser: MODEL [TEXT]."""

import sys
import tempfile
from pathlib import Path

from heedful.explain.page import write_page
from heedful.storage.folder import ModelFolder
from tools.browser import find_browser, skipped

_TEXT = "Tuesday, March 3, 2026"  # which the demo's model has learned to translate
_WIDTH = 1_000
_SHOWN = {  # what is selected, and what has to be there before the picture is taken
    "page-head.png": ("panel=head&kind=cross&piece=3", ".head-panel td"),
    "page-beam.png": ("panel=beam", ".node"),
}


def picture_page(model: Path, text: str, out: Path) -> None:
    """Write the page of a model, and picture two of its panels."""
    path = find_browser()
    if path is None:
        skipped("pictures of the page", "no Chromium is found")
        return
    from playwright.sync_api import FloatRect, sync_playwright

    out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        page = write_page(Path(folder) / "page.html", ModelFolder(model), text)
        browser = playwright.chromium.launch(executable_path=path)
        for name, (selection, wanted) in _SHOWN.items():
            tab = browser.new_page(
                viewport={"width": _WIDTH, "height": 900}, locale="en-US", color_scheme="light"
            )
            tab.goto(f"{page.as_uri()}#{selection}")
            tab.wait_for_selector(wanted)
            tab.wait_for_timeout(300)  # until the font has settled
            box = tab.locator("#inside").bounding_box()
            assert box
            top, height = box["y"] - 8, box["height"] + 24
            edges: FloatRect = {"x": 0, "y": top, "width": _WIDTH, "height": height}
            tab.screenshot(path=out / name, clip=edges, full_page=True)
            tab.close()
        browser.close()


if __name__ == "__main__":
    picture_page(Path(sys.argv[1]), " ".join(sys.argv[2:]) or _TEXT, Path("docs") / "pictures")
