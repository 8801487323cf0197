"""One transaction as a slot writes it, and what its stamp tells of the clocks."""

from __future__ import annotations

import time
from typing import Final

from bridge.kafka.clients import ClientSettings
from bridge.kafka.doctor.check import Check
from bridge.kafka.names import transactional_id
from bridge.kafka.transaction import SlotProducer
from bridge.records.outgoing import Outgoing
from bridge.records.topics import Topics

KEY: Final = b"__bridge/doctor"
"""Of the tombstones it writes; readers skip null values of unknown keys, slots fold none."""

_TELLABLE_MS: Final = 50  # less shows as 0.0 s
_CLOCK_MS: Final = 2_000  # more than any commit takes; clocks set by NTP differ by far less


async def look_at_transaction(client: ClientSettings, app_id: str, topics: Topics) -> list[Check]:
    """How long it takes; the brokers' stamp of it is their clock."""
    producer = SlotProducer(client, transactional_id(app_id, topics["state"], "doctor"), 0, topics)
    await producer.start()
    try:
        began, wall = time.monotonic(), time.time_ns() // 1_000_000
        written = await producer.commit(
            [Outgoing("state", KEY, None), Outgoing("approvals", KEY, None)]
        )
        took = time.monotonic() - began
    finally:
        await producer.close()
    checks = [Check("ok", "transaction", f"state and approvals in {took * 1_000:.0f} ms")]
    if written.timestamp is not None:
        checks.append(judge_clock(written.timestamp, wall, wall + round(took * 1_000)))
    return checks


def judge_clock(stamp: int, before: int, after: int) -> Check:
    """A broker's stamp against our clock before and after; all milliseconds since the epoch."""
    ahead = before - stamp if stamp < before else min(0, after - stamp)
    side = "ahead of" if ahead > 0 else "behind"
    found = f"this machine is {abs(ahead) / 1_000:.1f} s {side} the broker"
    if abs(ahead) < _TELLABLE_MS:
        found = "this machine agrees with the broker"
    if abs(ahead) < _CLOCK_MS:
        return Check("ok", "clock", found)
    advice = "deadlines go by the broker's clock: set both by NTP"
    return Check("fail", "clock", found, advice)
