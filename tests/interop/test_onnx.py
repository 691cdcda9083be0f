import re
import shlex
import shutil
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import pytest
import torch
from jaxtyping import config as shape_checks
from torch import Tensor

import heedful
from heedful.__main__ import main
from heedful.decoding.hypothesis import Hypothesis, SearchConfig, length_limit
from heedful.decoding.pytorch_engine import PyTorchEngine
from heedful.decoding.search import beam_search, greedy_search
from heedful.errors import MissingExtraError
from heedful.interop.onnx import export_onnx
from heedful.model.batch import pad
from heedful.model.config import ModelConfig
from heedful.model.transformer import Transformer
from heedful.specials import EOS
from heedful.storage.checkpoint import save_model
from heedful.storage.folder import ModelFolder

SOURCES = [[7], [5, 6, 7, 8, 9, 10, 11, 4], [12, 4, 9]]
GREEDY, BEAM = SearchConfig(beam_size=1), SearchConfig(beam_size=4, n_best=4)


@pytest.fixture(autouse=True)
def _symbolic_sizes():
    """While a graph is traced, a size is a symbol, which the checks would take for a mistake."""
    shape_checks.update("jaxtyping_disable", True)
    yield
    shape_checks.update("jaxtyping_disable", False)


def save(path, **changes) -> tuple[ModelFolder, Transformer]:
    sizes = {"num_layers": 2, "d_model": 16, "d_ff": 32, "num_heads": 2, "d_k": 6, "d_v": 10}
    model = Transformer(ModelConfig(vocab_size=20, **(sizes | changes))).eval()
    for parameter in model.parameters():  # larger than at the start, so that pieces differ clearly
        torch.nn.init.normal_(parameter, std=0.5)
    folder = ModelFolder(path)
    save_model(folder, model)
    return folder, model


@dataclass(frozen=True)
class OnnxState:
    arrays: dict[str, np.ndarray]

    def select(self, rows: Tensor) -> "OnnxState":
        return OnnxState({name: array[rows.numpy()] for name, array in self.arrays.items()})


class OnnxModel:
    def __init__(self, path) -> None:
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        self.encoder = onnxruntime.InferenceSession(path / "encoder.onnx", options)
        self.decoder_step = onnxruntime.InferenceSession(path / "decoder_step.onnx", options)

    def encode(self, source: Tensor) -> OnnxState:
        names = [output.name for output in self.encoder.get_outputs()]
        arrays = self.encoder.run(None, {"source": source.numpy()})
        return OnnxState(dict(zip(names, arrays, strict=True)))

    def step(self, last: Tensor, state: OnnxState) -> tuple[Tensor, OnnxState]:
        inputs = {"last": last[:, None].numpy()} | state.arrays
        log_probabilities, *grown = self.decoder_step.run(None, inputs)
        past = [name for name in state.arrays if name.startswith("past")]
        arrays = state.arrays | dict(zip(past, grown, strict=True))
        return torch.from_numpy(log_probabilities), OnnxState(arrays)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("normalisation", "positions"),
    [("post", "interleaved"), ("pre", "halves"), ("pre", "learned")],
)
def test_onnxruntime_finds_what_pytorch_finds(tmp_path, normalisation, positions):
    folder, model = save(tmp_path, normalisation=normalisation, positions=positions)
    source = pad([[*source, EOS] for source in SOURCES])
    limits = [length_limit(len(source)) for source in SOURCES]

    exported = OnnxModel(export_onnx(folder))
    greedy = greedy_search(exported.step, exported.encode(source), limits)
    beams = beam_search(exported.step, exported.encode(source), limits, BEAM)

    assert_same([[best] for best in greedy], PyTorchEngine(model).search(SOURCES, GREEDY))
    assert_same(beams, PyTorchEngine(model).search(SOURCES, BEAM))
    assert len({best.log_probability for best in greedy}) == 3  # they depend on the source


def assert_same(theirs: list[list[Hypothesis]], ours: list[list[Hypothesis]]) -> None:
    for one, other in zip(theirs, ours, strict=True):
        assert [h.pieces for h in one] == [h.pieces for h in other]
        assert [h.log_probability for h in one] == pytest.approx(
            [h.log_probability for h in other], abs=1e-3
        )


@pytest.mark.slow
def test_sinusoids_have_no_end_in_the_graph_either(tmp_path):
    folder, model = save(tmp_path, max_length=4)
    source = torch.full((1, 600), 9)  # more than the model's table holds at first

    exported = OnnxModel(export_onnx(folder)).encode(source)

    with torch.no_grad():
        ours = model.encode(source).source[-1].key
    torch.testing.assert_close(
        torch.from_numpy(exported.arrays["source_key_1"]), ours, atol=1e-3, rtol=1e-3
    )


@pytest.mark.slow
def test_the_runtime_refuses_what_is_past_the_learned_positions(tmp_path):
    folder, _ = save(tmp_path, positions="learned", max_length=4)
    exported = OnnxModel(export_onnx(folder))

    exported.encode(torch.full((1, 4), 9))
    with pytest.raises(Exception, match=r"invalid index found|out of data bounds"):
        exported.encode(torch.full((1, 5), 9))


@pytest.mark.slow
def test_the_graphs_are_valid_and_tell_nothing_of_this_machine(tmp_path):
    folder, _ = save(tmp_path)

    path = export_onnx(folder)

    names = {"decoder_step.onnx", "encoder.onnx", "heedful.txt"}
    assert {file.name for file in path.iterdir()} == names
    for file in path.glob("*.onnx"):
        onnx.checker.check_model(file, full_check=True)
        assert b".py" not in file.read_bytes()  # no stack trace, and so no path


def test_graphs_are_traced_before_anything_is_written(tmp_path, monkeypatch):
    folder, _ = save(tmp_path)
    lying_there = []
    trace = torch.onnx.export

    def traced(*arguments, **options):
        lying_there.extend(folder.path.glob("onnx*"))
        return trace(*arguments, **options)

    monkeypatch.setattr("torch.onnx.export", traced)

    assert export_onnx(folder).is_dir()
    assert not lying_there


def test_without_its_extra_it_says_what_to_install(tmp_path, monkeypatch):
    monkeypatch.setattr("heedful.interop.onnx.find_spec", lambda name: None)

    with pytest.raises(
        MissingExtraError, match=r"needs onnx; install it: pip install 'heedful\[train,onnx\]', or"
    ):
        export_onnx(ModelFolder(tmp_path))


@pytest.mark.slow
def test_the_page_on_onnx_gives_the_translation_of_our_own_search(
    model_folder, tmp_path, monkeypatch, capsys
):
    page = (Path(__file__).parents[2] / "docs" / "onnx.md").read_text()
    command, program = re.findall(r"^```\w+\n(.*?)^```$", page, flags=re.DOTALL | re.MULTILINE)
    shutil.copytree(model_folder.path, tmp_path / "model")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.argv", shlex.split(command))

    main()
    exec(program, {})

    translator = heedful.load("model", "pytorch")
    (ours,) = translator.translate_as_found(["Good morning!"], beam_size=1)
    assert capsys.readouterr().out == f"Written: model/onnx\n{ours}\n"
