"""The rules of the house that a reader relies on: sizes, directions, what is never committed."""

from __future__ import annotations

import ast
import functools
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "bridge"
LONGEST_FUNCTION = 50
LONGEST_FILE = 350

# Who may import whom, beside itself. Arrows point one way:
# cli → demo → kafka → slot → (protocols, records) → core. `observe` is called and never calls.
_BELOW_KAFKA = {"core", "errors", "observe", "protocols", "records", "slot", "config"}
MAY_IMPORT: dict[str, set[str]] = {
    "core": set(),
    "errors": set(),
    "observe": {"core", "errors"},  # the names of what is counted
    "protocols": {"core"},
    "records": {"core", "errors"},
    "slot": {"core", "errors", "protocols", "records"},
    "testing": {"config", "core", "errors", "protocols", "records", "slot"},
    "audit": set(),  # a checker that shares code with what it checks would share its mistakes
    "config": {
        "core",
        "errors",
        "protocols",
        "records",
        "slot",
    },  # which protocols and topics there are
    "console": {"core", "errors", "observe", "records"},
    "kafka": _BELOW_KAFKA,
    "demo": {*_BELOW_KAFKA, "audit", "kafka", "console"},
    "cli": {*_BELOW_KAFKA, "audit", "kafka", "console", "demo"},
}
# The rules take time and identity as values: neither clock, chance nor I/O can reach them.
IMPURE = {
    *("aiokafka", "asyncio", "logging", "os", "pathlib", "random", "secrets", "socket"),
    *("subprocess", "threading", "time"),
}
# Written in two pieces, or this file would be the first offender.
REGISTRY_HOSTS = [
    "".join(pieces)
    for pieces in (
        ("pypi", ".org"),
        ("files.python", "hosted.org"),
        ("repo.maven", ".apache.org"),
        ("repo1", ".maven.org"),
        ("registry.npm", "js.org"),
        ("proxy.golang", ".org"),
    )
]


@functools.cache
def modules() -> dict[Path, ast.Module]:
    return {path: ast.parse(path.read_text("utf-8")) for path in sorted(PACKAGE.rglob("*.py"))}


def imported(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"line {node.lineno}: imports are absolute here"
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def room(path: Path) -> str:
    """The part of the package a file belongs to: `core`, `kafka`, …, `errors`."""
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


def tracked() -> Iterator[tuple[str, str]]:
    if shutil.which("git") is None or not (ROOT / ".git").exists():
        pytest.skip("only a git checkout knows which files are tracked")
    listed = subprocess.run(
        ["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    for name in listed.stdout.split("\0"):
        path = ROOT / name
        if name and path.is_file():
            yield name, path.read_bytes().decode("utf-8", errors="replace")


def test_every_part_has_its_place() -> None:
    """A new part of the package must say what it may import, in the table above."""
    assert {room(path) for path in modules()} - {"__init__"} <= MAY_IMPORT.keys()


def test_arrows_between_packages_point_one_way() -> None:
    """A part imports only what lies below it."""
    wrong = [
        f"{path.relative_to(ROOT)} imports {name}"
        for path, tree in modules().items()
        if (own := room(path)) in MAY_IMPORT
        for name in imported(tree)
        if name.startswith("bridge.") and name.split(".")[1] not in {own, *MAY_IMPORT[own]}
    ]
    assert not wrong, "\n".join(wrong)


def test_rules_and_engine_reach_neither_clock_nor_chance_nor_io() -> None:
    """What `decide` says, and what a cycle writes, depends on arguments alone."""
    wrong = [
        f"{path.relative_to(ROOT)} imports {name}"
        for path, tree in modules().items()
        if room(path) in ("core", "slot")
        for name in imported(tree)
        if name.split(".")[0] in IMPURE
    ]
    assert not wrong, "\n".join(wrong)


def private_names() -> set[str]:
    """What the package calls by a name that begins with one underscore."""
    found: set[str] = set()
    for tree in modules().values():
        for node in ast.walk(tree):
            if isinstance(node, ast.Attribute | ast.Name) and isinstance(node.ctx, ast.Store):
                found.add(node.attr if isinstance(node, ast.Attribute) else node.id)
            elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                found.add(node.name)
    return {name for name in found if re.match(r"_[^_]", name)}


def private_uses(tree: ast.Module, private: set[str]) -> Iterator[tuple[int, str]]:
    """Line and text of what reaches for such a name: by attribute, by import, or by patching it."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and node.attr in private:
            own = isinstance(node.value, ast.Name) and node.value.id in ("self", "cls")
            if not own:
                yield node.lineno, ast.unparse(node)
        elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith("bridge"):
            yield from ((node.lineno, a.name) for a in node.names if a.name.startswith("_"))
        elif isinstance(node, ast.Call) and ast.unparse(node.func).endswith("setattr"):
            for text in (a.value for a in node.args if isinstance(a, ast.Constant)):
                if str(text).rpartition(".")[2] in private:
                    yield node.lineno, ast.unparse(node)


# aiokafka's own, which has the same name as something of ours; and a namedtuple's method.
NOT_OURS = {"consumer._closed", "_replace"}


def test_tests_reach_public_names_only() -> None:
    """A test that holds on to the inside of a class keeps anybody from changing it."""
    private = private_names()
    assert {"_engine", "_fold_run", "_TURN"} <= private, "it would find nothing"
    wrong = [
        f"{path.relative_to(ROOT)}:{line} {text}"
        for path in sorted((ROOT / "tests").rglob("*.py"))
        for line, text in private_uses(ast.parse(path.read_text("utf-8")), private)
        if text not in NOT_OURS and text.rpartition(".")[2] not in NOT_OURS
    ]
    assert not wrong, "\n".join(wrong)


def test_functions_and_files_stay_short() -> None:
    """One noun a file, one thought a function."""
    long = [
        f"{path.relative_to(ROOT)}:{node.lineno} {node.name}: {length} lines"
        for path, tree in modules().items()
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and (length := (node.end_lineno or node.lineno) - node.lineno + 1) > LONGEST_FUNCTION
    ]
    long += [
        f"{path.relative_to(ROOT)}: {length} lines"
        for path in modules()
        if (length := len(path.read_text("utf-8").splitlines())) > LONGEST_FILE
    ]
    assert not long, "\n".join(long)


def test_every_module_says_what_lives_in_it() -> None:
    """A reader who opens a file learns first what it is for."""
    silent = [
        str(path.relative_to(ROOT))
        for path, tree in modules().items()
        if tree.body and not ast.get_docstring(tree)
    ]
    assert not silent, "\n".join(silent)


def test_no_registry_host_is_committed() -> None:
    """Where packages come from is the machine's business; the lock holds hashes and no address."""
    wrong = [
        f"{name}: {host}" for name, text in tracked() for host in REGISTRY_HOSTS if host in text
    ]
    assert not wrong, "\n".join(wrong)
    assert "://" not in (ROOT / "requirements.lock").read_text("utf-8")


def test_no_path_of_a_developers_machine_is_committed() -> None:
    """What works only where it was written does not work."""
    own = re.compile(rf"{re.escape(str(ROOT))}/|(?<![\w.~}}-])/(?:root|home/(?!bridge/)[\w.-]+)/")
    wrong = [f"{name}: {hit[0]}" for name, text in tracked() if (hit := own.search(text))]
    assert not wrong, "\n".join(wrong)
