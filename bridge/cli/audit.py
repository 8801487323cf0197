"""`audit`: which promise does the log break? Reads all topics, judges them, writes nothing."""

from __future__ import annotations

import argparse
import asyncio
import sys
import time
from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import timedelta
from typing import Any, Final

import msgspec

from bridge.audit.checker import check
from bridge.audit.collecting import TooManyRecords, collect
from bridge.audit.invariants import INVARIANTS, Invariant
from bridge.audit.log import JUDGED, LogRecord, Positions, Role, Setup, Source, Violation, text_of
from bridge.audit.reader import opened
from bridge.audit.report import Report
from bridge.audit.scope import WORDS
from bridge.cli.positions import inputs
from bridge.cli.settings import settings
from bridge.config import Config
from bridge.console.json_lines import write_line
from bridge.errors import ConfigError, TopicsWrong
from bridge.kafka.positions import standings
from bridge.kafka.quorum import cluster_time
from bridge.observe.logs import escape
from bridge.records.instants import rfc3339

BROKEN: Final = 4
"""The exit code where a promise is broken, as where an answer was not accepted."""

# A transaction's markers reach its partitions one after the other, within milliseconds: what the
# stored positions count as done is to be seen on every topic before their ends are asked for.
_MARKERS_SECONDS: Final = 1.0
_LINES_SECONDS: Final = 5.0  # between two lines of progress where nobody sees one change
_PLACES_SHOWN: Final = 8


def run(arguments: argparse.Namespace) -> int:
    """Print the report; 4 where a promise is broken. Raises ConfigError, ClusterError."""
    config = settings(arguments)
    config.require_sources()
    audit = Audit(config, arguments.thread, arguments.settle, arguments.max_records)
    asyncio.run(audit.read(arguments.since))
    report = audit.judged()
    if arguments.json:
        write_line(msgspec.json.encode(_members(audit, report)))
    else:
        print("\n".join(escape(line) for line in lines(audit, report)))
    return 0 if report.ok else BROKEN


class Audit:
    """One reading of a cluster, and what is known of the moment when it was read."""

    def __init__(self, config: Config, thread: str | None, settle: float, most: int) -> None:
        """`settle` in seconds: what is younger is in flight."""
        self._config = config
        self._most = most
        self._thread = thread
        self.records: list[LogRecord] = []
        self.seconds = 0.0
        names = config.topics.names()
        topics: dict[str, Role] = {names[role]: role for role in JUDGED}
        topics |= {name: "input" for source in config.sources for name in source.topic_names}
        self.setup = Setup(
            sources={
                name: Source(
                    name=source.name,
                    protocol=source.protocol,
                    options=source.options,
                    pointer=source.event_pointer,
                    enveloped=source.continuity,
                )
                for source in config.sources
                for name in source.topic_names
            },
            slots=config.topics.partitions,
            json_depth=config.limits.json_depth,
            record_bytes=config.limits.record_bytes,
            compacted=True,
            remembered_ms=min(source.policy().run.closed_retention for source in config.sources),
            in_flight_ms=round(settle * 1_000),
            topics=topics,
            late_starts=frozenset(
                name
                for source in config.sources
                if source.start_at != "earliest"
                for name in source.topic_names
            ),
            thread=thread,
        )

    async def read(self, since: int | timedelta | None) -> None:
        """Read the topics, from an instant in milliseconds or from so long ago."""
        began = time.monotonic()
        client = self._config.kafka.client_kwargs()
        positions = await self._positions(client)
        await asyncio.sleep(_MARKERS_SECONDS)
        now = await cluster_time(client) or round(time.time() * 1_000)
        if isinstance(since, timedelta):
            since = now - round(since.total_seconds() * 1_000)
        progress = _Progress()
        try:
            async with opened(self.setup.topics, since=since, **client) as topics:
                self.records = await collect(
                    topics, thread=self._thread, most=self._most, progress=progress
                )
        except LookupError as error:
            raise TopicsWrong(f"{error}: run interrupt-bridge topics check") from None
        except TooManyRecords as error:
            raise ConfigError(
                f"{error} would have to be held in memory: give --since or --thread, or more "
                "--max-records (a hundred thousand take about 500 MB)"
            ) from None
        finally:
            progress.end()
        self.setup = replace(
            self.setup,
            now=now,
            begins=dict(topics.begins),
            positions=positions,
            positions_after=await self._positions(client),
        )
        self.seconds = time.monotonic() - began

    async def _positions(self, client: Mapping[str, Any]) -> Positions:
        return {
            (at.topic, at.partition): at.position
            for at in await standings(client, inputs(self._config))
            if at.position is not None
        }

    def judged(self) -> Report:
        """What the rules say of it."""
        return check(self.records, self.setup)

    @property
    def bytes(self) -> int:
        """Of the values that are held."""
        return sum(len(record.value or b"") for record in self.records)

    @property
    def complete_since(self) -> int | None:
        """From when on every topic has all its records; None: from the beginning."""
        now = self.setup.now or 0
        begins = self.setup.begins.values()
        return max((now if b.since is None else b.since for b in begins), default=None)


class _Progress:
    """Shows how far the reading is, on stderr: one line that changes, or a few."""

    def __init__(self) -> None:
        self._is_terminal = sys.stderr.isatty()
        self._shown_at = time.monotonic()

    def __call__(self, done: int, of: int) -> None:
        now = time.monotonic()
        if now - self._shown_at < (0.2 if self._is_terminal else _LINES_SECONDS):
            return
        self._shown_at = now
        text = f"read {done} of about {of} records"
        begin, end = ("\r\x1b[K", "") if self._is_terminal else ("", "\n")
        print(f"{begin}{text}", end=end, file=sys.stderr, flush=True)

    def end(self) -> None:
        if self._is_terminal:
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)


def lines(audit: Audit, report: Report) -> Iterator[str]:
    """The report for people: what was read, what was judged, and each promise with its breaches."""
    size = audit.bytes / 1_000_000
    since = audit.complete_since
    whole = "" if since is None else f", complete since {rfc3339(since)}"
    yield f"read        {len(audit.records)} records, {size:.1f} MB{whole}"
    for (noun, why), count in sorted(report.unjudged.items()):
        if why != "other_thread":
            yield f"not judged  {count} {noun}: {WORDS[why]}"
    for invariant in INVARIANTS:
        found = [v for v in report.violations if v.invariant == invariant.name]
        state = "BROKEN" if found else "holds" if invariant.judged_of else "unseen"
        yield f"{invariant.name:4}{state:8}{invariant.promise} ({_judged(invariant, report)})"
        for violation in found:
            yield f"      {violation.message} [{', '.join(violation.ids)}]"
            yield from (f"        {text_of(place)}" for place in violation.places[:_PLACES_SHOWN])
            if (more := len(violation.places) - _PLACES_SHOWN) > 0:
                yield f"        and {more} more records"
    broken = ", ".join(sorted(report.broken, key=lambda name: int(name[1:])))
    yield f"{len(report.violations)} breaches of {broken}" if broken else "no promise is broken"


def _judged(invariant: Invariant, report: Report) -> str:
    counts = (f"{report.judged.get(noun, 0)} {noun}" for noun in invariant.judged_of)
    return ", ".join(counts) or invariant.unseen


def _members(audit: Audit, report: Report) -> dict[str, Any]:
    setup, since = audit.setup, audit.complete_since
    return {
        "ok": report.ok,
        "read_at": rfc3339(setup.now or 0),
        "complete_since": None if since is None else rfc3339(since),
        "thread": setup.thread,
        "records": len(audit.records),
        "bytes": audit.bytes,
        "seconds": round(audit.seconds, 3),
        "judged": dict(report.judged),
        "not_judged": [
            {"what": noun, "why": why, "count": count}
            for (noun, why), count in sorted(report.unjudged.items())
        ],
        "runs": dict(report.outcomes),
        "verdicts": dict(report.verdicts),
        "dead_letters": dict(report.reasons),
        "invariants": [_invariant(invariant, report) for invariant in INVARIANTS],
    }


def _invariant(invariant: Invariant, report: Report) -> dict[str, Any]:
    found = [v for v in report.violations if v.invariant == invariant.name]
    return {
        "name": invariant.name,
        "promise": invariant.promise,
        "holds": not found if invariant.judged_of else None,
        "judged": {noun: report.judged.get(noun, 0) for noun in invariant.judged_of},
        "violations": [_violation(violation) for violation in found],
    }


def _violation(violation: Violation) -> dict[str, Any]:
    names = ("topic", "partition", "offset")
    return {
        "message": violation.message,
        "ids": list(violation.ids),
        "places": [dict(zip(names, place, strict=True)) for place in violation.places],
    }
