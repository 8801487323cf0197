"""tests/bench/RESULTS.md: one section a figure, replaced when the figure is taken again."""

from __future__ import annotations

import re
from pathlib import Path

from tests.bench.figure import Figure, Report

PATH = Path(__file__).with_name("RESULTS.md")

_HEAD = """# Results

Each section is one figure as `make bench` prints it: command, machine, median and (least–most).
`×` is ours over what it is compared with, from runs by turns in one invocation.
"""


def section(figure: Figure, report: Report, command: str, machine: list[str], taken: str) -> str:
    """A figure as Markdown."""
    lines = [f"## {figure.name}", "", figure.what[0].upper() + figure.what[1:] + ".", ""]
    lines += [f"Target {figure.target}: **{report.verdict}**.", ""]
    if report.rows:
        lines += ["| what | measured |", "|---|---|"]
        lines += [f"| {what} | {value} |" for what, value in report.rows]
        lines.append("")
    lines += [f"`{command}`, {taken}", "", *(f"- {line}" for line in machine)]
    if report.text:
        lines += ["", "```", report.text.strip(), "```"]
    return "\n".join(lines) + "\n"


def record(name: str, text: str, path: Path = PATH) -> None:
    """Put the section in the place of the one of that name, or at the end."""
    before = path.read_text(encoding="utf-8") if path.exists() else _HEAD
    pattern = re.compile(rf"^## {re.escape(name)}\n.*?(?=^## |\Z)", re.MULTILINE | re.DOTALL)
    if pattern.search(before):
        after = pattern.sub(lambda _: f"{text}\n", before, count=1)
    else:
        after = f"{before.rstrip()}\n\n{text}"
    path.write_text(after.rstrip() + "\n", encoding="utf-8")
