"""What the architecture page says of rooms, rules, invariants and functions is so."""

from __future__ import annotations

import ast
import re

import pytest

import bridge.kafka
from bridge.audit.invariants import INVARIANTS
from bridge.slot import birth
from bridge.slot import state_codec as codec
from tests.unit.books.pages import PAGES, ROOT, code, rows, section
from tests.unit.test_house import MAY_IMPORT

PAGE = "docs/architecture.md"
FUNCTION = re.compile(r"`(bridge/[\w/]+\.py):(\w+)`")
NAMED = sorted({(page, *named) for page in PAGES for named in FUNCTION.findall(PAGES[page])})


@pytest.mark.parametrize(
    ("page", "title"), [(PAGE, "Rooms"), ("CONTRIBUTING.md", "Where things are")]
)
def test_the_rooms_are_those_whose_imports_are_held(page: str, title: str) -> None:
    """Each with what it may import, in the last column."""
    table = rows(section(page, title))
    assert {code(row[0]): set(re.findall(r"`(\w+)`", row[-1])) for row in table} == MAY_IMPORT


def test_the_rules_of_kafka_are_those_that_comments_call() -> None:
    """By number, none left out."""
    rules = [row[0] for row in rows(section(PAGE, "Rules of Kafka"))]
    assert rules == re.findall(r"^(R\d+)\b", bridge.kafka.__doc__ or "", re.M)


def test_the_invariants_are_judged_where_the_table_says() -> None:
    """Whoever is shown one finds here what it says, and the rules that found it."""
    found: dict[str, set[str]] = {promise.name: set() for promise in INVARIANTS}
    for path in (ROOT / "bridge" / "audit").rglob("*.py"):
        for name in re.findall(r"\"(I\d+)\"", path.read_text("utf-8")):
            found[name].add(path.name)
    table = rows(section(PAGE, "Invariants"))
    judged = {name: {*re.findall(r"`(\w+\.py)`", cell)} for name, _, cell in table}
    assert judged == {name: files - {"invariants.py"} for name, files in found.items()}


def test_the_promises_are_those_that_audit_prints() -> None:
    """Word for word."""
    table = {name: promise for name, promise in rows(section("docs/audit.md", "What it judges"))}
    assert table == {promise.name: promise.promise for promise in INVARIANTS}


def test_the_keys_of_the_state_are_those_that_are_written() -> None:
    """By their first part."""
    keys = {code(row[0]).partition("/")[0] for row in rows(section(PAGE, "The state record"))}
    written = [codec.RUN_PREFIX, codec.PARKED_PREFIX, codec.CARRY_PREFIX, codec.POSITION_PREFIX]
    assert keys == {key.decode().rstrip("/") for key in (*written, codec.META_KEY, birth.PREFIX)}


def test_the_life_of_an_answer_has_fifteen_steps() -> None:
    """Short enough to be followed."""
    steps = re.findall(r"^(\d+)\. ", section(PAGE, "The life of an answer"), re.M)
    assert steps == [str(number) for number in range(1, 16)]


@pytest.mark.parametrize(("page", "path", "name"), NAMED)
def test_functions_that_are_named_exist(page: str, path: str, name: str) -> None:
    """In the file that is named with them; so a page cannot speak of yesterday's code."""
    tree = ast.parse((ROOT / path).read_text("utf-8"))
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
    names = {node.name for node in ast.walk(tree) if isinstance(node, kinds)}
    assert name in names, f"{page}: {path}:{name}"
