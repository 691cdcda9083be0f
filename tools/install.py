"""What `make setup` does: an environment with all that heedful needs, and torch without CUDA.

On Linux the torch that pip finds by itself brings 5 GB for NVIDIA's GPUs. The build without is
taken from wherever pip knows one, and else from where uv knows it to be.
"""

import re
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator
from pathlib import Path

ENVIRONMENT = Path(".venv")
PYTHON = ENVIRONMENT / "bin" / "python"
READY = ENVIRONMENT / ".ready"
PINNED = ("-c", "constraints.txt")
BUILDS = ("cpu", "cuda")

_FILE = re.compile(
    r"\s*(?:Downloading|Using cached) (?:\S*/)?([^-]+-[^-]+)-\S+ \((\d+)\S* (MB|GB)\)"
)
_INSTALLED = re.compile(r"Installing collected packages: (.+)")
_LARGE = 10  # MB, which take a while


def install(build: str) -> None:
    """Make the environment, or bring it up to date, with one build of torch."""
    began = time.monotonic()
    say(f"Setting up {ENVIRONMENT} with Python {sys.version.split()[0]}: some minutes, once")
    make_environment(build)
    if build == "cpu" and sys.platform == "linux":
        say("1 of 2: torch without CUDA, about 200 MB")
        install_torch_without_cuda(pinned_torch())
    else:
        say("1 of 2: torch comes with the rest" + (", 5 GB with CUDA" if build == "cuda" else ""))
    say("2 of 2: heedful and all else that it needs, about 150 MB")
    if not pip(*PINNED, "-e", ".[train,onnx,dev,browser,paper,serve]"):
        sys.exit("make setup: pip could not install what is needed, as it says above")
    READY.write_text(f"{build}\n", encoding="utf-8")
    say(f"Ready after {time.monotonic() - began:.0f} seconds: {ENVIRONMENT}/bin/heedful")


def make_environment(build: str) -> None:
    """Make the environment; one that has another build of torch is made anew."""
    before = READY.read_text(encoding="utf-8").strip() or "cpu" if READY.exists() else build
    clear = [] if before == build else ["--clear"]
    if not run([sys.executable, "-m", "venv", *clear, str(ENVIRONMENT)]):
        sys.exit("make setup: Python could not make an environment, as it says above")


def install_torch_without_cuda(version: str) -> None:
    """Install the build of torch without CUDA, or end with what can be done instead."""
    if pip(*PINNED, f"torch=={version}+cpu", is_needed=False):
        return
    say("   pip finds none here; uv knows where torch keeps it")
    uv = [str(PYTHON), "-m", "uv", "pip", "install", "--torch-backend", "cpu"]
    wanted = ["--python", str(PYTHON), *PINNED, f"torch=={version}"]
    if pip(*PINNED, "uv") and run([*uv, *wanted]):
        return
    sys.exit(
        f"make setup: no build of torch {version} without CUDA can be had here; what uv says is "
        "above.\nIf the network is at fault, try again. For the build with CUDA, which takes 5 GB: "
        "make setup TORCH=cuda"
    )


def pinned_torch() -> str:
    """Return the version of torch that is pinned."""
    pins = Path(PINNED[1]).read_text(encoding="utf-8").splitlines()
    (version,) = [pin.removeprefix("torch==") for pin in pins if pin.startswith("torch==")]
    return version


def pip(*wanted: str, is_needed: bool = True) -> bool:
    """Install by pip, and show what takes a while; why it fails, where that is not expected."""
    command = [str(PYTHON), "-m", "pip", "install", "--disable-pip-version-check", *wanted]
    errors = None if is_needed else subprocess.DEVNULL
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=errors, text=True) as process:
        assert process.stdout is not None
        for line in worth_showing(process.stdout):
            say(f"   {line}")
    return process.returncode == 0


def worth_showing(lines: Iterable[str]) -> Iterator[str]:
    """Of what pip says, yield the large files and how many packages are installed."""
    for line in lines:
        if (found := _FILE.match(line)) and (int(found[2]) >= _LARGE or found[3] == "GB"):
            yield f"{found[1]}, {found[2]} {found[3]}"
        elif found := _INSTALLED.match(line):
            yield f"installing {len(found[1].split(', '))} packages"


def run(command: list[str]) -> bool:
    """Run a command that speaks for itself; return whether it did what it should."""
    return subprocess.run(command, check=False).returncode == 0


def say(line: str) -> None:
    """Print a line at once."""
    print(line, flush=True)


if __name__ == "__main__":
    if sys.argv[1:] not in [[build] for build in BUILDS]:
        sys.exit(f"make setup: TORCH must be one of {', '.join(BUILDS)}, got {sys.argv[1:]}")
    install(sys.argv[1])
