import io
import json
import os
import re
from dataclasses import asdict
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.console import Console

from heedful.cli.info import info_table, tell_worth
from heedful.errors import HeedfulError, ModelFolderError, printable
from heedful.storage.checksums import Comparison
from heedful.storage.documents import read_document
from heedful.storage.folder import ModelFolder
from heedful.storage.provenance import Provenance

ODD = [
    *("null", "true", "-1", "0", "2.0", "1e30", "1e308", "1e999", "NaN", "-Infinity", "9" * 400),
    *("9" * 5_000, '""', '"x"', "[]", "{}", "[[]]", '{"x": 1}', "[" * 50_000, '{"a":' * 50_000),
    *(r'"\ud800"', r'"\u001b[2J"', '"[/red]"', '"[link=http://evil.example]x[/link]"', r'"\r\n"'),
]


def places(document: object) -> list[tuple[object, ...]]:
    """Return the way to every value in a document."""
    items: list[tuple[object, object]] = []
    if isinstance(document, dict):
        items = list(document.items())
    elif isinstance(document, list):
        items = list(enumerate(document))
    return [(), *((key, *rest) for key, value in items for rest in places(value))]


def with_odd(document, place, odd: str) -> str:
    """Spell a document with something odd in a place of it."""
    if not place:
        return odd
    copy = json.loads(json.dumps(document))
    parent = copy
    for key in place[:-1]:
        parent = parent[key]
    parent[place[-1]] = "odd one out"
    return json.dumps(copy).replace('"odd one out"', odd)


@pytest.mark.parametrize("name", ["provenance.json", "config.json", "alignment.json"])
@given(data=st.data())
@settings(max_examples=300)
def test_whatever_a_file_holds_it_is_read_or_refused_in_a_line(
    model_folder, tmp_path_factory, name, data
):
    folder = ModelFolder(tmp_path_factory.getbasetemp() / f"odd-{os.getpid()}")
    folder.path.mkdir(exist_ok=True)
    for file in "provenance.json", "config.json", "alignment.json":
        (folder.path / file).write_bytes((model_folder.path / file).read_bytes())
    document = json.loads((folder.path / name).read_text())
    place = data.draw(st.sampled_from(places(document)))
    (folder.path / name).write_text(with_odd(document, place, data.draw(st.sampled_from(ODD))))
    shown, refused = io.StringIO(), ""

    try:
        console = Console(file=shown, force_terminal=True, color_system=None, width=200)
        console.print(info_table(folder.config(), folder.provenance(), Comparison()))
        tell_worth(folder, console)
        folder.alignment_head(folder.config())
    except HeedfulError as error:
        refused = str(error)

    assert not refused or str(folder.path / name) in refused
    assert printable(refused).isprintable()
    assert "\x1b]" not in shown.getvalue()  # a link
    assert "\x1b[2J" not in shown.getvalue()


@pytest.mark.parametrize(
    ("place", "odd", "message"),
    [
        (
            ("training", "steps"),
            "1.5",
            r"'training\.steps' must be a whole number, found 1\.5; t",
        ),
        (("training", "steps"), "true", r"'training\.steps' must be a whole number, found true"),
        (("training", "seconds"), '"x"', r"'training\.seconds' must be a number, found \"x\""),
        (("training", "seconds"), "1e999", r"'training\.seconds' must be a number, found Infinity"),
        (
            ("training", "stopped_early"),
            "0",
            r"'training\.stopped_early' must be true or false",
        ),
        (("created",), "null", r"'created' must be text, found null"),
        (("data", "files"), "{}", r"'data\.files' must be a list, found an object"),
        (("scores", 0), "[]", r"'scores\.' must be an object, found a list"),
        (("machine",), "{}", r"'machine\.cpu' is missing; train or copy it again"),
        ((), "[" * 100_000, r"damaged, too deep; train or copy it again"),
        ((), "null", r"damaged, not a JSON object"),
        ((), "{", r"damaged, Expecting property name"),
    ],
)
def test_what_is_wrong_is_named_by_place_and_by_what_was_found(
    model_folder, tmp_path, place, odd, message
):
    folder = ModelFolder(tmp_path)
    document = json.loads(model_folder.provenance_file.read_text())
    folder.provenance_file.write_text(with_odd(document, place, odd))

    with pytest.raises(ModelFolderError, match=rf"provenance\.json: {message}"):
        folder.provenance()


def test_what_a_newer_heedful_adds_to_a_provenance_is_passed_over(model_folder, tmp_path):
    folder = ModelFolder(tmp_path)
    document = json.loads(model_folder.provenance_file.read_text())
    folder.provenance_file.write_text(json.dumps(document | {"new": 1}))

    assert folder.provenance() == model_folder.provenance()
    assert isinstance(folder.provenance(), Provenance)
    assert asdict(folder.provenance()) == document


@pytest.mark.parametrize("name", ["provenance.json", "config.json", "tokenizer.model"])
@pytest.mark.timeout(20)
def test_a_device_or_a_pipe_is_not_read(tmp_path, name):
    folder = ModelFolder(tmp_path)
    read = {
        "provenance.json": folder.provenance,
        "config.json": folder.config,
        "tokenizer.model": folder.tokenizer,
    }[name]

    (tmp_path / name).symlink_to("/dev/zero")
    with pytest.raises(ModelFolderError, match=rf"{re.escape(name)} is no file; train or copy it"):
        read()
    (tmp_path / name).unlink()
    os.mkfifo(tmp_path / name)
    with pytest.raises(ModelFolderError, match=rf"{re.escape(name)} is no file; train or copy it"):
        read()


def test_a_file_larger_than_it_can_be_is_not_read(tmp_path):
    (tmp_path / "large.json").touch()
    os.truncate(tmp_path / "large.json", 1 << 40)  # which takes no room

    with pytest.raises(ModelFolderError, match=r"damaged, 1,099,511,627,776 bytes are too many"):
        read_document(tmp_path / "large.json")


def test_a_link_to_a_file_is_read_as_caches_of_models_hold_them_so(tmp_path):
    (tmp_path / "blob").write_text('{"a": 1}')
    (tmp_path / "config.json").symlink_to(Path("blob"))

    assert read_document(tmp_path / "config.json") == {"a": 1}
