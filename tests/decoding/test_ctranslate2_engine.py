import os
import shutil
import subprocess
import sys
from collections.abc import Callable

import ctranslate2
import pytest
import torch

import heedful
from heedful.decoding.ctranslate2_engine import CTranslate2Engine
from heedful.decoding.hypothesis import Sampling, SearchConfig
from heedful.decoding.pytorch_engine import PyTorchEngine
from heedful.errors import ConfigError, ForkError, ModelFolderError
from heedful.interop.ctranslate2 import export_ctranslate2
from heedful.model.config import ModelConfig
from heedful.model.transformer import Transformer
from heedful.specials import EOS
from heedful.storage import documents
from heedful.storage.checkpoint import load_model, save_model
from heedful.storage.folder import ModelFolder


@pytest.fixture
def copied(model_folder, tmp_path) -> ModelFolder:
    return ModelFolder(shutil.copytree(model_folder.path, tmp_path / "copy"))


def test_training_leaves_a_model_for_the_fast_engine(model_folder):
    assert isinstance(heedful.load(model_folder.path).engine, CTranslate2Engine)
    assert isinstance(heedful.load(model_folder.path, engine="pytorch").engine, PyTorchEngine)


@pytest.fixture
def endless(copied) -> ModelFolder:
    """A model that likes half of all pieces better than to end."""
    model = load_model(copied)
    with torch.no_grad():
        model.embedding.weight[EOS] = 0
    save_model(copied, model)
    export_ctranslate2(copied)
    return copied


def test_output_that_does_not_end_is_fifty_pieces_longer_than_its_input_or_beginning(endless):
    sources, prefixes = [[5, 9, 260], [7], [8, 8]], [[], [], [9] * 9]

    for engine in (CTranslate2Engine(endless, exact=True), PyTorchEngine.load(endless)):
        found = engine.search(sources, SearchConfig(beam_size=1), prefixes=prefixes)
        assert [len(best.pieces) for best, *_ in found] == [53, 51, 59]


def test_no_output_is_one_that_may_be_found(model_folder):
    """A wide beam finds it, and nothing that is longer is as likely."""
    sources, config = [[5 + n] for n in range(6)], SearchConfig(beam_size=160, alpha=0.0)

    ours = PyTorchEngine.load(model_folder).search(sources, config)
    theirs = CTranslate2Engine(model_folder, exact=True).search(sources, config)

    assert () in [best.pieces for best, *_ in ours]
    assert [best.pieces for best, *_ in theirs] == [best.pieces for best, *_ in ours]


def test_more_pieces_to_draw_from_than_there_are_are_all(model_folder):
    engine = CTranslate2Engine(model_folder)
    config, seed = SearchConfig(beam_size=1), 3

    everything, more = (
        engine.search([[5, 6]], config, sampling=Sampling(top_k=top_k, seed=seed))
        for top_k in (len(engine.next_pieces([5], [])), 1_000_000)
    )

    assert everything == more


@pytest.mark.parametrize("beam_size", [1, 4])
def test_a_trained_model_says_the_same_by_both_engines(model_folder, beam_size):
    sources = [[5, 9, 260 + i % 9] * (1 + i % 5) for i in range(40)]
    config = SearchConfig(beam_size=beam_size, n_best=beam_size)

    ours = PyTorchEngine.load(model_folder).search(sources, config)
    theirs = CTranslate2Engine(model_folder, exact=True).search(sources, config)

    assert [[h.pieces for h in found] for found in ours] == [
        [h.pieces for h in found] for found in theirs
    ]


class Loaded(ctranslate2.Translator):
    """Notes how it was loaded."""

    def __init__(self, folder, **options):
        type(self).options = options
        super().__init__(folder, **options)


@pytest.mark.parametrize(
    ("exact", "supported", "compute_type"),
    [
        (False, {"int8", "int8_float32", "float32"}, "int8"),
        (False, {"float32"}, "float32"),
        (True, {"int8", "int8_float32", "float32"}, "float32"),
    ],
)
def test_each_core_has_a_batch_rounded_if_it_can_and_may_be(
    model_folder, monkeypatch, exact, supported, compute_type
):
    monkeypatch.setattr("ctranslate2.Translator", Loaded)
    monkeypatch.setattr("ctranslate2.get_supported_compute_types", lambda device: supported)
    monkeypatch.setattr("os.sched_getaffinity", lambda process: {0, 2, 5}, raising=False)

    CTranslate2Engine(model_folder, exact=exact)

    assert Loaded.options == {
        "compute_type": compute_type,
        "inter_threads": 3,
        "intra_threads": 1,
    }


def test_a_model_that_is_loaded_leaves_torch_its_threads(model_folder):
    torch.set_num_threads(2)

    CTranslate2Engine(model_folder)

    assert torch.get_num_threads() == 2


class Recorder(ctranslate2.Translator):
    """Notes what it is asked."""

    def __init__(self, folder, **options):
        self.asked = []
        super().__init__(folder, **options)

    def translate_batch(self, sources, **options):
        self.asked.append((sources, options["use_vmap"]))
        return super().translate_batch(sources, **options)


@pytest.fixture
def recorded(model_folder, monkeypatch) -> Callable[..., tuple[CTranslate2Engine, Recorder]]:
    def load(**options) -> tuple[CTranslate2Engine, Recorder]:
        recorders = []

        def record(folder, **options):
            recorders.append(Recorder(folder, **options))
            return recorders[-1]

        with monkeypatch.context() as patch:
            patch.setattr("ctranslate2.Translator", record)
            engine = CTranslate2Engine(model_folder, **options)
        (recorder,) = recorders
        return engine, recorder

    return load


def test_equal_sources_are_searched_once_and_each_gets_its_answer(recorded):
    engine, recorder = recorded()

    found = engine.search([[5, 9], [6], [5, 9]], SearchConfig(beam_size=1))

    assert [len(sources) for sources, _ in recorder.asked] == [1, 1]
    assert found[0] == found[2]
    for source, (best,) in zip([[5, 9], [6]], found, strict=False):
        ((alone,),) = engine.search([source], SearchConfig(beam_size=1))
        assert best.pieces == alone.pieces
        assert best.log_probability == pytest.approx(alone.log_probability)


def test_a_shortlist_is_for_many_sources_at_once_and_only_if_asked_for(recorded):
    many = [[5 + i % 7, 20 + i] for i in range(130)]

    for fast, sources, takes_it in [
        (True, many, True),
        (True, many[:5], False),
        (False, many, False),
    ]:
        engine, recorder = recorded(fast=fast)
        engine.search(sources, SearchConfig(beam_size=1))
        ((asked, with_shortlist),) = recorder.asked
        assert (len(asked), with_shortlist) == (len(sources), takes_it)


def test_only_sources_and_prefixes_of_one_length_share_a_batch(recorded):
    engine, recorder = recorded()
    sources = [[5 + i % 7, 20 + i % 9][: 1 + i % 2] * (1 + i % 3) for i in range(40)]
    prefixes = [[7] * (i % 4 == 3) for i in range(40)]

    engine.search(sources, SearchConfig(beam_size=1), prefixes=prefixes)

    for asked, _ in recorder.asked:
        assert len(set(map(len, asked))) == 1
    assert len(recorder.asked) == len({*zip(map(len, sources), map(len, prefixes), strict=True)})


@pytest.mark.parametrize("beam_size", [1, 3])
@pytest.mark.parametrize("num_cores", [1, 3])
def test_neither_company_nor_the_number_of_cores_shows(
    model_folder, monkeypatch, beam_size, num_cores
):
    engine = CTranslate2Engine(model_folder)
    monkeypatch.setattr("os.sched_getaffinity", lambda process: range(num_cores), raising=False)
    other = CTranslate2Engine(model_folder)
    sources = [[5 + i % 7, 20 + i, 260 + i % 9] * (1 + i % 5) for i in range(60)]
    config = SearchConfig(beam_size=beam_size, n_best=beam_size)

    together = other.search(sources, config)

    for source, found in zip(sources, together, strict=True):
        (alone,) = engine.search([source], config)
        assert [h.pieces for h in alone] == [h.pieces for h in found]
        assert [h.log_probability for h in alone] == pytest.approx(
            [h.log_probability for h in found], abs=1e-6
        )


def test_what_was_found_is_read_the_same_alone_and_together(model_folder):
    engine = CTranslate2Engine(model_folder)
    sources = [[5 + i % 7, 20 + i] * (1 + i % 3) for i in range(20)]
    targets = [[30 + i] * (i % 4) for i in range(20)]

    together = engine.read(sources, targets)

    for source, target, reading in zip(sources, targets, together, strict=True):
        (alone,) = engine.read([source], [target])
        assert alone.log_probabilities == pytest.approx(reading.log_probabilities, abs=1e-6)
        assert alone.attention == reading.attention


def test_a_pair_is_looked_at_the_same_alone_and_together(model_folder):
    engine = CTranslate2Engine(model_folder)
    sources = [[5 + i % 7, 20 + i, 260 + i % 9] for i in range(40)]
    targets = [[30 + i % 11, 270 + i % 5] for i in range(40)]

    together = list(engine.look(sources, targets))

    assert len(set(together)) > 30  # else it would not show whose attention one gets
    for source, target, look in zip(sources, targets, together, strict=True):
        assert list(engine.look([source], [target])) == [look]


def test_no_more_attention_is_held_than_fits_a_bound(model_folder, monkeypatch):
    monkeypatch.setattr("heedful.decoding.ctranslate2_engine.MOST_WEIGHTS", 1_000)
    held = []

    class Counting(ctranslate2.Translator):
        def translate_batch(self, sources, target_prefix, **options):
            pairs = zip(sources, target_prefix, strict=True)
            held[-1] += sum((len(s) + 1) * (len(t) + 1) for s, t in pairs)
            return super().translate_batch(sources, target_prefix=target_prefix, **options)

    monkeypatch.setattr("ctranslate2.Translator", Counting)
    engine = CTranslate2Engine(model_folder)
    sources, targets = [[5] * (1 + i % 20) for i in range(60)], [[9] * (i % 30) for i in range(60)]

    looks = engine.look(sources, targets)
    held.append(0)
    for _ in range(60):
        next(looks)
        held.append(0)

    assert max(held) <= 1_000
    sizes = [(len(s) + 1) * (len(t) + 1) for s, t in zip(sources, targets, strict=True)]
    assert sum(held) == sum(sizes)


def test_a_model_with_learned_positions_is_looked_at_up_to_its_last(tmp_path, model_folder):
    config = ModelConfig(
        vocab_size=model_folder.config().vocab_size,
        num_layers=1, d_model=8, d_ff=8, num_heads=2, positions="learned", max_length=12,
    )  # fmt: skip
    folder = ModelFolder(shutil.copytree(model_folder.path, tmp_path / "learned"))
    folder.alignment_file.unlink()
    model = Transformer(config)
    save_model(folder, model)
    export_ctranslate2(folder)

    for engine in (PyTorchEngine(model), CTranslate2Engine(folder, exact=True)):
        ((best,),) = engine.search([[5, 6, 7]], SearchConfig(beam_size=1))
        for target in (best.pieces, [9] * 12):
            (look,) = engine.look([[5, 6, 7]], [target])
            assert len(look) == len(target)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.parametrize("ask", ["search", "read", "look", "next_pieces"])
def test_a_fork_is_told_that_the_model_stayed_behind(model_folder, monkeypatch, ask):
    engine = CTranslate2Engine(model_folder)
    asked = {
        "search": lambda: engine.search([[5]], SearchConfig()),
        "read": lambda: list(engine.read([[5]], [[6]])),
        "look": lambda: list(engine.look([[5]], [[6]])),
        "next_pieces": lambda: engine.next_pieces([5], []),
    }
    asked[ask]()
    # As a fork sees it; to fork for real would take the test run along.
    parent = os.getpid()
    monkeypatch.setattr("os.getpid", lambda: parent + 1)

    with pytest.raises(ForkError, match=r"used in its fork .* call heedful\.load in the fork"):
        asked[ask]()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_fork_ends_with_the_error_and_does_not_hang(model_folder):
    program = f"""
import os, heedful
translator = heedful.load({str(model_folder.path)!r})
translator.translate("a b")
child = os.fork()
if not child:
    try:
        translator.translate("a b")
    except heedful.HeedfulError as error:
        os._exit(error.exit_code)
    os._exit(0)
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, timeout=60)

    assert done.stdout.decode().strip() == "2"


def test_the_exact_engine_finds_what_pytorch_finds(model_folder):
    texts = [f"{a} {b} {c}" for a in "abcdef" for b in "abcdef" for c in "abcd"]

    exact, own = (heedful.load(model_folder.path, engine) for engine in ("exact", "pytorch"))

    assert [t.text for t in exact.translate(texts)] == [t.text for t in own.translate(texts)]


def test_what_a_folder_says_of_its_model_is_read_once(model_folder, monkeypatch):
    read, read_document = [], documents.read_document

    def note(path):
        read.append(path.relative_to(model_folder.path).with_suffix("").as_posix())
        return read_document(path)

    monkeypatch.setattr(documents, "read_document", note)

    heedful.load(model_folder.path)

    names = ("alignment", "checksums", "config", "ctranslate2/config", "habits", "provenance")
    assert tuple(sorted(read)) == names


def test_a_folder_without_a_shortlist_says_where_one_comes_from(copied):
    copied.shortlist_file.unlink()

    with pytest.raises(ModelFolderError, match=r"has no shortlist, which training leaves"):
        heedful.load(copied.path, fast=True)


@pytest.mark.parametrize("engine", ["exact", "pytorch"])
def test_fast_goes_with_no_other_engine(model_folder, engine):
    with pytest.raises(ConfigError, match=rf"fast is for the engine 'ctranslate2', got '{engine}'"):
        heedful.load(model_folder.path, engine, fast=True)


@pytest.mark.slow
def test_the_fast_engine_needs_no_torch(model_folder):
    code = (
        "import sys; sys.modules['torch'] = None; import heedful; "
        f"print(heedful.load({str(model_folder.path)!r}).translate('a b c').score)"
    )

    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)

    assert done.returncode == 0, done.stderr
    assert float(done.stdout) < 0


def test_a_folder_that_was_not_exported_translates_with_pytorch_and_says_how_to_export(copied):
    shutil.rmtree(copied.ctranslate2)

    assert isinstance(heedful.load(copied.path).engine, PyTorchEngine)
    with pytest.raises(ModelFolderError, match=r"has no ctranslate2 folder; .* heedful export"):
        heedful.load(copied.path, engine="ctranslate2")
    with pytest.raises(ModelFolderError, match=r"has no ctranslate2 folder; .* heedful export"):
        heedful.load(copied.path, fast=True)


@pytest.mark.parametrize("part", ["model.bin", "shared_vocabulary.json"])
def test_a_damaged_export_is_named(copied, part):
    copied.checksums_file.unlink()
    (copied.ctranslate2 / part).write_bytes(b"not a model")

    with pytest.raises(ModelFolderError, match=r"ctranslate2: damaged, .*heedful export"):
        heedful.load(copied.path)


def test_an_unknown_engine_is_refused(model_folder):
    with pytest.raises(ConfigError, match=r"one of 'ctranslate2', 'exact', 'pytorch', got 'onnx'"):
        heedful.load(model_folder.path, engine="onnx")
