"""Which machine and which releases a figure was taken with."""

from __future__ import annotations

import os
import platform
from importlib.metadata import version
from pathlib import Path

PACKAGES = ("aiokafka", "cramjam", "confluent-kafka", "fastavro", "msgspec", "jsonschema-rs")


def describe() -> list[str]:
    """Lines that say all of it."""
    memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") / 2**30
    load = os.getloadavg()
    releases = ", ".join(f"{name} {version(name)}" for name in PACKAGES)
    return [
        f"{os.cpu_count()} cores, {_cpu_model()}, {memory:.0f} GiB, {platform.platform()}",
        f"{platform.python_implementation()} {platform.python_version()}, {releases}",
        f"load average before: {load[0]:.2f} {load[1]:.2f} {load[2]:.2f}",
    ]


def _cpu_model() -> str:
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists():
        for line in cpuinfo.read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()
