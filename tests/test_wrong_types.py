"""What is of another type than it should be is refused in a line, whatever one calls.

All in one fresh process, as this one checks every type before our own code can.
"""

import json
import subprocess
import sys

import pytest

import heedful

CALLS = [
    "heedful.load(None)",
    'heedful.load("m", 5)',
    'heedful.load("m", fast="yes")',
    "t.translate(None)",
    "t.translate(5)",
    't.translate(b"a")',
    't.translate(["a", None])',
    't.translate("a", {"beam_size": 2})',
    't.translate("a", beam_size="4")',
    't.translate("a", beam_size=2.5)',
    't.translate("a", beam_size=True)',
    't.translate("a", alpha="0.6")',
    't.translate("a", n_best=None)',
    't.translate("a", glossary=["dog"])',
    't.translate("a", glossary={"dog": 5})',
    't.translate("a", prefix=b"a")',
    't.translate("a", sampling=0.8)',
    't.translate("a", details="yes")',
    'list(t.translate_lines("a b"))',
    "list(t.translate_lines(5))",
    "list(t.translate_lines([5]))",
    't.alternatives("a", 0)',
    't.alternatives(t.translate("a"), "0")',
    't.alternatives(t.translate("a"), 0, count="5")',
    't.with_details(["a"])',
    'heedful.Sampling(temperature="1")',
    "heedful.Sampling(top_k=1.5)",
    "heedful.Sampling(top_p=None)",
    'heedful.Sampling(seed="a")',
    'heedful.evaluate("ab", "ab")',
    'heedful.evaluate([1], ["a"])',
    'heedful.evaluate(["a"], None)',
    'heedful.evaluate(["a"], ["a"], tokenize=5)',
    "heedful.load_recipe(None)",
    "heedful.load_recipe(source=5)",
    'heedful.load_recipe(sauce="a.en")',
    'heedful.load_recipe(source="a.en").within("5")',
    'next(heedful.train_model("default", Path("m")))',
    'next(heedful.train_model(heedful.load_recipe(source="a.en"), None))',
]
PROGRAM = """
import json, sys
from pathlib import Path
import heedful

folder, *calls = json.load(sys.stdin)
t = heedful.load(folder)
for call in calls:
    try:
        eval(call)
        print(f"{call} was not refused")
    except heedful.HeedfulError as error:
        assert "\\n" not in str(error), error
        print(error)
    except Exception as error:
        print(f"{call} ended with {error!r}")
"""


@pytest.mark.slow
def test_a_wrong_type_is_refused_in_a_line(model_folder, tmp_path):
    told = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        input=json.dumps([str(model_folder.path), *CALLS]),
        capture_output=True,
        text=True,
        check=True,
        cwd=tmp_path,
    ).stdout.splitlines()

    odd = [line for line in told if "was not refused" in line or "ended with" in line]
    assert odd == []
    assert len(told) == len(CALLS)
    assert told[CALLS.index('t.translate("a", beam_size="4")')] == (
        "beam_size must be int or None, got '4'"
    )
    assert list(tmp_path.iterdir()) == []


def test_folders_and_files_may_be_paths_or_text(model_folder, tmp_path):
    assert heedful.load(str(model_folder.path)).translate("a") == heedful.load(
        model_folder.path
    ).translate("a")
    assert heedful.load_recipe(source=tmp_path / "a.en") == heedful.load_recipe(
        source=str(tmp_path / "a.en")
    )
