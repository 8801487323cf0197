"""Takes from topics what a check holds in memory: all of it, or one thread's; never too much."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Collection

from bridge.audit import ids, text
from bridge.audit.log import LogRecord, Place, Role
from bridge.audit.reader import Progress, Topics
from bridge.audit.story import header_origin, place_of

_FROM_OUTPUTS: tuple[Role, ...] = ("answer-verdicts", "dead-letters", "reroute")


class TooManyRecords(Exception):
    """More records than a check may hold."""


async def collect(
    topics: Topics,
    *,
    thread: str | None = None,
    most: int | None = None,
    progress: Progress | None = None,
) -> list[LogRecord]:
    """All records, or those that may concern a thread. Raises TooManyRecords for more than `most`.

    A thread's are found by its id and by the places that its outputs name, so the topics are read
    in three goes then: what was published, what was put in, and what came of that.
    """
    read: AsyncIterator[LogRecord | None] = topics.records(topics.roles)
    if thread is not None:
        read = _of_thread(topics, thread)
    held: list[LogRecord] = []
    seen = 0
    async for record in read:
        seen += 1
        if progress is not None and seen % 1_000 == 0:
            progress(seen, topics.size(topics.roles))
        if record is not None:
            held.append(record)
            if most is not None and len(held) > most:
                raise TooManyRecords(f"more than {most} records")
    return held


async def _of_thread(topics: Topics, thread: str) -> AsyncIterator[LogRecord | None]:
    """Each record that is held, None for one that is not."""
    # As it is, with JSON's escapes, so in a JSON text inside JSON, and by the hash that the ids of
    # its approvals begin with.
    plain, quoted = thread.encode(errors="surrogatepass"), json.dumps(thread)[1:-1].encode()
    escaped = quoted.replace(b"\\", b"\\\\")
    names = (plain, quoted, escaped, b"%08x-" % ids.murmur2(plain))
    inputs = [topic for topic, role in topics.roles.items() if role in _GIVEN]
    published = [topic for topic in topics.roles if topic not in inputs]
    origins: set[Place] = set()
    places: set[Place] = set()
    async for record in topics.records(published):
        held = _mentions(record, names)
        if held:
            places.add(record.place)
            origins.add(origin_of(record))
        yield record if held else None
    async for record in topics.records(inputs):
        held = record.place in origins or _mentions(record, names)
        if held:
            places.add(record.place)
        yield record if held else None
    again = [topic for topic, role in topics.roles.items() if role in _FROM_OUTPUTS]
    async for record in topics.records(again):
        held = record.place not in places and origin_of(record) in places
        yield record if held else None


_GIVEN: Collection[Role] = ("input", "answers", "operations")


def origin_of(record: LogRecord) -> Place:
    """The place of the input that a published record is about."""
    if record.role in ("dead-letters", "reroute"):
        return header_origin(record)
    body = text.peek(record.value or b"")
    return place_of(body.get("origin") if isinstance(body, dict) else None)


def _mentions(record: LogRecord, names: tuple[bytes, ...]) -> bool:
    value, key = record.value or b"", record.key or b""
    return any(name in value or name in key for name in names)
