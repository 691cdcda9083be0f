import json
import shutil
from dataclasses import asdict

import numpy as np
import pytest
import torch

from heedful.checkpoint import save_model
from heedful.decoding.ctranslate2_engine import CTranslate2Engine
from heedful.decoding.hypothesis import SearchConfig
from heedful.decoding.layout import Layout
from heedful.decoding.pytorch_engine import PyTorchEngine
from heedful.errors import ConfigError
from heedful.folder import ModelFolder
from heedful.interop.ctranslate2_export import export_ctranslate2
from heedful.model.alignment_head import AlignmentHead
from heedful.model.config import ModelConfig
from heedful.model.transformer import Transformer
from heedful.text.tokenizer import TokenizerConfig, train_tokenizer

EXACT = Layout(compute_type="float32", workers=1, threads=1)
SIZES = {"num_layers": 2, "d_model": 32, "d_ff": 64, "num_heads": 4}


@pytest.fixture(scope="module")
def tokenizer():
    texts = ["a letter", "the other letters", "some more of the same"] * 20
    return train_tokenizer(lambda: iter(texts), TokenizerConfig(vocab_size=320))


def exported(path, tokenizer, head=None, **changes) -> tuple[ModelFolder, Transformer]:
    folder = ModelFolder(path)
    torch.manual_seed(5)
    model = Transformer(ModelConfig(vocab_size=tokenizer.vocab_size, **SIZES, **changes)).eval()
    with torch.no_grad():  # of a trained size, so that norms and biases show
        for parameter in model.parameters():
            parameter += 0.1 * torch.randn_like(parameter)
    path.mkdir(exist_ok=True)
    folder.tokenizer_file.write_bytes(tokenizer.model)
    save_model(folder, model)
    if head:
        folder.alignment_file.write_text(json.dumps(asdict(head)))
    export_ctranslate2(folder)
    return folder, model


@pytest.mark.parametrize("beam_size", [1, 4])
@pytest.mark.parametrize("positions", ["interleaved", "halves", "learned"])
@pytest.mark.parametrize("normalisation", ["post", "pre"])
def test_both_engines_find_the_same(tmp_path, tokenizer, normalisation, positions, beam_size):
    folder, model = exported(
        tmp_path / "model", tokenizer, normalisation=normalisation, positions=positions
    )
    random = torch.Generator().manual_seed(1)
    sources = [
        torch.randint(4, tokenizer.vocab_size, (length,), generator=random).tolist()
        for length in (1, 2, 3, 5, 8, 13, 21)
    ]
    config = SearchConfig(beam_size=beam_size)

    ours = PyTorchEngine(model).search(sources, config)
    theirs = CTranslate2Engine(folder, EXACT).search(sources, config)

    for one, other in zip(ours, theirs, strict=True):
        assert [h.pieces for h in one] == [h.pieces for h in other]
        assert [h.is_finished for h in one] == [h.is_finished for h in other]
        assert [h.log_probability for h in one] == pytest.approx(
            [h.log_probability for h in other], abs=1e-3
        )


@pytest.mark.parametrize("beam_size", [1, 4])
@pytest.mark.parametrize("shift", [0, 1])
@pytest.mark.parametrize("head", [None, 0, 2])
def test_both_engines_look_at_the_same_with_the_chosen_head(
    tmp_path, tokenizer, head, shift, beam_size
):
    chosen = AlignmentHead(layer=0, head=head, shift=shift)
    folder, model = exported(tmp_path / "model", tokenizer, chosen)
    sources = [[9, 10], [5, 6, 7, 8, 9, 10, 11], [4]]
    config = SearchConfig(beam_size=beam_size, attention=True)

    ours = PyTorchEngine(model, chosen).search(sources, config)
    theirs = CTranslate2Engine(folder, EXACT).search(sources, config)

    for source, one, other in zip(sources, ours, theirs, strict=True):
        for mine, yours in zip(one, other, strict=True):
            assert mine.pieces == yours.pieces
            attention = np.array(mine.attention)
            assert attention.shape == (len(mine.pieces), len(source))
            np.testing.assert_allclose(attention, yours.attention, atol=1e-4)


def test_another_head_looks_elsewhere(tmp_path, tokenizer):
    config, looks = SearchConfig(beam_size=1, attention=True), set()
    for head in (None, 0, 1, 2, 3):
        for shift in (0, 1):
            chosen = AlignmentHead(layer=1, head=head, shift=shift)
            folder, _ = exported(tmp_path / "model", tokenizer, chosen)
            ((best,),) = CTranslate2Engine(folder, EXACT).search([[5, 6, 7]], config)
            looks.add(best.attention[:2])

    assert len(looks) == 10


def test_heads_of_another_width_are_refused(tmp_path, tokenizer):
    with pytest.raises(ConfigError, match=r"d_k = d_v = d_model / num_heads = 8.* d_k 4 and d_v 8"):
        exported(tmp_path / "model", tokenizer, d_k=4)


def test_the_shortlist_names_pieces_that_the_vocabulary_has(model_folder):
    pieces = set(model_folder.tokenizer().pieces(range(model_folder.config().vocab_size)))

    lines = (model_folder.ctranslate2 / "vmap.txt").read_text(encoding="utf-8").splitlines()

    keys, lists = zip(*(line.split("\t") for line in lines), strict=True)
    assert keys[0] == ""  # for any source
    assert set(keys[1:]) | set(" ".join(lists).split(" ")) <= pieces


def test_without_its_corpus_a_model_is_exported_without_a_shortlist(model_folder, tmp_path):
    copy = ModelFolder(shutil.copytree(model_folder.path, tmp_path / "copy"))
    shutil.rmtree(copy.training)

    export_ctranslate2(copy)

    assert {path.name for path in copy.ctranslate2.iterdir()} >= {"model.bin"}
    assert not (copy.ctranslate2 / "vmap.txt").exists()
