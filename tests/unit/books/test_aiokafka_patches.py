"""The patches that docs hold for aiokafka: each fails without its diff and passes with it."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Final

import aiokafka
import pytest

from bridge.kafka.aiokafka_internals import PINNED
from tests.unit.books.pages import PAGES, blocks, code, rows, section

PAGE: Final = "docs/aiokafka-patches.md"
INSTALLED: Final = Path(aiokafka.__file__).parent
TITLES: Final = [re.sub(r"^\[(.*)\]\(.*\)$", r"\1", row[0]) for row in rows(PAGES[PAGE])]


def apply(diff: str, root: Path) -> None:
    """Apply a unified diff; each hunk's old lines must stand in the file exactly once."""
    for _, name, hunks in re.findall(
        r"^--- a/(.+)\n\+\+\+ b/(.+)\n((?:(?!--- a/).*\n)+)", diff, re.M
    ):
        path = root / name
        text = path.read_text("utf-8")
        for hunk in re.split(r"^@@ .* @@.*\n", hunks, flags=re.M)[1:]:
            lines = [line or " " for line in hunk.splitlines()]
            old = "".join(f"{line[1:]}\n" for line in lines if line[0] in " -")
            new = "".join(f"{line[1:]}\n" for line in lines if line[0] in " +")
            assert text.count(old) == 1, f"{name} has not these lines once:\n{old}"
            text = text.replace(old, new)
        path.write_text(text, "utf-8")


def reproduced(script: str, before: Path) -> subprocess.CompletedProcess[str]:
    """Run a reproduction with what lies under `before` ahead of what is installed."""
    return subprocess.run(
        [sys.executable, "-c", f"import sys; sys.path.insert(0, {str(before)!r})\n{script}"],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def test_the_page_speaks_of_the_pinned_version() -> None:
    assert f"aiokafka {PINNED}" in PAGES[PAGE]


@pytest.mark.parametrize("title", TITLES)
def test_a_reproduction_fails_without_its_diff_and_passes_with_it(
    title: str, tmp_path: Path
) -> None:
    """One diff alone, on the client as it is installed: each can be offered by itself."""
    text = section(PAGE, code(title))
    (script,), (diff,) = blocks(text, "python"), blocks(text, "diff")
    stock = reproduced(script, tmp_path)
    (symptom,) = re.findall(r"^# as installed: (.*)", script)
    assert symptom in stock.stderr.splitlines()[-1], stock.stderr
    shutil.copytree(INSTALLED, tmp_path / "aiokafka", ignore=shutil.ignore_patterns("__pycache__"))
    apply(diff, tmp_path)
    patched = reproduced(script, tmp_path)
    assert patched.returncode == 0, patched.stderr
