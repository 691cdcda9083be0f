"""Speed and size of a model's page in a browser, and how often it says what PyTorch says."""

import argparse
import json
import statistics
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from heedful.decoding.hypothesis import SearchConfig
from heedful.explain import page_weights
from heedful.explain.page import page_data, write_page
from heedful.storage.folder import ModelFolder
from tools.browser import find_browser

_TWELVE_WORDS = "The old man and his two dogs walk slowly along the beach."
_ROUNDS = 5
_MOST_LINES = 300


def main() -> None:
    """Write the page of a model, open it, and translate by it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("model", type=Path)
    parser.add_argument("--lines", type=Path, help="sentences to compare with PyTorch, one a line")
    parser.add_argument("--bits", type=int, help="of a weight, instead of what the size allows")
    arguments = parser.parse_args()
    if arguments.bits:
        page_weights.bits_of_weights = lambda shapes: arguments.bits
    folder = ModelFolder(arguments.model)
    with tempfile.TemporaryDirectory() as name:
        path = write_page(Path(name) / "page.html", folder, _TWELVE_WORDS)
        _tell_size(path, folder)
        from playwright.sync_api import sync_playwright

        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=find_browser())
            _tell_opening(browser, path)
            tab = _tab_with_engine(browser, folder)
            _tell_speed(tab, folder)
            if arguments.lines:
                lines = arguments.lines.read_text(encoding="utf-8").splitlines()[:_MOST_LINES]
                _tell_agreement(tab, folder, lines)
            browser.close()


def _tell_size(path: Path, folder: ModelFolder) -> None:
    data: Any = page_data(folder)[0]
    num_weights = sum(place["rows"] * place["width"] for place in data["places"])
    bits = min(place["bits"] for place in data["places"])
    size, most = path.stat().st_size, 1_500_000 + 1.4 * num_weights
    print(f"{num_weights:,} weights of {bits} bits; page {size / 1e6:.2f} MB of {most / 1e6:.2f}")


def _tell_opening(browser: Any, path: Path) -> None:
    seconds = []
    for _ in range(_ROUNDS):
        tab = browser.new_page()
        began = time.perf_counter()
        tab.goto(path.as_uri())
        tab.wait_for_selector(".word")
        seconds.append(time.perf_counter() - began)
        tab.close()
    print(f"first translation after {_told(seconds)}")


def _tab_with_engine(browser: Any, folder: ModelFolder) -> Any:
    """Open a page that has the modules and the model, and nothing to see."""
    import base64

    from heedful.explain.page import module_source

    host = "http://heedful.test/"
    data, weights = page_data(folder)

    def serve(route: Any) -> None:
        name = route.request.url.removeprefix(host)
        body, kind = (module_source(name), "javascript") if name else ("<!doctype html>", "html")
        route.fulfill(body=body, content_type=f"text/{kind}")

    tab = browser.new_page()
    tab.route(f"{host}**", serve)
    tab.goto(host)
    tab.evaluate(
        """async (text) => {
          const { data, weights } = JSON.parse(text);
          const { Translator } = await import("/translator.js");
          const { readWeights, readBase64 } = await import("/weights.js");
          const read = readWeights(data.places, readBase64(weights));
          window.translator = new Translator(data, read);
        }""",
        json.dumps({"data": data, "weights": base64.b64encode(weights).decode()}),
    )
    return tab


def _tell_speed(tab: Any, folder: ModelFolder) -> None:
    source = folder.tokenizer().encode(_TWELVE_WORDS)
    for beam_size in (1, 4):
        seconds = []
        for _ in range(_ROUNDS):
            began = time.perf_counter()
            (found,) = _found(tab, [source], beam_size)
            seconds.append(time.perf_counter() - began)
        print(f"{len(source)} pieces to {len(found)}, beam {beam_size}: {_told(seconds)}")


def _found(tab: Any, sources: Sequence[Sequence[int]], beam_size: int) -> list[list[int]]:
    found: list[list[int]] = tab.evaluate(
        """async ({ sources, wish }) => {
          const found = [];
          for (const source of sources)
            found.push((await window.translator.find(source, wish, async () => {}))[0].pieces);
          return found;
        }""",
        {"sources": sources, "wish": {"beamSize": beam_size}},
    )
    return found


def _tell_agreement(tab: Any, folder: ModelFolder, lines: Sequence[str]) -> None:
    from heedful.decoding.pytorch_engine import PyTorchEngine

    engine, tokenizer = PyTorchEngine.load(folder), folder.tokenizer()
    sources = [tokenizer.encode(line) for line in lines]
    alpha = folder.provenance().search.alpha
    for beam_size in (1, 4):
        theirs = _found(tab, sources, beam_size)
        ours = engine.search(sources, SearchConfig(beam_size=beam_size, alpha=alpha))
        different = [
            (line, tokenizer.decode(best.pieces), tokenizer.decode(pieces))
            for line, (best, *_), pieces in zip(lines, ours, theirs, strict=True)
            if list(best.pieces) != pieces
        ]
        print(f"beam {beam_size}: {len(lines) - len(different)} of {len(lines)} as PyTorch says")
        for line, one, other in different:
            print(f"  {line}\n    PyTorch: {one}\n    page:    {other}")


def _told(seconds: Sequence[float]) -> str:
    return f"{statistics.median(seconds):.2f} s ({min(seconds):.2f} to {max(seconds):.2f})"


if __name__ == "__main__":
    main()
