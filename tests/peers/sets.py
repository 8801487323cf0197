"""The environments that peer programs run in, built from their locks into `.peers/<set>`.

A set is built when it is missing or its files changed; what is installed is bound by hashes.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

from tests.peers.peer import SetName

HERE = Path(__file__).parent
LOCKS = HERE / "sets"
PROGRAMS = HERE / "programs"
BUILT = HERE.parents[1] / ".peers"
BUILD_SECONDS = 900
_MARK = ".ready"

TOOLS: Mapping[str, tuple[str, str]] = {
    "npm": ("node", "Node.js 20 or newer: `apt-get install nodejs npm` or `brew install node`"),
    "go": ("go", "Go 1.25 or newer, from its download page or by `brew install go`"),
}


class SetError(Exception):
    """A set cannot be built; the message says what to do."""


def missing_tools(sets: Iterable[SetName]) -> list[str]:
    """What must be installed before these sets can be built, a line each."""
    return [
        f"The peers of the set {name} need {TOOLS[name][1]}."
        for name in sorted(set(sets) & TOOLS.keys())
        if not all(shutil.which(tool) for tool in {name, TOOLS[name][0]})
    ]


def stale(name: SetName, root: Path = BUILT) -> bool:
    """Whether the set is missing, or was built from other files."""
    mark = root / name / _MARK
    return not mark.exists() or mark.read_text() != _fingerprint(name)


def build(name: SetName, root: Path = BUILT) -> None:
    """Build the set anew, which takes up to some minutes. Raises SetError."""
    folder, wanted = root / name, _fingerprint(name)
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    _BUILDERS[name](name, folder)
    (folder / _MARK).write_text(wanted)  # last: a build that was cut short is none


def command(name: SetName, program: str, *arguments: str, root: Path = BUILT) -> list[str]:
    """The command line of a program, in its built set."""
    folder = root / name
    if name == "go":
        return [str(folder / program), *arguments]
    if name == "npm":
        return ["node", str(_beside_packages(folder, program)), *arguments]
    return [str(folder / "bin" / "python"), str(PROGRAMS / program), *arguments]


def _beside_packages(folder: Path, program: str) -> Path:
    """Node looks for packages from where a file really stands: the programs are copied there."""
    for source in (PROGRAMS / "npm").glob("*.mjs"):
        shutil.copyfile(source, folder / source.name)
    return folder / Path(program).name


def _python(name: str, folder: Path) -> None:
    _run([sys.executable, "-m", "venv", str(folder)], folder)
    pip = [str(folder / "bin" / "python"), "-m", "pip", "install", "-q"]
    checked = ["--disable-pip-version-check", "--require-hashes", "-r", str(LOCKS / f"{name}.lock")]
    _run([*pip, *checked], folder)


def _npm(name: str, folder: Path) -> None:
    for file in ("package.json", "package-lock.json"):
        shutil.copyfile(LOCKS / name / file, folder / file)
    _run(["npm", "ci", "--silent", "--no-audit", "--no-fund", "--ignore-scripts"], folder)


def _go(name: str, folder: Path) -> None:
    # Read-only: a module that go.sum does not name is an error, never an addition.
    _run(["go", "build", "-mod=readonly", "-o", f"{folder}{os.sep}", "./..."], LOCKS / name)


_BUILDERS: Mapping[str, Callable[[str, Path], None]] = {
    "current": _python,
    "earlier": _python,
    "npm": _npm,
    "go": _go,
}


def _run(line: Sequence[str], folder: Path) -> None:
    try:
        done = subprocess.run(
            line,
            cwd=folder,
            check=False,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=BUILD_SECONDS,
        )
    except subprocess.TimeoutExpired:
        raise SetError(f"`{' '.join(line)}` took more than {BUILD_SECONDS} s") from None
    if done.returncode != 0:
        said = (done.stdout + done.stderr)[-4_000:].strip()
        raise SetError(f"`{' '.join(line)}` in {folder} ended with {done.returncode}:\n{said}")


def _fingerprint(name: SetName) -> str:
    """Of all that the set is built from; for Python of its version too."""
    found = hashlib.sha256()
    for file in _files(name):
        found.update(f"{file.name}\0".encode() + file.read_bytes() + b"\0")
    release = f"python{sys.version_info[0]}.{sys.version_info[1]} " if name not in TOOLS else ""
    return f"{release}{found.hexdigest()}\n"


def _files(name: SetName) -> list[Path]:
    if name == "go":
        return sorted(file for file in (LOCKS / name).rglob("*") if file.is_file())
    if name == "npm":
        return [LOCKS / name / "package.json", LOCKS / name / "package-lock.json"]
    return [LOCKS / f"{name}.lock"]
