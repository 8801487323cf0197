"""The settings that pages show are those of the code, and load."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from bridge.config import load
from bridge.protocols import PROTOCOLS
from tests.unit.books.config_keys import config_keys
from tests.unit.books.pages import PAGES, blocks, code, tables

TABLE = [row for table in tables(PAGES["docs/configuration.md"]) for row in table]
SHOWN = [(page, text) for page in PAGES for text in blocks(PAGES[page], "toml")]


def test_every_setting_is_in_the_table_with_its_default() -> None:
    """And nothing that is none."""
    assert {code(key): default for key, default, _ in TABLE} == config_keys()


def test_every_protocol_is_named() -> None:
    """A release that reads another one must say so, there and in what it does not do."""
    (meaning,) = [row[2] for row in TABLE if row[0] == "`sources[].protocol`"]
    assert set(re.findall(r"`([^`]+)`", meaning)) == set(PROTOCOLS)


@pytest.mark.parametrize(("page", "text"), SHOWN, ids=[page for page, _ in SHOWN])
def test_settings_shown_are_accepted(page: str, text: str, tmp_path: Path) -> None:
    """What people copy must load."""
    file = tmp_path / "bridge.toml"
    file.write_text(text, "utf-8")
    config = load(file, {})
    config.require_sources()
    assert config.sources
