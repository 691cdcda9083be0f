import json

import pytest
import torch

from heedful.decoding import layout
from heedful.decoding.layout import Layout, best_layout, known_layout


@pytest.fixture
def memory(tmp_path, monkeypatch):
    """A cache folder of its own."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return tmp_path / "heedful"


def test_the_fastest_layout_is_measured_once_and_remembered(model_folder, memory, monkeypatch):
    best = best_layout(model_folder)

    monkeypatch.setattr(layout, "_measured", lambda *_: pytest.fail("it measured again"))
    assert best_layout(model_folder) == known_layout(model_folder) == best


def test_who_has_no_home_translates_all_the_same(model_folder, monkeypatch):
    def fail():
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setattr(layout.Path, "home", fail)

    assert best_layout(model_folder).compute_type == "int8"
    assert known_layout(model_folder).compute_type == "int8"


@pytest.mark.parametrize("threads", [1, 3])
def test_a_model_that_is_loaded_leaves_torch_its_threads(model_folder, threads):
    torch.set_num_threads(2)

    Layout(compute_type="float32", workers=1, threads=threads).translator(model_folder)

    assert torch.get_num_threads() == 2


def test_unmeasured_it_starts_at_once_with_a_thread_for_each_batch(
    model_folder, memory, monkeypatch
):
    monkeypatch.setattr(layout, "_num_cores", lambda: 4)
    monkeypatch.setattr(layout, "_measured", lambda *_: pytest.fail("it measured"))

    assert known_layout(model_folder) == Layout(compute_type="int8", workers=4, threads=1)
    assert not memory.exists()


@pytest.mark.parametrize(
    ("usual", "other", "best"),
    [(1.0, 0.8, "usual"), (1.0, 0.6, "other"), (0.6, 1.0, "usual")],
)
def test_the_usual_layout_is_left_for_a_clearly_faster_one(
    model_folder, monkeypatch, usual, other, best
):
    candidates = dict(zip(("usual", "other", "trap"), three_layouts(), strict=True))
    timed = Timed(dict(zip(candidates.values(), (usual, other, 20.0), strict=True)))
    monkeypatch.setattr(layout, "_seconds", timed)

    assert layout._measured(model_folder, list(candidates.values())) == candidates[best]
    assert [num for which, num in timed.asked if which == candidates["trap"]] == [2, 8]
    assert max(num for which, num in timed.asked if which == candidates["other"]) == 256


def test_a_moment_of_noise_does_not_decide_for_good(model_folder, monkeypatch):
    usual, other, _ = layouts = three_layouts()
    timed = Timed(dict(zip(layouts, (1.0, 1.1, 1.1), strict=True)), hiccup=(usual, 8))
    monkeypatch.setattr(layout, "_seconds", timed)

    assert layout._measured(model_folder, layouts) == usual


def three_layouts():
    return [Layout(compute_type="int8", workers=workers, threads=1) for workers in (3, 2, 1)]


class Timed:
    """Tells of each layout how long it takes, and ten times as long the first time and once more.

    That is no measure of what comes after.
    """

    def __init__(self, seconds, hiccup=None):
        self.seconds, self.hiccup, self.asked = seconds, hiccup, []

    def __call__(self, translator, which, sources):
        asked = which, len(sources)
        is_slow = which not in dict(self.asked) or asked == self.hiccup
        self.asked.append(asked)
        return self.seconds[which] * (10 if is_slow else 1)


def test_on_one_core_there_is_nothing_to_measure(model_folder, memory, monkeypatch):
    monkeypatch.setattr(layout, "_num_cores", lambda: 1)
    monkeypatch.setattr(layout, "_measured", lambda *_: pytest.fail("it measured"))

    assert best_layout(model_folder) == Layout(compute_type="int8", workers=1, threads=1)


def test_another_number_of_cores_is_measured_anew(model_folder, memory, monkeypatch):
    best_layout(model_folder)

    monkeypatch.setattr(layout, "_num_cores", lambda: 64)
    assert layout._remembered(model_folder) is None


@pytest.mark.parametrize(
    "content",
    [
        *("", "{", "[]", json.dumps({"compute_type": "int8", "gpus": 1})),
        json.dumps({"compute_type": "float32", "workers": 1, "threads": 1}),
    ],
)
def test_a_memory_that_is_of_no_use_is_measured_again(model_folder, memory, monkeypatch, content):
    monkeypatch.setattr(layout, "_num_cores", lambda: 7)
    memory.mkdir()
    layout._memory(model_folder).write_text(content)
    measured = Layout(compute_type="int8", workers=1, threads=7)
    monkeypatch.setattr(layout, "_measured", lambda *_: measured)

    assert best_layout(model_folder) == measured
    assert known_layout(model_folder) == measured


def test_a_cache_folder_that_cannot_be_written_only_costs_time(model_folder, tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))

    assert isinstance(best_layout(model_folder), Layout)
