"""A real browser, the page's modules in it, and pages of models."""

import base64
import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
import torch

from heedful.explain.page import module_source
from heedful.explain.page_weights import Place, pack_weights
from heedful.model.transformer import Transformer
from heedful.runs.recipe import load_recipe
from heedful.runs.train import train_model
from heedful.storage.checkpoint import save_model
from heedful.storage.folder import ModelFolder
from tests.conftest import SIZES, write_corpus
from tools.browser import MUST_NOT_SKIP, find_browser

AXE = f"""axe.run(document, {{runOnly: {
    json.dumps(["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"])
}}})"""
_HOST = "http://heedful.test/"

# What a test may call in the browser, each with one JSON argument.
_CALLS = """
const names = ["tokenizer", "transformer", "matrix", "weights", "translator", "state", "sentences",
  "texts"];
const [{Tokenizer}, {Transformer}, {logSoftmax}, {readWeights, readBase64}, {Translator}, {State},
  {cutText}, {english}] = await Promise.all(names.map((name) => import(`/${name}.js`)));
const open = ({config, places, weights}) =>
  new Transformer(config, readWeights(places, readBase64(weights)));
const calls = {
  encode: ({vocabulary, texts}) => texts.map((text) => new Tokenizer(vocabulary).encode(text)),
  decode: ({vocabulary, rows}) => {
    const tokenizer = new Tokenizer(vocabulary);
    return rows.map((ids) => [tokenizer.decode(ids), tokenizer.spell(ids)]);
  },
  scores: ({model, source, target}) => {
    const transformer = open(model);
    const state = transformer.encode(source);
    const whole = transformer.decode([target], state);
    const all = transformer.logits(whole.x);
    logSoftmax(all);
    const one = [];
    let now = state;
    for (const id of target) {
      const done = transformer.decode([[id]], now);
      const scores = transformer.logits(done.x);
      logSoftmax(scores);
      one.push(...scores.data);
      now = done.state;
    }
    return {together: [...all.data], stepwise: one};
  },
  kept: ({model, source, target, whatIf}) => {
    const transformer = open(model);
    const kept = {};
    const keep = (name, {rows, width, data}) => { kept[name] = {rows, width, data: [...data]}; };
    const state = transformer.encode(source, whatIf, keep);
    const {x} = transformer.decode([target], state, whatIf, keep);
    return {kept, logits: [...transformer.logits(x).data]};
  },
  texts: () => english,
  cut: ({texts, longest}) => texts.map((text) =>
    cutText(text, longest).map(({start, end}) => text.slice(start, end))),
  selection: ({hash, changes}) => {
    const place = {hash};
    const state = new State(place);
    const seen = [state.shown];
    state.listen((shown) => seen.push(shown));
    for (const [name, change] of changes) state[name](change);
    return {hash: place.hash, seen};
  },
  steps: async ({data, weights, source, wish, prefix}) => {
    const translator = new Translator(data, readWeights(data.places, readBase64(weights)));
    return translator.steps(source, wish, async () => {}, prefix);
  },
  search: async ({data, weights, sources, wish}) => {
    const translator = new Translator(data, readWeights(data.places, readBase64(weights)));
    const found = [];
    for (const source of sources)
      found.push((await translator.find(source, wish, async () => {}))
        .map(({pieces, logProbability, isFinished}) => ({pieces, logProbability, isFinished})));
    return found;
  },
};
"""

Call = Callable[..., object]


@pytest.fixture(scope="session")
def browser() -> Iterator[object]:
    """Start Chromium, once for all tests; without one they are skipped, or fail."""
    path = find_browser()
    if path is None:
        message = "no Chromium is found; `make test` installs one where it can"
        pytest.fail(message) if os.environ.get(MUST_NOT_SKIP) else pytest.skip(message)
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        launched = playwright.chromium.launch(executable_path=path)
        yield launched
        launched.close()


@pytest.fixture(scope="session")
def call(browser) -> Iterator[Call]:
    """Call a function of the page's modules, which are served as the files that they are."""
    context = browser.new_context()
    context.route(f"{_HOST}**", _serve)
    tab = context.new_page()
    tab.goto(_HOST)

    def call(name: str, **argument: object) -> object:
        script = f"async (text) => {{ {_CALLS} return await calls.{name}(JSON.parse(text)); }}"
        return tab.evaluate(script, json.dumps(argument))

    yield call
    context.close()


def _serve(route) -> None:
    name = route.request.url.removeprefix(_HOST)
    if name:
        route.fulfill(body=module_source(name), content_type="text/javascript")
    else:
        route.fulfill(body="<!doctype html>", content_type="text/html")


@pytest.fixture
def open_page(browser, request) -> Iterator[Callable]:
    """Open a page from disk; whatever it says on the console or asks for fails the test."""
    contexts = []

    def open_page(path: Path, selection: str = "", **options: object) -> object:
        context = browser.new_context(locale="en-US", **options)
        contexts.append(context)
        tab = context.new_page()
        tab.said, tab.asked = [], []
        tab.on("console", lambda message: tab.said.append(message.text))
        tab.on("pageerror", lambda error: tab.said.append(str(error)))
        tab.on("request", lambda request: tab.asked.append(request.url))
        tab.goto(f"{path.as_uri()}#{selection}")
        return tab

    yield open_page
    for context in contexts:
        for tab in context.pages:
            assert tab.said == []
            first, *others = tab.asked
            assert first.startswith("file:")
            assert all(address.startswith("blob:") for address in others)
        context.close()


def packed(
    model: Transformer, folder: Path, monkeypatch: pytest.MonkeyPatch, bits: int = 16
) -> tuple[dict[str, object], Transformer]:
    """Return a model as a page has it, and in PyTorch with the very weights that the page has."""
    save_model(ModelFolder(folder), model)
    monkeypatch.setattr("heedful.explain.page_weights.bits_of_weights", lambda shapes: bits)
    places, weights = pack_weights(ModelFolder(folder), model.config)
    carried = {
        place.name: torch.from_numpy(_unpacked(place, weights)).view_as(
            model.state_dict()[place.name]
        )
        for place in places
    }
    as_carried = Transformer(model.config).eval()
    as_carried.load_state_dict(carried)
    document = {
        "config": {name: it for name, it in vars(model.config).items() if name != "dropout"},
        "places": [place._asdict() for place in places],
        "weights": base64.b64encode(weights).decode(),
    }
    return document, as_carried


def _unpacked(place: Place, weights: bytes) -> np.ndarray:
    """Read a tensor digit by digit, as slowly as it is plain."""
    scales = np.frombuffer(weights, "<f4", place.rows, place.start)
    begin, count = place.start + 4 * place.rows, place.rows * place.width
    digits = "".join(f"{byte:08b}" for byte in weights[begin : begin + count * place.bits // 8 + 1])
    whole = [int(digits[at * place.bits :][: place.bits], 2) for at in range(count)]
    values = np.array(whole).reshape(place.rows, place.width) - (1 << (place.bits - 1))
    return (values * scales[:, None]).astype(np.float32)


@pytest.fixture(scope="session")
def trained(tmp_path_factory) -> ModelFolder:
    """A model that has learned to write small letters as capitals, and does so nearly always."""
    folder = tmp_path_factory.mktemp("capitals")
    (folder / "recipe.toml").write_text(
        SIZES.replace("d_model = 16", "d_model = 32").replace("d_ff = 32", "d_ff = 64")
        + '[training]\nsteps = 250\nbatch_tokens = 512\noptimizer = "adam"\npeak_rate = 5e-3\n'
        "warmup_steps = 20\nvalidate_every = 250\naverage_last = 1\n"
    )
    recipe = load_recipe(str(folder / "recipe.toml"), **write_corpus(folder, num_pairs=2_000))
    *_, finished = train_model(recipe, folder / "model")
    return finished.folder
