"""A source's settings for its AG-UI agents, and what is wrong with wrong ones."""

from __future__ import annotations

from typing import Any

import pytest

from bridge.protocols import configured
from bridge.protocols.ag_ui.options import Options, read_options


@pytest.mark.parametrize(
    ("options", "named"),
    [
        ({"agents": "x"}, "no option agents; there are agent, agent_pointer, legacy"),
        ({"agent": 1}, "agent must be a text"),
        ({"agent_pointer": ["metadata"]}, "agent_pointer must be a text"),
        ({"agent_pointer": "metadata/agentId"}, "like /metadata/agentId"),
        ({"agent_pointer": "/a~2"}, "agent_pointer must be a JSON Pointer"),
        ({"agent": "a", "agent_pointer": "/b"}, "either agent, for every event, or agent_pointer"),
        ({"legacy": "no"}, "legacy must be true or false"),
        ({"legacy_refusal": {1, 2}}, "legacy_refusal must be JSON"),
        ({"legacy_refusal": float("nan")}, "legacy_refusal must be JSON"),
        ({"legacy": False, "legacy_refusal": False}, "legacy = false does not read"),
    ],
)
def test_wrong_settings_are_refused_by_name(options: dict[str, Any], named: str) -> None:
    with pytest.raises(ValueError, match="ag-ui") as refused:
        configured("ag-ui", options)
    assert named in str(refused.value)


def test_settings_are_ready_to_use() -> None:
    assert read_options({}) == Options()
    assert read_options({"agent_pointer": "/a~1b/~01/"}).agent_pointer == ("a/b", "~1", "")
    assert read_options({"legacy_refusal": {"grund": "zu spät"}}).legacy_refusal == (
        '{"grund":"zu spät"}'.encode()
    )
