"""How the threads of one operation wait for one another, so that other programs get on as well."""

import os

_SPINS = "1000"


def wait_briefly() -> None:
    """Let OpenMP's threads spin for a moment and then sleep; before torch is loaded.

    Beside other programs, long spinning takes the cores from the very threads that are waited for.
    Who has said how they are to wait is heeded.
    """
    if "OMP_WAIT_POLICY" not in os.environ:
        os.environ.setdefault("GOMP_SPINCOUNT", _SPINS)
