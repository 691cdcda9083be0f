"""What goes into a page, as far as no browser is needed to see it."""

import hashlib
import json
import re
import shutil
import subprocess
import sys
from base64 import b64decode, b64encode

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file

from heedful.errors import ConfigError, ModelFolderError
from heedful.explain import page_weights
from heedful.explain.page import joined_program, page, page_data, write_page
from heedful.explain.page_weights import bits_of_weights, pack_weights, weight_shapes
from heedful.model.config import ModelConfig, preset
from heedful.model.transformer import Transformer
from heedful.storage.folder import ModelFolder


@pytest.fixture
def copy(model_folder, tmp_path) -> ModelFolder:
    """A model folder that a test may change."""
    copied = shutil.copytree(model_folder.path, tmp_path / "copy")
    (copied / "checksums.json").unlink(missing_ok=True)
    return ModelFolder(copied)


@pytest.mark.parametrize(
    "changes",
    [{}, {"normalisation": "pre", "d_k": 3, "d_v": 5}, {"positions": "learned", "num_layers": 1}],
    ids=str,
)
def test_the_shapes_are_those_of_the_model(changes):
    config = ModelConfig(vocab_size=9, num_layers=2, d_model=8, d_ff=6, num_heads=2).__dict__
    config = ModelConfig(**(config | changes))

    wanted = {name: tuple(it.shape) for name, it in Transformer(config).state_dict().items()}

    assert weight_shapes(config) == {name: (1, *shape)[-2:] for name, shape in wanted.items()}


@pytest.mark.parametrize(
    ("name", "vocab_size", "bits"), [("mini", 2_000, 16), ("tiny", 8_500, 10), ("base", 37_000, 8)]
)
def test_the_rounding_is_as_fine_as_the_size_of_the_page_allows(name, vocab_size, bits):
    shapes = weight_shapes(preset(name, vocab_size=vocab_size)).values()

    assert bits_of_weights(shapes) == bits


@pytest.mark.parametrize("bits", [8, 11, 16])
def test_no_weight_is_off_by_more_than_half_a_step(model_folder, monkeypatch, bits):
    monkeypatch.setattr(page_weights, "bits_of_weights", lambda shapes: bits)
    places, packed = pack_weights(model_folder, model_folder.config())
    weights = load_file(model_folder.weights_file)

    for place in places:
        rows, start = place.rows, place.start + 4 * place.rows
        scales = np.frombuffer(packed, "<f4", rows, place.start)
        size = rows * place.width * place.bits
        digits = np.unpackbits(np.frombuffer(packed, np.uint8, -(-size // 8), start))[:size]
        powers = 1 << np.arange(place.bits)[::-1]
        whole = digits.reshape(rows, place.width, place.bits) @ powers - (1 << (place.bits - 1))
        off = np.abs(whole * scales[:, None] - weights[place.name].reshape(rows, -1))
        assert (off <= scales[:, None] * 0.501).all()


def test_the_hashes_in_the_policy_are_those_of_program_and_style(model_folder):
    html = page(model_folder)

    (policy,) = re.findall(r'Content-Security-Policy" content="([^"]+)"', html)
    (program,) = re.findall(r'<script type="module" id="program">(.*)</script>', html, re.DOTALL)
    (style,) = re.findall(r"<style>(.*)</style>", html, re.DOTALL)
    for name, text in (("script-src", program), ("style-src", style)):
        hashed = b64encode(hashlib.sha256(text.encode()).digest()).decode()
        assert f"{name} 'sha256-{hashed}'" in policy
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy


def test_the_program_is_one_script_without_imports_or_the_end_of_a_script():
    program = joined_program()

    assert not re.search(r"^(import|export)\b", program, re.MULTILINE)
    assert "</script" not in program
    assert "<!--" not in program
    assert "http" not in program.replace("http://www.w3.org/2000/svg", "")  # a name, no address


def test_what_the_page_knows_is_data_that_ends_no_script(model_folder):
    html = page(model_folder, "</script><!--")

    (data,) = re.findall(r'id="data">(.*?)</script>', html, re.DOTALL)
    assert json.loads(data)["text"] == "</script><!--"
    assert "<" not in data
    (weights,) = re.findall(r'id="weights">(.*?)</script>', html, re.DOTALL)
    assert b64decode(weights) == page_data(model_folder)[1]


def test_languages_that_a_tag_asks_for_are_offered(model_folder, monkeypatch):
    vocabulary = model_folder.tokenizer().vocabulary()
    pieces = [*vocabulary.pieces[:4], ">>fr<<", ">>pt-BR<<", ">>de<<", *vocabulary.pieces[7:]]
    changed = vocabulary._replace(pieces=pieces, kinds="ccccccn" + vocabulary.kinds[7:])
    monkeypatch.setattr("heedful.text.tokenizer.Tokenizer.vocabulary", lambda self: changed)

    data, _ = page_data(model_folder)

    assert data["targets"] == [{"code": "fr", "ids": [4]}, {"code": "pt-BR", "ids": [5]}]


def test_no_foreign_file_and_no_input_is_written_over(model_folder, tmp_path):
    mine = tmp_path / "page.html"
    mine.write_text("<!doctype html>\n<p>mine")
    with pytest.raises(ModelFolderError, match="was not made by heedful and is in the way"):
        write_page(mine, model_folder)
    with pytest.raises(ConfigError, match="writing it would destroy"):
        write_page(model_folder.config_file, model_folder)

    mine.unlink()
    write_page(mine, model_folder)
    write_page(mine, model_folder, "again")

    assert "again" in mine.read_text()


def test_weights_of_another_model_are_refused(copy):
    weights = load_file(copy.weights_file)
    save_file({**weights, "embedding.weight": weights["embedding.weight"][1:]}, copy.weights_file)

    with pytest.raises(ModelFolderError, match=r"the weights do not fit config\.json"):
        page(copy)


def test_weights_that_are_no_numbers_are_refused(copy):
    weights = load_file(copy.weights_file)
    weights["embedding.weight"][3, 3] = np.nan
    save_file(weights, copy.weights_file)

    with pytest.raises(
        ModelFolderError, match=r"embedding\.weight has weights that are no numbers"
    ):
        page(copy)


def test_damaged_or_missing_weights_are_refused(copy):
    copy.weights_file.write_bytes(b"damaged")
    with pytest.raises(ModelFolderError, match="damaged"):
        page(copy)

    copy.weights_file.unlink()
    with pytest.raises(ModelFolderError, match=r"has no model\.safetensors; copy it again"):
        page(copy)


@pytest.mark.slow
def test_a_page_is_written_without_torch(model_folder, tmp_path):
    code = (
        "import sys; sys.modules['torch'] = None; from heedful.__main__ import main;"
        f"sys.argv = ['heedful', 'explain', {str(model_folder.path)!r}, '--out', 'page.html'];"
        "main()"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=False
    )

    assert done.returncode == 0, done.stderr
    assert "Written: page.html" in done.stdout
    assert (tmp_path / "page.html").stat().st_size > 20_000
