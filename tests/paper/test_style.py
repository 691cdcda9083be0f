"""How pictures look."""

import builtins
import sys

import pytest

from heedful.errors import MissingExtraError
from heedful.paper import schedule
from heedful.paper.request import Request, write_pictures


@pytest.fixture
def result():
    (result,) = schedule.run(Request(name="schedule"))
    return result


def test_a_picture_is_written_as_svg_and_png_and_the_same_each_time(result, tmp_path):
    first = {path.name: path.read_bytes() for path in write_pictures(result, tmp_path)}
    second = {path.name: path.read_bytes() for path in write_pictures(result, tmp_path)}

    assert first.keys() == {"schedule.svg", "schedule.png"}
    assert first == second
    assert b"warm-up 4,000" in first["schedule.svg"]  # text stays text
    assert first["schedule.png"].startswith(b"\x89PNG")


def test_without_matplotlib_one_is_told_what_to_install(result, tmp_path, monkeypatch):
    original = builtins.__import__

    def without(name, *rest):
        if name.startswith("matplotlib"):
            raise ImportError(name)
        return original(name, *rest)

    monkeypatch.delitem(sys.modules, "heedful.paper.style", raising=False)
    monkeypatch.setattr(builtins, "__import__", without)

    with pytest.raises(MissingExtraError, match=r"a picture needs matplotlib; .*heedful\[paper\]"):
        write_pictures(result, tmp_path)
