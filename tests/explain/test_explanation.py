"""`heedful.explain`: what it says of a sentence is what the model does with it."""

import json
import subprocess
import sys

import numpy as np
import pytest
import torch

import heedful
from heedful.errors import ConfigError, ModelFolderError
from heedful.explain.explanation import shown_pieces
from heedful.explain.record import record_attention
from heedful.specials import BOS, EOS
from heedful.storage.languages import Direction
from heedful.translation.details import read_details
from heedful.translation.translator import load


@pytest.fixture(scope="module")
def translator(model_folder):
    return load(model_folder.path, engine="pytorch")


@pytest.fixture(scope="module")
def explanation(translator):
    return heedful.explain(translator, "a b c d")


def method_of_notebooks(explanation) -> str:
    return getattr(explanation, "_repr_html_")()  # noqa: B009


@torch.no_grad()
def test_weights_by_name_are_those_that_pytorch_records(translator, explanation):
    source = torch.tensor([explanation.source_ids])
    target = torch.tensor([explanation.target_ids])

    with record_attention(translator.engine.model) as maps:
        translator.engine.model(source, target)

    for weights, module in (
        (explanation.encoder, "encoder.0.self_attention"),
        (explanation.decoder, "decoder.0.self_attention"),
        (explanation.cross, "decoder.0.source_attention"),
    ):
        np.testing.assert_allclose(weights[0], maps[module][0][0].numpy(), atol=1e-5)
    q, k = explanation.q["cross"][0, 1], explanation.k["cross"][0, 1]
    scores = np.exp(q @ k.T / np.sqrt(q.shape[1]))
    np.testing.assert_allclose(
        scores / scores.sum(axis=1, keepdims=True), explanation.cross[0, 1], atol=1e-5
    )


def test_the_translation_is_the_one_that_the_translator_finds(translator, explanation):
    found = translator.translate("a b c d", details=True)

    assert explanation.text.strip() == found.text
    assert explanation.score == pytest.approx(found.score, abs=1e-4)
    sure = [word.confidence for word in explanation.words]
    assert tuple(word.text for word in explanation.words) == found.details.words
    assert sure == pytest.approx(found.details.confidences, abs=1e-4)
    links = [found.details.source_words[source] for source, _ in found.details.alignment]
    assert [word.source for word in explanation.words] == links


def test_steps_and_beam_are_told(explanation):
    assert explanation.source_ids[-1] == EOS
    assert explanation.target_ids[0] == BOS
    assert len(explanation.steps) == len(explanation.target_ids)
    assert explanation.beam.best[0].pieces == explanation.target_ids[1:]
    assert {head.kind for head in explanation.heads} == {"encoder", "decoder", "cross"}
    assert len(explanation.heads) == 3 * 1 * 2


def test_another_translation_is_read_instead(translator):
    explanation = heedful.explain(translator, "a b", translation="B A")

    assert explanation.text == "B A"
    assert explanation.cross.shape[2] == len(explanation.target_ids)


def test_both_engines_lead_to_the_same_model(model_folder, explanation):
    other = heedful.explain(load(model_folder.path), "a b c d")

    np.testing.assert_allclose(other.cross, explanation.cross, atol=1e-5)


@pytest.mark.parametrize("text", ["", "   ", "The first.\nThe second."])
def test_one_sentence_is_asked_for(translator, text):
    with pytest.raises(ConfigError, match="explain takes one sentence, and this is none or sev"):
        heedful.explain(translator, text)


def test_it_is_saved_as_page_picture_or_data(explanation, tmp_path):
    page, picture, data = (
        explanation.save(tmp_path / f"one.{ending}") for ending in ("html", "svg", "json")
    )

    assert "<!doctype html>" in page.read_text()[:20]
    assert picture.read_text().startswith("<svg")
    document = json.loads(data.read_text())
    assert document["text"] == explanation.text
    np.testing.assert_allclose(document["cross"], explanation.cross, atol=1e-6)
    with pytest.raises(ConfigError, match=r"is saved as \.html, \.svg or \.json"):
        explanation.save(tmp_path / "one.png")


def test_a_head_that_is_not_there_is_refused(explanation):
    assert "encoder, layer 1, head 2" in explanation.picture("encoder", 0, 1)
    with pytest.raises(ConfigError, match="there is no head 2 in layer 0 of 1 layers with 2"):
        explanation.picture("cross", 0, 2)


def test_a_notebook_gets_a_frame_that_can_do_nothing_but_run(explanation):
    html = method_of_notebooks(explanation)

    assert html.startswith('<iframe sandbox="allow-scripts allow-downloads" srcdoc="&lt;!doctype')
    assert html.count("<") == 2


def test_what_was_not_loaded_from_a_folder_has_no_page(translator, tmp_path):
    from heedful.decoding.pytorch_engine import PyTorchEngine
    from heedful.translation.translator import Translator

    bare = Translator(translator.tokenizer, PyTorchEngine(translator.engine.model))
    explanation = heedful.explain(bare, "a b c")

    assert "&lt;svg" in method_of_notebooks(explanation)
    with pytest.raises(ModelFolderError, match="was not loaded from a folder"):
        explanation.save(tmp_path / "a.html")


def test_the_wanted_language_is_the_first_piece_and_no_word(several):
    translator = load(several.path, engine="pytorch")
    pair = ("alder birch", "redla hcrib")
    explanation = heedful.explain(translator, pair[0], translation=pair[1], to_language="xb")

    assert explanation.source_pieces[0] == ">>xb<<"
    assert explanation.cross.shape[-1] == len(explanation.source_ids)
    engine = translator.towards(Direction("en", "xb")).engine
    (found,) = read_details(translator.tokenizer, engine, [pair])
    links = [found.source_words[source] for source, _ in found.alignment]
    assert [word.source for word in explanation.words] == links
    sure = [word.confidence for word in explanation.words]
    assert sure == pytest.approx(found.confidences, rel=1e-3)
    with pytest.raises(ConfigError, match=r"to which language\? Give one"):
        heedful.explain(translator, "alder birch")


def test_bytes_are_shown_as_bytes(translator):
    ids = translator.tokenizer.encode("é")

    assert shown_pieces(translator.tokenizer, ids)[-2:] == ["<C3>", "<A9>"]


@pytest.mark.slow
def test_it_needs_no_torch(model_folder):
    code = (
        "import sys; sys.modules['torch'] = None; import heedful;"
        f"it = heedful.explain(heedful.load({str(model_folder.path)!r}), 'a b c');"
        "print(it.cross.shape[:2], heedful.explain.page.__name__)"
    )

    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)

    assert done.stdout == "(1, 2) heedful.explain.page\n", done.stderr
