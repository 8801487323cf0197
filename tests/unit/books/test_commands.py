"""The commands that pages show can be typed, and every command is shown."""

from __future__ import annotations

import argparse
import re
import shlex
from collections.abc import Iterator

import pytest

from bridge import errors
from bridge.cli import parser
from bridge.cli.commands import EXIT_CODES
from tests.unit.books.pages import PAGES, ROOT, blocks, prose, rows, section


def commands(tree: argparse.ArgumentParser) -> dict[str, argparse.ArgumentParser]:
    """The subcommands of a parser by name."""
    (action,) = [a for a in tree._actions if isinstance(a, argparse._SubParsersAction)]
    return dict(action.choices)


def shown() -> Iterator[str]:
    """The command lines in blocks and running text."""
    for text in PAGES.values():
        for block in blocks(text, "sh"):
            yield from (line for line in block.splitlines() if line.startswith("interrupt-bridge"))
        yield from re.findall(r"`(interrupt-bridge [^`]+)`", re.sub(r"\s+", " ", prose(text)))


@pytest.mark.parametrize("line", sorted(set(shown())))
def test_command_lines_can_be_typed(line: str) -> None:
    """Options included; an id stands for ID, any word for another placeholder."""
    words = shlex.split(line.replace("…", "why"), comments=True)[1:]
    if len(words) == 1 and words[0] in {"answer", "withdraw"}:
        assert words[0] in commands(parser.build())
        return
    uuid = "faf6703e-aba3-8201-b3a3-5057f251dd62"
    parser.build().parse_args([uuid if word == "ID" else word for word in words])


def test_every_command_is_shown() -> None:
    """Nothing is left for people to find out."""
    everything = "\n".join(PAGES.values())
    for name, command in commands(parser.build()).items():
        nested = [a for a in command._actions if isinstance(a, argparse._SubParsersAction)]
        for path in [f"{name} {inner}" for inner in nested[0].choices] if nested else [name]:
            typed = f"make {path}" if path == "demo" else f"interrupt-bridge {path}"
            assert typed in everything, path


@pytest.mark.parametrize("page", PAGES)
def test_make_targets_exist(page: str) -> None:
    """Those that are named, in blocks and as code."""
    makefile = (ROOT / "Makefile").read_text("utf-8")
    typed = "\n".join([*blocks(PAGES[page], "sh"), *re.findall(r"`(make [^`]+)`", PAGES[page])])
    for target in re.findall(r"\bmake ([a-z]+)\b", typed):
        assert re.search(rf"^{target}:", makefile, re.M), target


def test_exit_codes_are_those_of_the_commands() -> None:
    """The same as `--help` says, and as the errors have."""
    table = {int(number) for number, _ in rows(section("docs/operations.md", "Exit codes"))}
    printed = {int(number) for number in re.findall(r"\b(\d) [a-z]", EXIT_CODES)}
    kinds = [kind for kind in vars(errors).values() if isinstance(kind, type)]
    raised = {kind.exit_code for kind in kinds if issubclass(kind, errors.BridgeError)}
    assert table == printed
    assert raised <= table
