"""How far a reader hops: private helpers that are named once in their file, room by room.

`python -m tests.house` prints the table and, with a room's name, which helpers these are.
A helper used twice, or with a name that others know, has earned its place; one that is called from
one place sends the reader up and down, unless it says something of its own.
"""

from __future__ import annotations

import ast
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple

PACKAGE: Final = Path(__file__).parents[1] / "bridge"


class Function(NamedTuple):
    """A function or method of the package; `once`: private, and named in one other place."""

    room: str
    place: str
    once: bool


def functions() -> Iterator[Function]:
    """Every function of the package."""
    for path in sorted(PACKAGE.rglob("*.py")):
        tree = ast.parse(path.read_text("utf-8"))
        named = Counter(_names(tree))
        room = path.relative_to(PACKAGE).parts[0].removesuffix(".py")
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                private = node.name.startswith("_") and not node.name.startswith("__")
                place = f"{path.relative_to(PACKAGE)}:{node.lineno} {node.name}"
                once = private and named[node.name] <= 1 and not _is_validator(node)
                yield Function(room, place, once)


def shares() -> dict[str, tuple[int, int]]:
    """By room: how many helpers are named once, of how many functions."""
    rooms: dict[str, tuple[int, int]] = {}
    for function in functions():
        once, all_ = rooms.get(function.room, (0, 0))
        rooms[function.room] = (once + function.once, all_ + 1)
    return rooms


def _names(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Name):
            yield node.id
        elif isinstance(node, ast.Attribute):
            yield node.attr


def _is_validator(node: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """Whether pydantic calls it by its decorator: nobody hops there from anywhere."""
    return any(name.endswith("_validator") for each in node.decorator_list for name in _names(each))


def main(rooms: list[str]) -> None:
    """The table, and the helpers of the rooms named."""
    table = shares()
    table["all"] = tuple(map(sum, zip(*table.values(), strict=True)))  # type: ignore[assignment]
    for room, (once, all_) in sorted(table.items()):
        print(f"{room:10} {once:4} of {all_:4}  {once / all_:4.0%}")
    for function in functions():
        if function.room in rooms and function.once:
            print(function.place)


if __name__ == "__main__":
    main(sys.argv[1:])
