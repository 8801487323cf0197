"""A deployment of a test's own: its settings file, and its topics made."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from pathlib import Path

import pytest
from aiokafka.admin import NewTopic

from bridge.cli.main import main
from tests.topics import create_topics


async def settle_in(
    bootstrap: str,
    unique: Callable[[str], str],
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    slots: int,
    more: str = "",
) -> Path:
    """The settings of so many slots with one source, `agents`; any free HTTP port.

    `more` is TOML that goes in besides. Variables of whoever runs the tests are taken away.
    """
    for name in [name for name in os.environ if name.startswith("BRIDGE_")]:
        monkeypatch.delenv(name)
    file = folder / "bridge.toml"
    file.write_text(
        f'app_id = "{unique("app")}"\n'
        f'[kafka]\nbootstrap_servers = "{bootstrap}"\n'
        f'[topics]\nprefix = "{unique("")}"\npartitions = {slots}\n'
        f"[http]\nport = 0\n{more}"
        f'[[sources]]\nname = "agents"\ntopic = "{unique("events")}"\n',
        encoding="utf-8",
    )
    await create_topics(bootstrap, [NewTopic(unique("events"), slots, 1)])
    assert await asyncio.to_thread(main, ["topics", "create", "--config", str(file)]) == 0
    return file
