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


def test_the_fastest_wins_and_who_is_far_behind_is_not_asked_again(model_folder, monkeypatch):
    fast, slow, trap = candidates = [
        Layout(compute_type="int8", workers=workers, threads=1) for workers in (1, 2, 3)
    ]
    seconds = {fast: 1.0, slow: 1.5, trap: 20.0}
    asked = []

    def timed(translator, which, sources):
        is_first = which not in dict(asked)
        asked.append((which, len(sources)))
        return seconds[which] + 9 * is_first  # which is no measure of what comes after

    monkeypatch.setattr(layout, "_seconds", timed)

    assert layout._measured(model_folder, candidates) == fast
    assert [num for which, num in asked if which == trap] == [2, 8]
    assert max(num for which, num in asked if which == slow) == 256


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
