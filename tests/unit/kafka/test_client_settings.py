"""What the settings of a worker say reaches the clients, in the clients' units."""

from __future__ import annotations

import pytest

from bridge.config import Worker
from bridge.kafka.assignor import SeatAssignor
from bridge.kafka.clients import TRANSACTION_DEADLINE, TRANSACTION_TIMEOUT, lease_consumer
from bridge.kafka.seats import Declaration
from bridge.kafka.setup import SlotTimes
from bridge.kafka.worker import slot_times
from bridge.slot.engine import EngineTimes


def test_a_slots_times_are_those_of_the_settings() -> None:
    """Every time of `[worker]` that a slot knows has its effect."""
    times = slot_times(
        Worker.model_validate(
            {
                "transaction_deadline": "2s",
                "transaction_timeout": "4s",
                "heartbeat": "30m",
                "reroute_grace": "3s",
                "takeover_grace": "1m",
            }
        )
    )
    assert times == SlotTimes(
        transaction_deadline=2.0,
        transaction_timeout=4.0,
        engine=EngineTimes(heartbeat=1_800_000, reroute_grace=3_000, takeover_grace=60_000),
    )


def test_without_settings_the_clients_defaults_hold() -> None:
    """Settings and clients have one arithmetic: request < deadline < timeout."""
    times = slot_times(Worker())
    assert times.transaction_deadline == TRANSACTION_DEADLINE
    assert times.transaction_timeout == TRANSACTION_TIMEOUT
    assert times == SlotTimes()


@pytest.mark.parametrize("session_ms", [600, 6_000, 45_000, 300_000])
def test_a_session_holds_six_heartbeats_and_a_rebalance_waits_for_it(session_ms: int) -> None:
    """Two lost heartbeats cost no seat; a rebalance drops nobody who is believed alive."""
    assignor = SeatAssignor(8, lambda: Declaration("w"), lambda _roster: None)
    role = lease_consumer(assignor, session_ms)
    assert role["session_timeout_ms"] == session_ms
    assert role["heartbeat_interval_ms"] * 6 <= session_ms
    assert role["heartbeat_interval_ms"] <= 1_000
    assert role["rebalance_timeout_ms"] >= max(30_000, session_ms)
