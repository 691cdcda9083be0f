"""A browser for the tests of the page: found, or set up where that can be done.

Debian's Chromium is taken where this may install packages, and Playwright's own elsewhere.
"""

import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

MUST_NOT_SKIP = "HEEDFUL_SKIP_NOTHING"
"""Set in the environment, it turns whatever would be skipped for lack of a tool into a failure."""

_NAMES = ("chromium", "chromium-browser", "google-chrome")


def find_browser() -> str | None:
    """Return the path of a Chromium, if there is one."""
    for name in _NAMES:
        if path := shutil.which(name):
            return path
    try:
        from playwright.sync_api import sync_playwright
    except ModuleNotFoundError:
        return None
    with sync_playwright() as playwright:
        path = playwright.chromium.executable_path
    return path if Path(path).exists() else None


def set_up() -> None:
    """Find or install a browser; say loudly, and end, where there is none."""
    if find_browser():
        return
    print("The page is tested in a real browser; installing Chromium: a minute, once", flush=True)
    can_install = shutil.which("apt-get") and os.name == "posix" and os.geteuid() == 0
    if can_install and run(["apt-get", "update", "-qq"]):
        run(["apt-get", "install", "-qq", "-y", "--no-install-recommends", "chromium"])
    else:
        run([sys.executable, "-m", "playwright", "install", "--with-deps", "chromium"])
    if not find_browser():
        skipped("the tests of the page", "no Chromium, and none could be installed")


def skipped(what: str, reason: str) -> None:
    """Say what is left out, so that nobody misses it; end if nothing may be."""
    print(f"\n*** SKIPPED: {what}: {reason} ***\n", file=sys.stderr, flush=True)
    if os.environ.get(MUST_NOT_SKIP):
        sys.exit(f"{MUST_NOT_SKIP} is set, so this is a failure")


def run(command: Sequence[str]) -> bool:
    """Run a command in silence, and tell whether it did what it should."""
    quiet = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    try:
        return (
            subprocess.run(command, env=quiet, check=False, stdout=subprocess.DEVNULL).returncode
            == 0
        )
    except OSError:
        return False


if __name__ == "__main__":
    set_up()
