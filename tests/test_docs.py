"""What the documents say is true: names exist, commands run, versions agree."""

import re
import shlex
import shutil
import tomllib
from itertools import chain
from pathlib import Path

import pytest
from markdown_it import MarkdownIt

import heedful
from heedful.__main__ import main
from heedful.runs.recipe import load_recipe

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text()
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
GUIDE = sorted(path.name for path in (ROOT / "docs" / "guide").glob("*.md"))


def blocks(text: str, *languages: str) -> list[str]:
    """Return the fenced blocks of some languages, fences taken in pairs."""
    fenced = re.findall(r"^```(\w*)\n(.*?)^```$", text, flags=re.DOTALL | re.MULTILINE)
    return [content for name, content in fenced if name in languages]


def commands(text: str) -> list[str]:
    """Return the commands of heedful's that a page tells its readers to run."""
    lines = (line for block in blocks(text, "bash") for line in block.splitlines())
    return [line for line in lines if line.startswith("heedful ")]


def prose(text: str) -> str:
    """Leave out of a page what is no prose: blocks, tables, pictures and headings."""
    bare = re.sub(r"^```.*?^```$", "", text, flags=re.DOTALL | re.MULTILINE)
    return re.sub(r"^(\||#|!\[).*$", "", bare, flags=re.MULTILINE)


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
        "equation 1", "equation 2", "equation 3", "table 1", "table 2", "table 3", "table 4", "6.2",
        "6.3", "figure 1", "figure 2", "figures 3 to 5",
    ):  # fmt: skip
        assert part in first_columns


def tree(document: str, first: str) -> list[str]:
    """Spell out the paths of a document's tree, which begins with the line `first`."""
    fenced = blocks((ROOT / document).read_text(), "")
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
def newcomer(tmp_path, monkeypatch, recipe_file, corpus, model_folder):
    """A folder as the pages suppose it: the files that they name, and a model that is trained."""
    for split in ("train", "test", "more"):
        (tmp_path / f"{split}.en").write_text(Path(corpus["source"]).read_text())
        for language in ("de", "fr"):
            (tmp_path / f"{split}.{language}").write_text(Path(corpus["target"]).read_text())
    (tmp_path / "terms.tsv").write_text("heedful\n")
    shutil.copytree(model_folder.path, tmp_path / "model")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(command: str, monkeypatch) -> None:
    """Run a command as printed, save that training takes a recipe of few steps and no minutes."""
    arguments = shlex.split(re.sub(r" --minutes \d+", "", command))
    if arguments[1] == "train":
        shutil.rmtree(arguments[arguments.index("--out") + 1], ignore_errors=True)
        arguments += ["--recipe", "recipe.toml"]
    monkeypatch.setattr("sys.argv", arguments)
    code = 0
    try:
        main()
    except SystemExit as end:
        code = end.code
    assert code == 0, command


@pytest.mark.slow
@pytest.mark.parametrize("page", ["README.md", *(f"docs/guide/{name}" for name in GUIDE)])
def test_the_commands_and_the_python_of_a_page_run(page, newcomer, monkeypatch, capsys):
    text = (ROOT / page).read_text()
    for command in commands(text):
        run(command, monkeypatch)
    for block in blocks(text, "python"):
        exec(block.replace('"default"', '"recipe.toml"'), {})

    if commands(text):
        assert capsys.readouterr().out


def test_the_readme_shows_what_three_commands_print_and_how_to_train_in_the_time_one_has():
    fences = re.findall(r"^```(\w*)$", README, flags=re.MULTILINE)[::2]
    first, *_ = shown = commands(README)

    assert [command.split()[1] for command in shown] == ["train", "translate", "evaluate"]
    assert fences.count("text") == len(shown)
    assert "--minutes" in first


def test_the_four_numbers_of_the_readme_are_results_rounded():
    _, *rows = [
        row for table in tables(README) for row in table if "**" in row or "| number |" in row
    ]
    results = re.findall(r"\d[\d,]*(?:\.\d+)?", (ROOT / "docs" / "results.md").read_text())
    numbers = [re.search(r"\*\*([\d.]+)", row)[1] for row in rows]

    assert len(numbers) == 4
    for number in numbers:
        digits = len(number.partition(".")[2])
        assert number in {f"{float(it.replace(',', '')):.{digits}f}" for it in results}


def test_every_page_of_the_guide_can_be_reached_from_the_readme():
    assert set(GUIDE) == set(re.findall(r"docs/guide/([a-z-]+\.md)\)", README))


def test_no_sentence_of_the_readme_is_longer_than_25_words():
    sentences = re.split(r"(?<=[.!?:])\**\s|\n\n|\n- ", prose(README))

    assert len(sentences) > 20
    assert not [sentence for sentence in sentences if len(sentence.split()) > 25]


@pytest.mark.parametrize(
    "page", [README, *((ROOT / "docs" / "guide" / n).read_text() for n in GUIDE)]
)
def test_recipes_in_the_pages_are_recipes(page, tmp_path):
    for block in blocks(page, "toml"):
        (tmp_path / "mine.toml").write_text(block)

        recipe = load_recipe(str(tmp_path / "mine.toml"))

        if 'recipe = "paper"' in block:
            assert recipe.model_config(9).positions == "learned"
            assert recipe.training.schedule == "noam"
        else:
            assert [str(each.direction) for each in recipe.data] == ["en-fr", "en-de"]


def documents() -> list[Path]:
    return [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *(ROOT / ".github").rglob("*.md")]


def tables(text: str) -> list[list[str]]:
    bare = re.sub(r"^```.*?^```$", "", text, flags=re.DOTALL | re.MULTILINE)
    return [found.splitlines() for found in re.findall(r"(?:^\|.*\n?)+", bare, re.MULTILINE)]


@pytest.mark.parametrize("document", documents(), ids=lambda path: str(path.relative_to(ROOT)))
def test_the_rows_of_a_table_have_as_many_cells_as_its_head(document):
    """GitHub drops the cells that are too many, so a | in one, even in code, wants a backslash."""
    for table in tables(document.read_text()):
        widths = {len(re.findall(r"(?<!\\)\|", row)) for row in table}

        assert len(widths) == 1, table[0]
        assert re.fullmatch(r"(\|:?-+:?)+\|", table[1]), table[0]


def test_the_log_is_dated_newest_first_and_says_what_came_of_it():
    headings = re.findall(r"^## (.*)$", (ROOT / "docs" / "log.md").read_text(), re.MULTILINE)
    dated = [re.fullmatch(r"(20\d\d-\d\d-\d\d): [^()]+ \([^()]+\)", line) for line in headings]
    dates = [entry[1] for entry in dated if entry]

    assert len(dates) == len(headings)
    assert dates == sorted(dates, reverse=True)


def test_every_entry_of_the_log_and_every_result_has_a_table():
    for name, level in ("log.md", "## 20"), ("results.md", "## "):
        entries = (ROOT / "docs" / name).read_text().split(f"\n{level}")[1:]

        assert entries
        assert not [entry.splitlines()[0] for entry in entries if not tables(entry)]


@pytest.mark.parametrize(
    "decision", sorted((ROOT / "docs" / "decisions").glob("*.md")), ids=lambda path: path.stem
)
def test_a_decision_has_a_date_a_status_and_what_was_rejected_on_half_a_page(decision):
    text = decision.read_text()

    title = rf"# {int(decision.stem[:4])}\. .+\n"
    status = r"20\d\d-\d\d-\d\d\. (In force|Replaced by .+)\.\n\n"
    assert re.match(title + status, text), "the second line says: 2026-11-15. In force."
    assert re.search(r"^## Rejected\n- \*\*", text, re.MULTILINE)
    assert len(text.split()) < 400


def test_make_targets_named_in_the_documents_exist():
    makefile = (ROOT / "Makefile").read_text()
    texts = [path.read_text() for path in [*documents(), *WORKFLOWS]]
    for text in texts:
        for target in re.findall(r"(?:^|run: )make ([a-z-]+)", text, re.MULTILINE):
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


def cut_cells(text: str) -> list[str]:
    """Return the rows of tables of which something is not shown, as a `|` in them ends a cell."""
    lines, cut = text.splitlines(), []
    tokens = MarkdownIt("commonmark").enable("table").parse(text)
    starts = [index for index, token in enumerate(tokens) if token.type == "tr_open"]
    for start in starts:
        end = next(index for index in range(start, len(tokens)) if tokens[index].type == "tr_close")
        shown = "".join(token.content for token in tokens[start:end] if token.type == "inline")
        written = lines[tokens[start].map[0]]
        if _letters(shown) != _letters(written):
            cut.append(written)
    return cut


def _letters(row: str) -> str:
    return re.sub(r"[\s|\\]", "", row)


def test_a_table_whose_cells_are_cut_is_found():
    table = "| a | b |\n|---|---|\n| 1 | `x\\|y` |\n| 2 | `x|y` |\n"

    assert cut_cells(table) == ["| 2 | `x|y` |"]


@pytest.mark.parametrize(
    "document", [Path("README.md"), *(p.relative_to(ROOT) for p in (ROOT / "docs").rglob("*.md"))]
)
def test_no_cell_of_a_table_is_cut(document):
    assert cut_cells((ROOT / document).read_text()) == []


def test_documents_link_to_files_that_exist():
    for document in documents():
        for link in re.findall(r"\]\((?!https?:)([^)#]+)", document.read_text()):
            assert (document.parent / link).exists(), f"{document.name}: {link}"
