"""The most memory that a process has held."""

import re
from pathlib import Path


def peak_bytes(process: int) -> int:
    """Read what Linux counted; getrusage would count the parent's memory for a child."""
    kibibytes = re.search(r"VmHWM:\s+(\d+) kB", Path(f"/proc/{process}/status").read_text())
    assert kibibytes, "Linux states VmHWM"
    return int(kibibytes[1]) * 1024
