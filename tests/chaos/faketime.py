"""Processes whose wall clock is off: libfaketime under Python, C libraries and all.

Its library is loaded into the process itself; the `faketime` command would start a child, and
signals would meet the wrong process. The monotonic clock stays right, as it does on such machines.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

_PLACES = ("/usr/lib/*/faketime", "/usr/lib*/faketime", "/usr/local/lib/faketime")
_LIBRARY = "libfaketimeMT.so.1"  # for programs with threads


def off_by(seconds: int) -> Mapping[str, str]:
    """Variables for a process whose clock is so far ahead or behind; without it the test skips."""
    found = [str(path) for place in _PLACES for path in Path("/").glob(f"{place}/{_LIBRARY}"[1:])]
    if not found:
        pytest.skip("needs libfaketime: apt-get install faketime")
    return {
        "LD_PRELOAD": found[0],
        "FAKETIME": f"{seconds:+d}",
        "FAKETIME_DONT_FAKE_MONOTONIC": "1",
        "DONT_FAKE_MONOTONIC": "1",  # its name before 0.9.9
    }
