import os
import subprocess
import sys

import pytest

from heedful.machine.waiting import wait_briefly


@pytest.fixture
def environment(monkeypatch):
    for name in "OMP_WAIT_POLICY", "GOMP_SPINCOUNT":
        monkeypatch.setenv(name, "")  # so that it is restored
        monkeypatch.delenv(name)
    return monkeypatch


def test_openmp_reads_that_its_threads_sleep_soon(environment):
    environment.setenv("OMP_DISPLAY_ENV", "VERBOSE")  # asks OpenMP itself, when it is loaded
    program = "from heedful.__main__ import main; import sys; main_ = main; "
    program += "sys.argv[1:] = ['--version']\ntry: main_()\nfinally: import torch"

    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)

    assert "GOMP_SPINCOUNT = '1000'" in done.stderr


@pytest.mark.parametrize("said", ["OMP_WAIT_POLICY", "GOMP_SPINCOUNT"])
def test_who_has_said_how_threads_wait_is_heeded(environment, said):
    environment.setenv(said, "active" if said == "OMP_WAIT_POLICY" else "7")
    before = dict(os.environ)

    wait_briefly()

    assert dict(os.environ) == before
