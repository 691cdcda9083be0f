"""What the documents say is true: names exist, commands run, versions agree."""

import re
import shlex
import tomllib
from itertools import chain
from pathlib import Path

import pytest

import heedful
from heedful.__main__ import main
from heedful.runs.recipe import load_recipe

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text()


def blocks(language: str) -> list[str]:
    """Return the fenced blocks of a language, fences taken in pairs."""
    fenced = re.findall(r"^```(\w*)\n(.*?)^```$", README, flags=re.DOTALL | re.MULTILINE)
    return [content for name, content in fenced if name == language]


def rows(path: str) -> list[tuple[str, str]]:
    text = (ROOT / path).read_text()
    return re.findall(r"\| `([^`]+)` \| `([^`]+)` \|$", text, flags=re.MULTILINE)


@pytest.mark.parametrize(("file", "name"), rows("docs/paper-to-code.md"))
def test_the_paper_leads_to_names_that_exist(file, name):
    definition = rf"^\s*(def|class) {name}\b|^{name}\b.*=|^{name}:"

    assert re.search(definition, (ROOT / file).read_text(), flags=re.MULTILINE)


def test_every_section_and_equation_is_mapped():
    text = (ROOT / "docs/paper-to-code.md").read_text()
    first_columns = " ".join(re.findall(r"^\| ([^|]+) \|", text, flags=re.MULTILINE))

    for part in (
        "3.1", "3.2.1", "3.2.2", "3.2.3", "3.3", "3.4", "3.5", "5.1", "5.2", "5.3", "5.4", "6.1",
        "equation 1", "equation 2", "equation 3", "table 3", "figure 1", "figure 2",
    ):  # fmt: skip
        assert part in first_columns


def tree(document: str, first: str) -> list[str]:
    """Spell out the paths of a document's tree, which begins with the line `first`."""
    text = (ROOT / document).read_text()
    fenced = re.findall(r"^```\n(.*?)^```$", text, flags=re.DOTALL | re.MULTILINE)
    (block,) = [block for block in fenced if re.search(rf"^{first}", block, re.MULTILINE)]
    paths, folders = [], []
    for line in block.splitlines():
        depth, name, *gloss = (len(line) - len(line.lstrip())) // 2, *line.split(maxsplit=1)
        assert gloss or name.endswith("/"), line
        folders = [*folders[:depth], name.rstrip("/")]
        paths.append("/".join(folders))
    return paths


def test_the_tree_in_the_readme_names_every_room_and_all_that_lies_beside_them():
    named = set(tree("README.md", "src/heedful/"))
    package = ROOT / "src" / "heedful"
    there = {
        str(path.relative_to(ROOT))
        for path in package.iterdir()
        if not path.name.startswith("__") and (path.is_dir() or path.suffix == ".py")
    }

    assert all((ROOT / path).exists() for path in named)
    assert there <= named


def test_the_files_in_the_architecture_are_the_files_there_are():
    package = ROOT / "src" / "heedful"
    named = set(tree("docs/architecture.md", "errors.py"))
    modules = {
        str(path.relative_to(package))
        for path in package.rglob("*.py")
        if path.name != "__init__.py"
    }

    assert modules == {path for path in named if path.endswith(".py")}


@pytest.fixture
def newcomer(tmp_path, monkeypatch, recipe_file, corpus):
    """A folder as the README supposes it, with the data named as it names them."""
    for split in ("train", "test"):
        (tmp_path / f"{split}.en").write_text(Path(corpus["source"]).read_text())
        (tmp_path / f"{split}.de").write_text(Path(corpus["target"]).read_text())
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.slow
def test_the_commands_and_the_python_of_the_readme_run(newcomer, monkeypatch, capsys):
    """As printed, save that training takes a recipe of few steps, so as to end in seconds."""
    commands = [
        line
        for block in blocks("bash")
        for line in block.splitlines()
        if line.startswith("heedful ")
    ]
    for command in commands:
        arguments = shlex.split(command)
        if arguments[1] == "train":
            arguments += ["--recipe", "recipe.toml"]
        monkeypatch.setattr("sys.argv", arguments)
        code = 0
        try:
            main()
        except SystemExit as end:
            code = end.code
        assert code == 0, command

    loads, trains = blocks("python")
    exec(loads, {})
    exec(trains.replace('"default"', '"recipe.toml"'), {})

    assert [command.split()[1] for command in commands] == [
        "train", "translate", "evaluate", "info", "train", "diversify", "train",
    ]  # fmt: skip
    assert "Finished(" in capsys.readouterr().out


def test_the_recipe_of_the_readme_is_one(tmp_path):
    (block,) = blocks("toml")
    (tmp_path / "mine.toml").write_text(block)

    recipe = load_recipe(str(tmp_path / "mine.toml"))

    assert recipe.model_config(9).positions == "learned"
    assert recipe.training.schedule == "noam"


def test_make_targets_named_in_the_documents_exist():
    makefile = (ROOT / "Makefile").read_text()
    for document in ("README.md", "CONTRIBUTING.md"):
        for target in re.findall(r"^make ([a-z-]+)", (ROOT / document).read_text(), re.MULTILINE):
            assert re.search(rf"^{target}:", makefile, re.MULTILINE), target


def test_the_changelog_begins_with_the_version_of_the_package():
    versions = re.findall(r"^## \[([^]]+)\]", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)

    assert versions[0] == heedful.__version__


def test_every_dependency_is_pinned_exactly():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"].values()
    wanted = [*project["dependencies"], *chain(*extras)]
    lines = (ROOT / "constraints.txt").read_text().splitlines()
    pins = dict(line.lower().split("==") for line in lines if not line.startswith("#"))

    assert {re.split(r"[<>=\[]", name)[0].lower() for name in wanted} <= pins.keys()
    assert not [name for name in wanted if "==" in name]  # what others need is theirs to choose


def test_every_decision_fits_on_half_a_page():
    for path in (ROOT / "docs" / "decisions").glob("*.md"):
        assert len(path.read_text().split()) < 400, path.name


def test_documents_link_to_files_that_exist():
    for document in [ROOT / "README.md", *(ROOT / "docs").glob("*.md")]:
        for link in re.findall(r"\]\((?!https?:)([^)#]+)", document.read_text()):
            assert (document.parent / link).exists(), f"{document.name}: {link}"
