import json
import re
from html import unescape
from pathlib import Path

import pytest

from heedful.explain.page import page_data
from heedful.server.limits import Limits
from heedful.server.models import Model, Models
from heedful.server.pages import docs_page
from heedful.server.place import Place
from heedful.server.run import make_config, make_service
from heedful.storage.languages import Direction
from tests.server.conftest import live
from tools.browser import find_browser


def test_the_page_has_the_model_and_its_program_as_files(client, model_folder):
    page = client.get("/")

    data = re.search(r'<script type="application/json" id="data">(.*?)</script>', page.text)[1]
    found = json.loads(data)
    served, weights = found.pop("served"), page_data(model_folder)[1]
    own = {"name": "small", "languages": {"from": "en", "to": "de"}}
    assert found == json.loads(json.dumps(page_data(model_folder)[0] | own))
    assert client.get(served["weights"]).content == weights
    assert client.get("/models/small").text == page.text
    for name in re.findall(r'(?:src|href)="(/static/[^"]+)"', page.text):
        assert client.get(name).status_code == 200


def test_every_module_that_is_imported_is_there(client):
    wanted, seen = ["main.js"], set()
    while wanted:
        name = wanted.pop()
        response = client.get(f"/static/{name}")
        assert response.status_code == 200, name
        assert response.headers["content-type"].startswith("text/javascript")
        seen.add(name)
        folder = name.rpartition("/")[0]
        for path in re.findall(r'from "(\.[^"]+)"', response.text):
            parts = (f"{folder}/{path}" if folder else path).replace("/./", "/").split("/")
            resolved = []
            for part in parts:
                if part == "..":
                    resolved.pop()
                elif part != ".":
                    resolved.append(part)
            if (found := "/".join(resolved)) not in seen:
                wanted.append(found)
    assert len(seen) > 10


@pytest.mark.parametrize(
    "path", ["/static/../page.py", "/static/%2e%2e/page.py", "/static/x", "/models/x"]
)
def test_nothing_else_is_given(client, path):
    assert client.get(path).status_code == 404


def test_a_browser_may_load_nothing_from_elsewhere(client):
    policy = client.get("/").headers["content-security-policy"]

    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert "http" not in policy
    for path in ("/", "/docs"):
        assert not re.findall(r'(?:src|href)="(?!/|data:)', client.get(path).text)


def test_what_a_browser_has_is_not_sent_again(client):
    tag = client.get("/static/main.js").headers["etag"]

    again = client.get("/static/main.js", headers={"If-None-Match": tag})

    assert (again.status_code, again.content) == (304, b"")


def test_a_hostile_name_is_text(make_client, translator, model_folder, tmp_path):
    evil = "<script>alert(1)</script>"
    models = Models([Model(evil, translator, (Direction(evil, "de"),), model_folder)])
    client = make_client(models=models)

    for path in ("/", "/docs"):
        assert evil not in client.get(path).text


def test_lines_of_the_docs_are_such_as_can_be_run(client):
    lines = [unescape(it) for it in re.findall(r"<pre>(.*?)</pre>", client.get("/docs").text)]

    (line,) = [it for it in lines if "5000/v1/translate " in it]
    body = re.search(r"-d '(.*)'", line)[1]
    assert client.post("/v1/translate", json=json.loads(body)).status_code == 200
    (line,) = [it for it in lines if "5000/translate " in it]
    body = re.search(r"-d '(.*)'", line)[1]
    assert client.post("/translate", json=json.loads(body)).status_code == 200


def test_a_model_without_a_folder_has_no_page(make_client, translator):
    client = make_client(models=Models([Model("a", translator, (Direction("en", "de"),))]))

    assert client.get("/").status_code == 404


def test_docs_of_nothing_are_a_page():
    assert "<main>" in docs_page({"paths": {}})


@pytest.fixture(scope="module")
def browser():
    """A page in a browser at a server; and what is said on its console, and asked for."""
    playwright = pytest.importorskip("playwright.sync_api")
    if (path := find_browser()) is None:
        pytest.skip("no browser is installed")
    with playwright.sync_playwright() as play:
        browser = play.chromium.launch(executable_path=path)
        yield browser
        browser.close()


@pytest.fixture(scope="module")
def url(models):
    with live(make_config(make_service(models, Limits()), Place(port=0))) as port:
        yield f"http://127.0.0.1:{port}/"


@pytest.mark.slow
def test_in_a_browser_it_translates_without_a_message_or_a_request_elsewhere(
    browser, url, translator
):
    page = browser.new_page()
    said, asked = [], []
    page.on("console", lambda message: said.append(message.text))
    page.on("pageerror", lambda error: said.append(str(error)))
    page.on("request", lambda request: asked.append(request.url))
    page.goto(url)

    page.get_by_role("textbox").first.fill("a b 😀 c")
    page.wait_for_selector(".output:not(:empty)")
    page.wait_for_selector(".output:not([aria-busy])")

    assert page.locator(".output").inner_text() == translator.translate("a b 😀 c").text
    assert not [it for it in asked if it.endswith("/weights")]  # until something looks inside
    assert said == []
    assert all(it.startswith((url, "data:")) for it in asked)


@pytest.mark.slow
def test_a_file_that_is_opened_comes_back_translated(browser, url, translator):
    page = browser.new_page()
    page.goto(url)

    file = {"name": "a.md", "mimeType": "text/plain", "buffer": b"# a b\n\n`c`\n"}
    page.set_input_files("input[type=file]", file)
    with page.expect_download() as download:
        page.click("a[download]")

    assert download.value.suggested_filename == "a.de.md"
    assert (
        Path(download.value.path()).read_text() == f"# {translator.translate('a b').text}\n\n`c`\n"
    )


@pytest.mark.slow
@pytest.mark.parametrize("path", ["", "docs"])
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_everybody_can_use_it_on_a_phone_too(browser, url, path, theme):
    axe = pytest.importorskip("axe_playwright_python")
    page = browser.new_page(viewport={"width": 390, "height": 800}, color_scheme=theme)
    page.goto(url + path)
    page.wait_for_selector("main")

    page.evaluate(next(Path(axe.__file__).parent.glob("*.js")).read_text())
    found = page.evaluate("axe.run(document)")

    assert [it["id"] for it in found["violations"]] == []
    assert page.evaluate("document.documentElement.scrollWidth") == 390
