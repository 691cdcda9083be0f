"""Clients that others wrote, as they are, against a server that runs."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import deepl
import pytest
import requests
from deep_translator import LibreTranslator
from libretranslatepy import LibreTranslateAPI

from heedful.server.keys import KeyFile
from heedful.server.limits import Limits
from heedful.server.place import Place
from heedful.server.run import make_config, make_service
from tests.documents.making import docx
from tests.server.conftest import live

TEXT = "Größe & a?"


@pytest.fixture(scope="module")
def url(models):
    with live(make_config(make_service(models, Limits()), Place(port=0))) as port:
        yield f"http://127.0.0.1:{port}/"


@pytest.fixture(scope="module")
def locked(models, tmp_path_factory):
    """A server that wants a key, and the key."""
    file = KeyFile(tmp_path_factory.mktemp("keys") / "keys.json")
    secret = file.add("anna", characters_per_day=1_000)
    service = make_service(models, Limits(), file.path)
    with live(make_config(service, Place(port=0))) as port:
        yield f"http://127.0.0.1:{port}/", secret


@pytest.fixture(scope="module")
def expected(translator):
    return translator.translate(TEXT).text


def test_libretranslatepy(url, locked, expected):
    api = LibreTranslateAPI(url)

    assert api.translate(TEXT, "en", "de") == expected
    assert api.languages() == [{"code": "en", "name": "English", "targets": ["de", "en"]}]
    assert api.detect("hello")[0]["language"] == "en"
    assert LibreTranslateAPI(*locked).translate(TEXT, "en", "de") == expected


def test_deep_translator(url, locked, expected):
    """It puts everything into the address, and a slash before that."""
    for address, key in ((url, "any"), locked):
        client = LibreTranslator(source="en", target="de", custom_url=address, api_key=key)
        assert client.translate(TEXT) == expected


@pytest.fixture
def deepl_client():
    """Make clients of DeepL's, and close what they open."""
    made = []

    def make(url: str, key: str = "any") -> deepl.DeepLClient:
        made.append(deepl.DeepLClient(key, server_url=url.rstrip("/")))
        return made[-1]

    yield make
    for client in made:
        client.close()


def test_deepl(deepl_client, locked, expected):
    client = deepl_client(*locked)

    found = client.translate_text([TEXT, "b"], target_lang="DE")

    assert found[0].text == expected
    assert found[0].detected_source_lang == "EN"
    assert found[0].billed_characters == len(TEXT)
    assert [it.code for it in client.get_source_languages()] == ["EN"]
    assert [it.code for it in client.get_target_languages()] == ["DE"]
    assert 0 < client.get_usage().character.count < 1_000
    assert client.get_glossary_languages() == []
    with pytest.raises(deepl.AuthorizationException):
        deepl_client(locked[0], "wrong").translate_text("a", target_lang="DE")


def test_deepl_with_tags(deepl_client, url):
    found = deepl_client(url).translate_text("a <b>b</b>", target_lang="DE", tag_handling="html")

    assert found.text.count("<b>") == found.text.count("</b>") == 1


def test_the_command_line_of_deepl(url, expected):
    environment = os.environ | {"DEEPL_SERVER_URL": url.rstrip("/"), "DEEPL_AUTH_KEY": "any"}
    done = subprocess.run(
        [sys.executable, "-m", "deepl", "text", "--to", "de", TEXT],
        env=environment, capture_output=True, text=True, check=True,
    )  # fmt: skip

    assert done.stdout.strip() == expected


def test_a_program_that_sends_files(url):
    content = docx("<w:p><w:r><w:t>a b</w:t></w:r></w:p>")
    values = {"source": "en", "target": "de"}

    with requests.Session() as session:
        done = session.post(
            f"{url}translate_file", data=values, files={"file": ("a.docx", content)}, timeout=30
        )
        file = session.get(done.json()["translatedFileUrl"], timeout=30)

    assert file.content[:2] == b"PK"


PROGRAM = """
import translate from "translate";
translate.engine = "libre";
translate.url = process.argv[2] + "translate";
console.log(await translate(process.argv[3], { from: "en", to: "de" }));
"""


@pytest.mark.slow
def test_translate_of_npm(url, expected):
    modules = Path(__file__).parents[2] / "tools" / "js" / "node_modules"
    if not shutil.which("node") or not (modules / "translate").exists():
        pytest.skip("node or its packages are not installed")
    program = modules.parent / "translate_client.mjs"
    program.write_text(PROGRAM)
    try:
        done = subprocess.run(
            ["node", str(program), url, TEXT], capture_output=True, text=True, check=True
        )
    finally:
        program.unlink()

    assert done.stdout.strip() == expected
