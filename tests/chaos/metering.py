"""What a worker tells and uses: its metrics, its CPU time, the ends of its partitions."""

from __future__ import annotations

import os
from pathlib import Path

from prometheus_client.parser import text_string_to_metric_families

PREFIX = "interrupt_bridge_"


def figure(exposition: str, name: str, **labels: str) -> float:
    """The sum of a metric's samples that have these labels; 0 with none."""
    wanted = PREFIX + name
    return sum(
        sample.value
        for family in text_string_to_metric_families(exposition)
        for sample in family.samples
        if sample.name == wanted and labels.items() <= sample.labels.items()
    )


def cpu_seconds(pid: int) -> float:
    """User and system time of a process so far. Linux only."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
