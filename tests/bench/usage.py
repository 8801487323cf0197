"""What a process has used: processor time and memory, read from /proc (Linux only)."""

from __future__ import annotations

import os
import time
from pathlib import Path

_TICKS = os.sysconf("SC_CLK_TCK")
_PAGE = os.sysconf("SC_PAGE_SIZE")


def own_cpu() -> float:
    """User and system seconds of this process, all its threads, none of its children."""
    return time.process_time()


def cpu(pid: int) -> float:
    """User and system seconds of another process, to 10 ms."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / _TICKS


def resident(pid: int) -> int:
    """Resident bytes of a process."""
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * _PAGE
