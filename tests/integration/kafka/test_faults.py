"""All rules at once: a slot counts while its broker is killed and paused and its seat is taken."""

from __future__ import annotations

import asyncio

from bridge.demo.broker import DevBroker
from tests.integration.kafka.slots import Slot, approval, state


async def count_on(slot: Slot, stop: asyncio.Event) -> int:
    """An owner as the rules want it: fence, restore, go on from there; how often it reopened."""
    reopened = 0
    while not stop.is_set():
        try:
            async with slot.opened(deadline=2.0) as producer:
                read = await slot.restored()
                number = int(read.batches[-1].value) + 1 if read.batches else 0
                while not stop.is_set():
                    value = b"%d" % number
                    await producer.commit([state(b"n", value), approval(b"n", value)])
                    number += 1
        except Exception:  # R7: whatever it was, the log says where to go on
            reopened += 1
            await asyncio.sleep(0.1)
    return reopened


async def hurt(broker: DevBroker, slot: Slot) -> None:
    """A crash, a pause longer than the deadline, and another owner who looks in."""
    await asyncio.sleep(1)
    await asyncio.to_thread(broker.kill)
    await asyncio.to_thread(broker.restart)
    await asyncio.sleep(2)
    broker.pause()
    await asyncio.sleep(4)
    broker.cont()
    await asyncio.sleep(2)
    async with slot.opened():
        await asyncio.sleep(0.5)
    await asyncio.sleep(2)


async def test_no_number_is_lost_doubled_or_out_of_order(slot: Slot, broker: DevBroker) -> None:
    """State and output hold 0, 1, 2, … whatever the broker did in between."""
    stop = asyncio.Event()
    counting = asyncio.create_task(count_on(slot, stop))
    try:
        await hurt(broker, slot)
    finally:
        stop.set()
        reopened = await counting
    async with slot.opened():
        values = await slot.visible(slot.state)
    assert reopened >= 2
    assert len(values) > 50
    assert values == [b"%d" % number for number in range(len(values))]
    assert await slot.visible(slot.approvals) == values
