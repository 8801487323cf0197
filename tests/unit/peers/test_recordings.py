"""Every recorded case once more, without its agent: the bridge sends what the agent then took.

A recording is written only of a case that went well, so what is sent otherwise now is a request
that no agent has been seen to take.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from tests.peers.judge import judge
from tests.peers.peer import CASES, Peer
from tests.peers.record.player import Player
from tests.peers.record.recording import path_of
from tests.peers.roll import everybody
from tests.peers.story import play
from tests.unit.peers.slot import Slot
from tests.unit.slot.desk import NOW


def recorded(peer: Peer) -> dict[str, Any]:
    """What `make peers ARGS=--record` wrote of it."""
    found = json.loads(path_of(peer).read_bytes())
    assert isinstance(found, dict)
    return found


def cases() -> Iterator[tuple[Peer, str]]:
    for peer in everybody():
        yield from ((peer, case) for case in CASES if case not in peer.cannot)


def deadline(records: int) -> datetime:
    """Of a question that comes with so many records: some seconds later, each record takes one."""
    return datetime.fromtimestamp(NOW / 1_000, UTC) + timedelta(seconds=records + 4)


@pytest.mark.parametrize("peer", everybody(), ids=lambda peer: peer.name)
def test_every_peer_has_its_recording(peer: Peer) -> None:
    """Of all cases that it can, with its versions."""
    found = recorded(peer)
    assert list(found["cases"]) == [case for case in CASES if case not in peer.cannot]
    assert found["versions"]
    assert datetime.fromisoformat(found["recorded"])


@pytest.mark.parametrize(
    ("peer", "case"), list(cases()), ids=lambda part: getattr(part, "name", part)
)
async def test_a_recorded_case_goes_as_it_went(peer: Peer, case: str) -> None:
    """The same questions, and byte for byte in meaning the same request to the agent."""
    slot = Slot(peer)
    played = await play(peer, case, Player(recorded(peer)["cases"][case], deadline), slot)
    assert judge(peer, played, slot.observed) == []
