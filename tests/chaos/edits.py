"""Edits that break a log: find a record, then lose, double, move or rewrite it."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from bridge.audit.log import LogRecord, Role
from tests.chaos.written_log import packed

Records = list[LogRecord]


def found(records: Records, role: Role, **members: Any) -> LogRecord:
    """The first record of that role whose JSON body has these members."""
    return next(r for r in records if r.role == role and members.items() <= body(r).items())


def letter(records: Records, reason: bytes) -> LogRecord:
    return next(r for r in records if ("bridge-reason", reason) in r.headers)


def body(record: LogRecord) -> dict[str, Any]:
    try:
        loaded = json.loads(record.value or b"{}")
    except ValueError:
        return {}
    return loaded if isinstance(loaded, dict) else {}


def without(records: Records, gone: LogRecord) -> Records:
    return [record for record in records if record is not gone]


def again(records: Records, record: LogRecord) -> Records:
    """The same record once more, at the end of its partition."""
    same = [r.offset for r in records if (r.role, r.partition) == (record.role, record.partition)]
    return [*records, record._replace(offset=max(same) + 1)]


def changed(records: Records, record: LogRecord, edit: Callable[[dict[str, Any]], Any]) -> Records:
    """The log with an edited body in that record's place."""
    edited = body(record)
    edit(edited)
    return [r._replace(value=packed(edited)) if r is record else r for r in records]


def setting(role: Role, where: dict[str, Any], **new: Any) -> Callable[[Records], Records]:
    return lambda log: changed(log, found(log, role, **where), lambda b: b.update(new))


def dropping(role: Role, **where: Any) -> Callable[[Records], Records]:
    return lambda log: without(log, found(log, role, **where))


def doubling(role: Role, **where: Any) -> Callable[[Records], Records]:
    return lambda log: again(log, found(log, role, **where))


def entry_set(index: int, **new: Any) -> Callable[[Records], Records]:
    """Edits an entry of the refund thread's command."""
    return lambda log: changed(
        log,
        found(log, "resume-commands", thread_id="thread-refund"),
        lambda b: b["entries"][index].update(new),
    )


def moved(role: Role, **where: Any) -> Callable[[Records], Records]:
    """Puts a record on the other slot's partition."""

    def move(log: Records) -> Records:
        record = found(log, role, **where)
        away = record._replace(partition=1 - record.partition, offset=10_000)
        return [*without(log, record), away]

    return move


def refused_as(log: Records, letter: LogRecord, reason: bytes) -> Records:
    """The dead letter with another reason."""
    headers = [(n, reason if n == "bridge-reason" else value) for n, value in letter.headers]
    return [r._replace(headers=tuple(headers)) if r is letter else r for r in log]


def with_value(role: Role, index: int, value: bytes) -> Callable[[Records], Records]:
    def put(log: Records) -> Records:
        record = [r for r in log if r.role == role][index]
        return [r._replace(value=value) if r is record else r for r in log]

    return put


def every(role: Role, where: dict[str, Any], **new: Any) -> Callable[[Records], Records]:
    """Sets members in every matching record."""

    def edit(log: Records) -> Records:
        for record in [r for r in log if r.role == role and where.items() <= body(r).items()]:
            log = changed(log, record, lambda b: b.update(new))
        return log

    return edit
