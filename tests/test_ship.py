"""What leaves the repository: the image, the wheel, the citation, and the checks that guard them.

Docker itself is not needed: what its file tells it to do is done here in a clean environment.
"""

import os
import re
import shutil
import subprocess
import sys
import tomllib
import venv
from fnmatch import fnmatch
from pathlib import Path

import pytest
import yaml

import heedful

ROOT = Path(__file__).parents[1]
DOCKERFILE = (ROOT / "Dockerfile").read_text()
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
SENTENCE = "a b c"


def instructions(name: str) -> list[str]:
    """Return what follows an instruction of the Dockerfile, lines that go on joined."""
    joined = DOCKERFILE.replace("\\\n", "")
    return re.findall(rf"^{name} (.+)$", joined, re.MULTILINE)


def copied() -> list[str]:
    """Return what the Dockerfile takes from the repository."""
    return [name for line in instructions("COPY") for name in line.split()[:-1]]


def pythons() -> list[str]:
    prefix = "Programming Language :: Python :: 3."
    return [
        line.removeprefix("Programming Language :: Python :: ")
        for line in PROJECT["classifiers"]
        if line.startswith(prefix)
    ]


def workflow() -> dict:
    return yaml.safe_load((ROOT / ".github" / "workflows" / "tests.yml").read_text())


def test_the_image_is_of_a_python_that_is_tested_and_is_run_by_nobody_of_importance():
    images = {line.split()[0] for line in instructions("FROM")}

    assert images <= {f"python:{version}-slim" for version in pythons()}
    assert instructions("USER")[-1] not in ("root", "0")
    assert DOCKERFILE.index("USER") < DOCKERFILE.index("ENTRYPOINT")
    assert instructions("ENTRYPOINT") == ['["heedful"]']
    assert "heedful" in PROJECT["scripts"]


def test_what_the_image_is_made_of_is_there_and_nothing_else_is_sent_to_docker():
    lines = (ROOT / ".dockerignore").read_text().splitlines()

    assert lines[0] == "*"
    assert {line[1:] for line in lines if line.startswith("!")} == set(copied())
    assert all((ROOT / name).exists() for name in copied())
    assert fnmatch("src/heedful/__pycache__", lines[-1])


@pytest.fixture(scope="module")
def clean(tmp_path_factory) -> Path:
    """An environment in which the steps of the Dockerfile were taken; returns its programs."""
    folder = tmp_path_factory.mktemp("image")
    source = folder / "source"
    source.mkdir()
    for name in copied():
        copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copyfile
        copy(ROOT / name, source / name)
    venv.create(folder / "python", with_pip=True)
    programs = folder / "python" / "bin"
    for line in instructions("RUN"):
        command = re.sub(r"^(--mount=\S+ +)+", "", line)
        command = command.replace("/tmp/", f"{source}/").replace("/wheel", str(folder / "wheel"))
        if command.startswith("pip "):
            run(programs, command, cwd=source)
    return programs


def run(programs: Path, command: str, *, cwd: Path) -> str:
    """Run a command that sees nothing of the environment that the tests are in."""
    outside = {name: it for name, it in os.environ.items() if not name.startswith("PYTHON")}
    done = subprocess.run(
        ["sh", "-c", command],
        cwd=cwd,
        env=outside | {"PATH": f"{programs}:/usr/bin:/bin"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.slow
def test_where_the_steps_of_the_image_were_taken_there_is_no_torch(clean, tmp_path):
    done = run(clean, "pip list --format freeze", cwd=tmp_path)

    installed = {line.split("==")[0].lower() for line in done.splitlines()}
    assert {"heedful", "ctranslate2"} <= installed
    assert not installed & {"torch", "babel", "jaxtyping"}


@pytest.mark.slow
def test_what_is_installed_there_translates_as_the_repository_does(clean, model_folder, tmp_path):
    shutil.copytree(
        model_folder.path, tmp_path / "model", ignore=shutil.ignore_patterns("training")
    )

    there = run(clean, f"heedful translate model '{SENTENCE}'", cwd=tmp_path)

    assert there == f"{heedful.load(model_folder.path).translate(SENTENCE)}\n"


@pytest.mark.slow
def test_every_recipe_is_in_the_wheel(clean, tmp_path):
    find = "python -c 'import heedful; print(heedful.__path__[0])'"
    package = Path(run(clean, find, cwd=tmp_path).strip())

    assert {path.name for path in (package / "recipes").iterdir()} == {
        path.name for path in (ROOT / "recipes").iterdir()
    }
    assert (package / "py.typed").exists()


def test_the_workflow_checks_every_python_that_the_package_names_and_make_finds():
    makefile = (ROOT / "Makefile").read_text()
    jobs = workflow()["jobs"]

    for name in "tests", "wheel":
        assert jobs[name]["strategy"]["matrix"]["python"] == pythons()
    assert re.search(r"^TESTED := (.+)$", makefile, re.MULTILINE)[1].split() == pythons()
    assert f"{sys.version_info.major}.{sys.version_info.minor}" in pythons()


def test_the_workflow_may_read_and_nothing_else():
    assert workflow()["permissions"] == {"contents": "read"}


def test_the_forms_ask_for_what_a_maintainer_needs():
    for path in (ROOT / ".github" / "ISSUE_TEMPLATE").glob("[!c]*.yml"):
        form = yaml.safe_load(path.read_text())
        ids = [field["id"] for field in form["body"]]

        assert form["name"]
        assert form["description"]
        assert len(ids) == len(set(ids)) >= 3
        assert all(field["attributes"]["label"] for field in form["body"])


def test_dependabot_looks_after_all_that_is_pinned():
    updates = yaml.safe_load((ROOT / ".github" / "dependabot.yml").read_text())["updates"]

    assert all((ROOT / it["directory"].lstrip("/")).is_dir() for it in updates)
    assert {it["package-ecosystem"] for it in updates} == {"pip", "github-actions", "docker", "npm"}


def test_the_citation_is_of_this_version_and_licence():
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text())

    assert citation["version"] == heedful.__version__
    assert citation["license"] == PROJECT["license"]
    assert {"cff-version", "message", "title", "authors"} <= citation.keys()
