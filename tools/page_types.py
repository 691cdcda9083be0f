"""The types of the page's modules, checked by TypeScript, which npm installs beside its config."""

import shutil
import subprocess
import sys
from pathlib import Path

from tools.browser import skipped

FOLDER = Path(__file__).parent / "js"
_COMPILER = FOLDER / "node_modules" / "typescript" / "bin" / "tsc"
_INSTALLED = FOLDER / "node_modules" / ".package-lock.json"
_LOCKED = FOLDER / "package-lock.json"


def check() -> int:
    """Check the types of all modules; return what a shell takes for success or failure."""
    if not shutil.which("node") or not _has_compiler():
        skipped("the types of the page", "node and npm are needed, and TypeScript from npm")
        return 0
    return subprocess.run(["node", str(_COMPILER), "-p", str(FOLDER)], check=False).returncode


def _has_compiler() -> bool:
    """Whether the compiler is there, which is installed if need be."""
    is_current = _INSTALLED.exists() and _INSTALLED.stat().st_mtime >= _LOCKED.stat().st_mtime
    if not is_current and shutil.which("npm"):
        install = ["npm", "ci", "--silent", "--no-audit", "--no-fund", "--prefix", str(FOLDER)]
        subprocess.run(install, check=False)
    return _COMPILER.exists()


if __name__ == "__main__":
    sys.exit(check())
