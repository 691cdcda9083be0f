"""The order in which modules may know of one another, and what they may not import."""

import ast
import re
import subprocess
import sys
from dataclasses import fields
from graphlib import TopologicalSorter
from pathlib import Path
from typing import get_args

import pytest

import heedful
import heedful.errors
from heedful.training.config import TrainingConfig

PACKAGE = Path(heedful.__file__).parent

# A module may import those of earlier rows, and within its own package.
ORDER = [
    {"errors", "specials"},
    {"text", "model", "machine"},
    {"documents"},
    {"storage"},
    {"data", "decoding", "training"},
    {"translation"},
    {"evaluation", "explain", "interop"},
    {"runs"},
    {"paper"},
    {"server"},
    {"cli"},
    {"__main__"},
]
# And within `runs`, a line.
RUNS = [
    {"recipe", "budget"},
    {"validate", "session", "parent"},
    {"events"},
    {"plan"},
    {"state", "begin", "curves", "finish", "diversify", "pack"},
    {"recover"},
    {"run"},
    {"teachers"},
    {"train"},
    {"doctor"},
]
# What the order would allow, but what a room is not about.
STRANGERS = {"training": {"text", "storage"}, "decoding": {"text"}}

RANK = {name: rank for rank, names in enumerate(ORDER) for name in names}
RANK_IN_RUNS = {name: rank for rank, names in enumerate(RUNS) for name in names}
MODULES = {
    ".".join(path.relative_to(PACKAGE).with_suffix("").parts): path
    for path in sorted(PACKAGE.rglob("*.py"))
    if path.name != "__init__.py"
}


def imports(path: Path) -> set[str]:
    tree = ast.parse(path.read_text())
    froms = {n.module or "" for n in ast.walk(tree) if isinstance(n, ast.ImportFrom)}
    plain = {a.name for n in ast.walk(tree) if isinstance(n, ast.Import) for a in n.names}
    return {name.removeprefix("heedful.") for name in froms | plain if name.startswith("heedful.")}


@pytest.mark.parametrize("name", MODULES)
def test_a_module_imports_only_what_comes_before_it(name):
    package = name.split(".")[0]
    for imported in imports(MODULES[name]):
        other = imported.split(".")[0]
        assert other == package or RANK[other] < RANK[package], f"{name} may not import {imported}"


@pytest.mark.parametrize("name", [name for name in MODULES if name.startswith("runs.")])
def test_a_module_of_a_run_imports_only_what_comes_before_it(name):
    own = RANK_IN_RUNS[name.removeprefix("runs.")]
    for imported in imports(MODULES[name]):
        if imported.startswith("runs."):
            assert RANK_IN_RUNS[imported.removeprefix("runs.")] < own, f"{name}: {imported}"


def test_no_two_modules_need_each_other():
    graph = {name: imports(path) & MODULES.keys() for name, path in MODULES.items()}

    assert list(TopologicalSorter(graph).static_order())  # raises CycleError


@pytest.mark.parametrize("room", STRANGERS)
def test_a_room_knows_nothing_of_what_it_is_not_about(room):
    known = {
        imported.split(".")[0]
        for name, path in MODULES.items()
        if name.startswith(f"{room}.")
        for imported in imports(path)
    }

    assert known
    assert not known & STRANGERS[room]


def test_no_file_goes_without_a_place_in_the_order():
    assert {name.split(".")[0] for name in MODULES} == set(RANK)


def test_no_relative_imports():
    for name, path in MODULES.items():
        nodes = ast.walk(ast.parse(path.read_text()))
        assert not [n for n in nodes if isinstance(n, ast.ImportFrom) and n.level], name


TESTS = Path(__file__).parent
# The tests that hold a module which has no test file of its name.
HELD_BY = {
    "cli.info": "cli/test_app.py",
    "cli.terminal": "cli/test_display.py",
    "data.bridges": "data/test_several.py",
    "data.files": "data/test_prepare.py",
    "data.parent": "runs/test_parent.py",
    "data.split": "data/test_prepare.py",
    "data.tsv": "data/test_several.py",
    "decoding.engine": "decoding/test_ctranslate2_engine.py",
    "explain.page_weights": "explain/browser/test_same_model.py",
    "explain.source_map": "explain/test_record.py",
    "machine.memory": "runs/test_run.py",
    "model.sequence_to_sequence": "paper/baselines/test_recurrent.py",
    "runs.events": "runs/test_run.py",
    "runs.finish": "runs/test_run.py",
    "runs.recover": "runs/test_survival.py",
    "runs.session": "runs/test_survival.py",
    "runs.train": "runs/test_teachers.py",
    "server.metrics": "server/test_keys.py",
    "server.operation": "server/test_app.py",
    "server.order": "server/test_libretranslate.py",
    "server.place": "server/test_run.py",
    "server.refusal": "server/test_reading.py",
    "server.service": "server/test_own.py",
    "specials": "text/test_tokenizer.py",
    "storage.alignment_head": "explain/test_alignment.py",
    "storage.habits": "translation/test_guard.py",
    "storage.languages": "translation/test_routes.py",
    "storage.partial_file": "cli/test_translate.py",
    "storage.provenance": "storage/test_card.py",
    "training.config": "training/test_trainer.py",
    "translation.draft": "translation/test_any_input.py",
    "translation.files": "cli/test_translate.py",
    "translation.restore": "translation/test_any_input.py",
    "translation.sentence": "translation/test_any_input.py",
}


def test_a_module_has_a_test_file_of_its_name_or_one_that_holds_it():
    without = {name for name in MODULES if not _tests_of(name).exists()}

    assert without == HELD_BY.keys(), "write the test file, or name in HELD_BY what holds it"
    assert not [path for path in HELD_BY.values() if not (TESTS / path).exists()]


def _tests_of(name: str) -> Path:
    *room, module = name.split(".")
    return TESTS.joinpath(*room, f"test_{module.strip('_')}.py")


def private_names(tree: ast.Module) -> set[str]:
    """Find what a test takes from behind a name that is private, or puts there."""
    nodes = list(ast.walk(tree))
    own = ("self", "cls", "os")  # os._exit
    attributes = {
        node.attr
        for node in nodes
        if isinstance(node, ast.Attribute)
        and not (isinstance(node.value, ast.Name) and node.value.id in own)
    }
    texts = {n.value for n in nodes if isinstance(n, ast.Constant) and isinstance(n.value, str)}
    froms = [n for n in nodes if isinstance(n, ast.ImportFrom) and "heedful" in (n.module or "")]
    imported = {alias.name for node in froms for alias in node.names}
    patched = {text for text in texts if re.fullmatch(r"heedful\.[\w.]+\._[a-zA-Z]\w*", text)}
    is_private = re.compile(r"_(?!asdict|replace)[a-zA-Z]").match  # but for those of named tuples
    return patched | set(filter(is_private, attributes | imported | _set_by_name(nodes)))


def _set_by_name(nodes: list[ast.AST]) -> set[str]:
    """Find the names in `monkeypatch.setattr(thing, "name", value)`."""
    calls = [node for node in nodes if isinstance(node, ast.Call) and len(node.args) == 3]
    return {
        call.args[1].value
        for call in calls
        if isinstance(call.func, ast.Attribute)
        and call.func.attr == "setattr"
        and isinstance(call.args[1], ast.Constant)
    }


# It counts the steps of every pattern there is, wherever that is kept.
COUNTS_STEPS = TESTS / "text" / "test_linear.py"


def test_tests_know_no_private_names():
    assert private_names(ast.parse(COUNTS_STEPS.read_text()))  # so the test can fail
    for path in sorted({*TESTS.rglob("*.py")} - {COUNTS_STEPS}):
        assert not private_names(ast.parse(path.read_text())), path


TORCH_FREE = [
    "import heedful.cli.app",
    "import heedful; heedful.load; heedful.Translation; heedful.evaluate; heedful.HeedfulError",
    "import heedful; heedful.load_recipe('paper', source='a.en')",
    "import heedful.storage.folder, heedful.model.config, heedful.runs.pack, heedful.cli.info",
    "from heedful import *; Options(), Candidate('a', 0.0), Validation, TrainingError, train_model",
    "import pydoc, heedful; assert 'train_model' in pydoc.plain(pydoc.render_doc(heedful))",
    "import heedful.text.tokenizer, heedful.data.prepare",
    "import heedful.explain.page",
    "import heedful.server.run",
]


@pytest.mark.slow
@pytest.mark.parametrize("statement", TORCH_FREE)
def test_what_translates_and_scores_imports_without_torch(statement):
    code = f"import sys; sys.modules['torch'] = None; {statement}"

    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)

    assert done.returncode == 0, done.stderr


@pytest.mark.slow
def test_training_without_torch_says_what_to_install():
    code = (
        "import sys; sys.modules['torch'] = None\n"
        "import heedful\n"
        "try: heedful.train_model(None, 'm')\n"
        "except heedful.MissingExtraError as error: print(error)"
    )

    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert done.stdout == (
        "heedful.train_model needs torch; install it: pip install 'heedful[train]', or in a clone "
        "of the repository: make setup\n"
    )


def test_public_names_are_sorted_documented_and_importable():
    assert sorted(heedful.__all__) == heedful.__all__
    assert dir(heedful) == heedful.__all__
    for name in heedful.__all__:
        assert getattr(heedful, name).__doc__


def test_an_unknown_public_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="module 'heedful' has no attribute 'lode'"):
        _ = heedful.lode


def test_the_public_names_are_these():
    errors = {name for name, it in vars(heedful.errors).items() if _is_error(it)}
    events = {it.__name__ for it in get_args(heedful.Event)} | {"Event", "Example"}

    assert set(heedful.__all__) == errors | events | {
        "Alternative",
        "Candidate",
        "Details",
        "Explanation",
        "Options",
        "Recipe",
        "Sampling",
        "Score",
        "Translation",
        "Translator",
        "__version__",
        "evaluate",
        "explain",
        "load",
        "load_recipe",
        "train_model",
    }


def _is_error(it: object) -> bool:
    return isinstance(it, type) and issubclass(it, heedful.HeedfulError)


FUNCTIONS = [
    (name, node)
    for name, path in MODULES.items()
    for node in ast.walk(ast.parse(path.read_text()))
    if isinstance(node, ast.FunctionDef)
]
VERBS = "cli.app"  # there a parameter is an option, with its help
TOO_LONG: list[str] = []


def num_lines(function: ast.FunctionDef) -> int:
    return function.end_lineno - function.lineno + 1


def test_functions_stay_under_fifty_lines():
    lines = {
        f"{name}.{function.name}": num_lines(function)
        for name, function in FUNCTIONS
        if not (name == VERBS and function.decorator_list)
    }

    assert max(lines.values()) > 40  # so they were counted
    assert sorted(name for name, number in lines.items() if number >= 50) == TOO_LONG


def test_classes_have_fifteen_methods_at_most():
    trees = [ast.parse(path.read_text()) for path in MODULES.values()]
    methods = {
        node.name: sum(isinstance(part, ast.FunctionDef) for part in node.body)
        for tree in trees
        for node in ast.walk(tree)
        if isinstance(node, ast.ClassDef)
    }

    assert max(methods.values()) > 10
    assert not [name for name, number in methods.items() if number > 15]


def test_training_has_sixteen_settings_at_most():
    assert len(fields(TrainingConfig)) <= 16


def test_the_loss_is_read_at_a_glance():
    parts = [it for name, it in FUNCTIONS if (name, it.name) == ("training.loss", "forward")]

    assert [num_lines(forward) < 40 for forward in parts] == [True]
