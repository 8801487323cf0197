"""A producer that checks nothing: what it writes, brokers take and clients cannot decode."""

from __future__ import annotations

import asyncio
import struct
import time
from collections.abc import Sequence

from aiokafka.record.default_records import DefaultRecordBatchBuilder
from aiokafka.record.util import calc_crc32c

_NAME, _NO_TEXT = b"zz", b"\xff\xfe"
_CRC_AT, _SUMMED_FROM = 17, 21


async def write_unreadable(
    bootstrap: str, topic: str, partition: int, values: Sequence[bytes], bad: int
) -> None:
    """One batch of these values; the name of a header of number `bad` is not UTF-8."""
    builder = DefaultRecordBatchBuilder(
        magic=2,
        compression_type=0,
        is_transactional=False,
        producer_id=-1,
        producer_epoch=-1,
        base_sequence=-1,
        batch_size=1 << 20,
    )
    now = time.time_ns() // 1_000_000
    for number, value in enumerate(values):
        headers = [(_NAME.decode(), b"")] if number == bad else []
        builder.append(number, now, None, value, headers)
    batch = bytearray(bytes(builder.build()).replace(_NAME, _NO_TEXT))
    batch[_CRC_AT:_SUMMED_FROM] = struct.pack(">I", calc_crc32c(bytes(batch[_SUMMED_FROM:])))
    await _produce(bootstrap, topic, partition, bytes(batch))


async def _produce(bootstrap: str, topic: str, partition: int, batch: bytes) -> None:
    """A Produce request of version 3, acknowledged by all."""
    name = topic.encode()
    body = struct.pack(">hhihhhii", 0, 3, 1, -1, -1, -1, 5_000, 1)
    body += struct.pack(f">h{len(name)}siii", len(name), name, 1, partition, len(batch)) + batch
    host, port = bootstrap.split(":")
    async with asyncio.timeout(10):
        reader, writer = await asyncio.open_connection(host, int(port))
        writer.write(struct.pack(">i", len(body)) + body)
        (size,) = struct.unpack(">i", await reader.readexactly(4))
        reply = await reader.readexactly(size)
        writer.close()
    answered = 4 + 4 + 2 + len(name) + 4 + 4  # correlation, topics, name, partitions, partition
    (code,) = struct.unpack_from(">h", reply, answered)
    assert code == 0, f"the broker refused the batch: error {code}"
