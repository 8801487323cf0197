"""What other people install: the wheel, not the checkout."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The content of a wheel that was built from this checkout."""
    folder = tmp_path_factory.mktemp("wheel")
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)],
        cwd=ROOT,
        check=True,
        capture_output=True,
    )
    (wheel,) = folder.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder / "site")
    return folder / "site"


def test_the_contract_is_inside(installed: Path) -> None:
    """Every schema of the repository, byte for byte."""
    here, there = ROOT / "schemas", installed / "bridge" / "schemas"
    names = sorted(path.name for path in here.iterdir())
    assert sorted(path.name for path in there.iterdir()) == names
    for name in names:
        assert (there / name).read_bytes() == (here / name).read_bytes()


def test_the_installed_command_prints_it(installed: Path, tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "bridge.cli.main", "schemas", "approval"],
        env={**os.environ, "PYTHONPATH": str(installed)},
        cwd=tmp_path,
        check=True,
        capture_output=True,
    )
    assert done.stdout == (ROOT / "schemas" / "approval.avsc").read_bytes()


def test_its_types_are_for_others_too(installed: Path) -> None:
    """Without the mark a type checker takes nothing from an installed package."""
    assert (installed / "bridge" / "py.typed").is_file()
