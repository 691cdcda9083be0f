import json
import shutil
from dataclasses import asdict
from itertools import chain, pairwise

import numpy as np
import pytest
import torch

from heedful.decoding import hypothesis
from heedful.decoding.ctranslate2_engine import CTranslate2Engine
from heedful.decoding.hypothesis import Sampling, SearchConfig
from heedful.decoding.pytorch_engine import PyTorchEngine
from heedful.decoding.search import chances
from heedful.errors import ConfigError
from heedful.interop.ctranslate2 import export_ctranslate2
from heedful.model.config import ModelConfig
from heedful.model.transformer import Transformer
from heedful.specials import EOS
from heedful.storage.alignment_head import AlignmentHead
from heedful.storage.checkpoint import save_model
from heedful.storage.folder import ModelFolder
from heedful.text.tokenizer import TokenizerConfig, train_tokenizer
from heedful.translation.translator import Translator

SIZES = {"num_layers": 2, "d_model": 32, "d_ff": 64, "num_heads": 4}


@pytest.fixture(scope="module")
def tokenizer():
    texts = ["a letter", "the other letters", "some more of the same"] * 20
    return train_tokenizer(lambda: iter(texts), TokenizerConfig(vocab_size=320))


def exported(path, tokenizer, head=None, **changes) -> tuple[ModelFolder, Transformer]:
    folder = ModelFolder(path)
    torch.manual_seed(5)
    model = Transformer(ModelConfig(vocab_size=tokenizer.vocab_size, **(SIZES | changes))).eval()
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
    config = SearchConfig(beam_size=beam_size, n_best=beam_size)

    ours = PyTorchEngine(model).search(sources, config)
    theirs = CTranslate2Engine(folder, exact=True).search(sources, config)

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
    config = SearchConfig(beam_size=beam_size, n_best=beam_size)

    ours, theirs = PyTorchEngine(model, chosen), CTranslate2Engine(folder, exact=True)
    targets = [best.pieces for best, *_ in ours.search(sources, config)]

    looks = zip(ours.look(sources, targets), theirs.look(sources, targets), strict=True)

    for source, target, (mine, yours) in zip(sources, targets, looks, strict=True):
        assert np.array(mine).shape == (len(target), len(source))
        np.testing.assert_allclose(mine, yours, atol=1e-4)


def test_another_head_looks_elsewhere(tmp_path, tokenizer):
    looks = set()
    for head in (None, 0, 1, 2, 3):
        for shift in (0, 1):
            chosen = AlignmentHead(layer=1, head=head, shift=shift)
            folder, _ = exported(tmp_path / "model", tokenizer, chosen)
            (look,) = CTranslate2Engine(folder, exact=True).look([[5, 6, 7]], [[8, 9]])
            looks.add(look)

    assert len(looks) == 10


SOURCES = [[9, 10], [5, 6, 7, 8, 9, 10, 11], [4]]


@pytest.mark.parametrize("beam_size", [1, 3])
def test_both_engines_go_on_alike_after_a_prefix(tmp_path, tokenizer, beam_size):
    folder, model = exported(tmp_path / "model", tokenizer)
    prefixes, config = [[300, 301], [], [7]], SearchConfig(beam_size=beam_size)

    ours = PyTorchEngine(model).search(SOURCES, config, prefixes=prefixes)
    theirs = CTranslate2Engine(folder, exact=True).search(SOURCES, config, prefixes=prefixes)

    assert ours[1] == PyTorchEngine(model).search(SOURCES, config)[1]
    for prefix, one, other in zip(prefixes, ours, theirs, strict=True):
        assert all(h.pieces[: len(prefix)] == tuple(prefix) for h in one)
        assert [h.pieces for h in one] == [h.pieces for h in other]
        assert [h.log_probability for h in one] == pytest.approx(
            [h.log_probability for h in other], abs=1e-3
        )


@pytest.mark.parametrize("shift", [0, 1])
def test_both_engines_read_a_translation_alike(tmp_path, tokenizer, shift):
    head = AlignmentHead(layer=1, head=3, shift=shift)
    folder, model = exported(tmp_path / "model", tokenizer, head)
    ours, theirs = PyTorchEngine(model, head), CTranslate2Engine(folder, exact=True)
    targets = [[20, 300], [], [30, 31, 32, 33]]

    readings = ours.read(SOURCES, targets)
    others = theirs.read(SOURCES, targets)

    for source, target, one, other in zip(SOURCES, targets, readings, others, strict=True):
        assert len(one.log_probabilities) == len(target) + 1
        assert one.log_probabilities == pytest.approx(other.log_probabilities, abs=1e-4)
        assert len(one.attention) == len(other.attention) == len(target)
        for row, column in zip(one.attention, other.attention, strict=True):
            assert len(row) == len(source)
            assert row == pytest.approx(column, abs=1e-4)


def test_what_was_found_is_read_as_it_was_written(tmp_path, tokenizer):
    _, model = exported(tmp_path / "model", tokenizer)
    engine = PyTorchEngine(model)

    found = engine.search(SOURCES, SearchConfig(beam_size=1))
    readings = engine.read(SOURCES, [best.pieces for (best,) in found])

    for (best,), reading in zip(found, readings, strict=True):
        written = reading.log_probabilities[: len(best.pieces) + best.is_finished]
        assert best.log_probability == pytest.approx(sum(written), abs=1e-3)


def test_both_engines_expect_the_same_next_pieces(tmp_path, tokenizer):
    folder, model = exported(tmp_path / "model", tokenizer)
    ours, theirs = PyTorchEngine(model), CTranslate2Engine(folder, exact=True)
    (reading,) = ours.read(SOURCES[:1], [[20, 300]])

    for prefix, following in (([], 20), ([20], 300), ([20, 300], EOS)):
        likely = ours.next_pieces(SOURCES[0], prefix)
        assert likely[following] == pytest.approx(reading.log_probabilities[len(prefix)], abs=1e-5)
        assert likely == pytest.approx(theirs.next_pieces(SOURCES[0], prefix), abs=1e-4)


@pytest.mark.parametrize(
    "sampling",
    [
        Sampling(seed=1),
        Sampling(temperature=0.5, top_k=6, seed=2),
        Sampling(temperature=2.0, top_p=0.4, seed=3),
        Sampling(temperature=1.5, top_k=20, top_p=0.8, seed=4),
    ],
)
@pytest.mark.parametrize("name", ["ours", "theirs"])
def test_pieces_are_drawn_as_often_as_their_chances_say(
    tmp_path, tokenizer, monkeypatch, sampling, name
):
    monkeypatch.setattr(hypothesis, "EXTRA_LENGTH", 0)
    folder, model = exported(tmp_path / "model", tokenizer)
    with torch.no_grad():
        model.embedding.weight *= 3  # so that some pieces are likelier than others
    save_model(folder, model)
    export_ctranslate2(folder)
    engine = PyTorchEngine(model) if name == "ours" else CTranslate2Engine(folder, exact=True)
    config, num = SearchConfig(beam_size=1), 400

    drawn = [best for (best,) in engine.search([[9, 10]] * num, config, sampling=sampling)]
    first = np.bincount([(*h.pieces, 3)[0] for h in drawn], minlength=tokenizer.vocab_size)

    likely = torch.tensor([PyTorchEngine(model).next_pieces([9, 10], [])])
    expected = chances(likely, sampling)[0].numpy() * num
    assert first[expected == 0].sum() == 0
    common = expected > 5
    surprise = ((first - expected)[common] ** 2 / expected[common]).sum()
    assert surprise < 2.5 * common.sum() + 3  # chi-square: about one for each piece
    assert drawn == [best for (best,) in engine.search([[9, 10]] * num, config, sampling=sampling)]


def test_what_is_drawn_beyond_the_limit_of_its_own_sentence_is_cut_off(
    tmp_path, tokenizer, monkeypatch
):
    monkeypatch.setattr(hypothesis, "EXTRA_LENGTH", 1)
    folder, _ = exported(tmp_path / "model", tokenizer)
    engine = CTranslate2Engine(folder, exact=True)
    config = SearchConfig(beam_size=1, alpha=0.0)

    (short,), (long,) = engine.search(
        [[9], [9] * 12], config, prefixes=[[4], []], sampling=Sampling(seed=5)
    )

    assert (len(short.pieces), short.is_finished) == (2, False)
    assert short.log_probability == pytest.approx(
        next(engine.read([[9]], [short.pieces])).log_probabilities[1]
    )
    assert len(long.pieces) > 2


def exported_with_ends(path, tokenizer, strength) -> tuple[ModelFolder, Transformer]:
    """Export a model that likes to end, the more so the stronger."""
    folder, model = exported(path, tokenizer, normalisation="pre")
    with torch.no_grad():
        end = model.embedding.weight[EOS]
        model.decoder_norm.bias += strength * end / end.norm() ** 2
    save_model(folder, model)
    export_ctranslate2(folder)
    return folder, model


@pytest.mark.parametrize("strength", [4.0, 5.0])
@pytest.mark.parametrize("alpha", [0.0, 1.0, 3.0])
def test_alpha_ranks_the_same_in_both_engines(tmp_path, tokenizer, alpha, strength):
    folder, model = exported_with_ends(tmp_path / "model", tokenizer, strength)
    config = SearchConfig(beam_size=4, alpha=alpha, n_best=4)

    ours = PyTorchEngine(model).search(SOURCES, config)
    theirs = CTranslate2Engine(folder, exact=True).search(SOURCES, config)

    assert [[h.pieces for h in found] for found in ours] == [
        [h.pieces for h in found] for found in theirs
    ]
    assert all(len({len(h.pieces) for h in found}) > 1 for found in ours)  # else nothing is shown


@pytest.mark.parametrize("beam_size", [1, 3])
def test_a_second_try_writes_something_in_both_engines(tmp_path, tokenizer, beam_size):
    folder, model = exported_with_ends(tmp_path / "model", tokenizer, strength=30.0)
    config = SearchConfig(beam_size=beam_size)
    engines = PyTorchEngine(model), CTranslate2Engine(folder, exact=True)

    firsts = [engine.search(SOURCES, config) for engine in engines]
    ours, theirs = (engine.search(SOURCES, config, no_repeat=4) for engine in engines)

    assert all(best.pieces == () for found in firsts for best, *_ in found)
    assert [best.pieces for best, *_ in ours] == [best.pieces for best, *_ in theirs]
    assert all(best.pieces for best, *_ in ours)


def test_a_text_longer_than_there_are_positions_is_translated_in_parts(tmp_path, tokenizer):
    folder, model = exported(tmp_path / "model", tokenizer, positions="learned", max_length=64)
    text = "the other letters, " * 40

    for engine in (PyTorchEngine(model), CTranslate2Engine(folder, exact=True)):
        translation = Translator(tokenizer, engine).translate(text, beam_size=1)
        assert len(translation.sentences) > 10
        assert all(len(tokenizer.encode(source)) < 64 for source, _ in translation.sentences)


def test_more_pieces_than_there_are_can_be_drawn_from(tmp_path, tokenizer):
    folder, _ = exported(tmp_path / "model", tokenizer)

    (found,) = CTranslate2Engine(folder, exact=True).search(
        [[5, 6]], SearchConfig(beam_size=1), sampling=Sampling(top_k=100_000, seed=1)
    )

    assert len(found) == 1


@pytest.mark.parametrize("beam_size", [1, 3])
def test_both_engines_avoid_repetition_alike(tmp_path, tokenizer, beam_size):
    folder, model = exported(tmp_path / "model", tokenizer)
    sources, config = [[5, 6, 7], [8, 9, 260, 261, 262]], SearchConfig(beam_size=beam_size)

    ours = PyTorchEngine(model).search(sources, config, no_repeat=2)
    theirs = CTranslate2Engine(folder, exact=True).search(sources, config, no_repeat=2)

    assert [[h.pieces for h in found] for found in ours] == [
        [h.pieces for h in found] for found in theirs
    ]
    for found in chain(*ours):
        pairs = list(pairwise(found.pieces))
        assert len(set(pairs)) == len(pairs)


def test_heads_of_another_width_are_refused(tmp_path, tokenizer):
    with pytest.raises(ConfigError, match=r"d_k = d_v = d_model / num_heads = 8.* d_k 4 and d_v 8"):
        exported(tmp_path / "model", tokenizer, d_k=4)


def test_the_shortlist_names_pieces_that_the_vocabulary_has(model_folder):
    pieces = set(model_folder.tokenizer().pieces(range(model_folder.config().vocab_size)))

    lines = (model_folder.ctranslate2 / "vmap.txt").read_text(encoding="utf-8").splitlines()

    keys, lists = zip(*(line.split("\t") for line in lines), strict=True)
    assert keys[0] == ""  # for any source
    assert set(keys[1:]) | set(" ".join(lists).split(" ")) <= pieces


def test_without_its_corpus_a_model_keeps_the_shortlist_it_has(model_folder, tmp_path):
    copy = ModelFolder(shutil.copytree(model_folder.path, tmp_path / "copy"))
    shutil.rmtree(copy.training)

    export_ctranslate2(copy)

    assert copy.shortlist_file.read_bytes() == model_folder.shortlist_file.read_bytes()
    shutil.rmtree(copy.ctranslate2)
    export_ctranslate2(copy)
    assert {path.name for path in copy.ctranslate2.iterdir()} >= {"model.bin"}
    assert not copy.shortlist_file.exists()
