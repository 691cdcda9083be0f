"""What `make setup` asks for, and what it says: torch without CUDA unless CUDA is asked for."""

import shutil
import subprocess
from pathlib import Path

import pytest

from tools import install

ROOT = Path(__file__).parents[1]

# As pip 26 prints them.
FROM_PIP = """\
Collecting torch==2.13.0
  Downloading torch-2.13.0-cp311-cp311-manylinux_2_28_x86_64.whl.metadata (29 kB)
Downloading torch-2.13.0-cp311-cp311-manylinux_2_28_x86_64.whl (526.6 MB)
   ━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━ 526.6/526.6 MB 113.2 MB/s  0:00:04
Using cached https://example.org/a/nvidia_cudnn_cu13-9.20.0.48-py3-none-any.whl (1.2 GB)
Downloading typing_extensions-4.16.0-py3-none-any.whl (44 kB)
Downloading onnx-1.23.2-cp311-cp311-manylinux_2_28_x86_64.whl (9.9 MB)
Installing collected packages: typing_extensions, torch, onnx
"""


@pytest.fixture
def asked(tmp_path, monkeypatch):
    """Stand in for pip, uv and venv: what they are asked for is listed, and some of it fails."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / ".venv").mkdir()
    (tmp_path / "constraints.txt").write_text("numpy==2.0\ntorch==2.13.0\n")
    commands = []

    def use(*, platform: str, failing: tuple[str, ...] = ()) -> list[str]:
        def run(command, **_):
            commands.append(" ".join(command))
            return not any(part in commands[-1] for part in failing)

        monkeypatch.setattr(install, "run", run)
        monkeypatch.setattr(install, "pip", lambda *wanted, **_: run(["pip", *wanted]))
        monkeypatch.setattr("sys.platform", platform)
        return commands

    return use


def test_on_linux_torch_is_the_build_without_cuda_that_pip_finds(asked):
    commands = asked(platform="linux")

    install.install("cpu")

    assert commands[1:] == [
        "pip -c constraints.txt torch==2.13.0+cpu",
        "pip -c constraints.txt -e .[train,onnx,dev,browser,paper,serve]",
    ]


def test_where_pip_finds_none_uv_is_asked_for_it(asked):
    commands = asked(platform="linux", failing=("+cpu",))

    install.install("cpu")

    assert [command.split()[-1] for command in commands[1:]] == [
        "torch==2.13.0+cpu", "uv", "torch==2.13.0", ".[train,onnx,dev,browser,paper,serve]",
    ]  # fmt: skip
    assert "uv pip install --torch-backend cpu" in commands[3]


@pytest.mark.parametrize("failing", ["constraints.txt uv", "--torch-backend"])
def test_where_none_can_be_had_nothing_else_is_installed_and_that_is_said(asked, failing):
    commands = asked(platform="linux", failing=("+cpu", failing))

    with pytest.raises(SystemExit, match=r"no build of torch 2\.13\.0 without CUDA can be had"):
        install.install("cpu")

    assert failing in commands[-1]


@pytest.mark.parametrize(("build", "platform"), [("cuda", "linux"), ("cpu", "darwin")])
def test_torch_comes_as_pip_finds_it_where_that_is_what_is_wanted(asked, build, platform):
    commands = asked(platform=platform)

    install.install(build)

    assert [command.split()[-1] for command in commands[1:]] == [
        ".[train,onnx,dev,browser,paper,serve]"
    ]


def test_another_build_gets_a_new_environment_and_the_same_one_is_kept(asked):
    commands = asked(platform="linux")
    for build in "cpu", "cpu", "cuda":
        install.install(build)

    venvs = [command for command in commands if " venv " in command]
    assert ["--clear" in venv for venv in venvs] == [False, False, True]


def test_of_what_pip_says_the_large_files_are_shown_and_how_much_is_installed():
    assert list(install.worth_showing(FROM_PIP.splitlines())) == [
        "torch-2.13.0, 526 MB",
        "nvidia_cudnn_cu13-9.20.0.48, 1 GB",
        "installing 3 packages",
    ]


def make(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    command = [shutil.which("make"), "--dry-run", "--always-make", *arguments]
    return subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False
    )


def test_make_says_which_pythons_there_should_be_where_there_is_none(tmp_path):
    done = make("setup", PATH=str(tmp_path))

    assert done.returncode == 2
    assert "one of 3.11 3.12 3.13, and none is found; install one" in done.stderr


@pytest.mark.parametrize(("version", "is_chosen"), [("3.10", False), ("3.12", True)])
def test_make_takes_the_first_python_that_is_tested(tmp_path, version, is_chosen):
    """The one here says it is of some version; those that are not there, or not whole, are none."""
    for name in "python3", "python3.13":
        (tmp_path / name).write_text("#!/bin/sh\nexit 127\n")
        (tmp_path / name).chmod(0o755)
    (tmp_path / "python3.12").write_text(
        f'#!/bin/sh\ncase "$2" in *"\'3.11 3.12 3.13\'"*) [ {version} != 3.10 ];; esac\n'
    )
    (tmp_path / "python3.12").chmod(0o755)

    done = make("setup", PATH=str(tmp_path))

    assert ("python3.12 tools/install.py cpu" in done.stdout) == is_chosen


def test_torch_may_be_asked_for_with_cuda():
    assert "install.py cuda" in make("setup", "TORCH=cuda", PATH="/usr/bin:/bin").stdout
