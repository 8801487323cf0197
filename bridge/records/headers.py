"""Headers of the bridge's own records: content type, CloudEvents (binary mode), trace context."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache

from bridge.core.record import Header

NAMESPACE = "interrupt_bridge.v1"

_TRACEPARENT = re.compile(
    rb"(?!ff)[0-9a-f]{2}-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}"
)
_TRACESTATE_MAX = 512  # what a vendor must at least pass on; longer ones may be dropped whole


def event_headers(content_type: bytes, kind: str, event_id: str | None) -> tuple[Header, ...]:
    """The content type of a record, and for one that has an event id what CloudEvents wants."""
    if event_id is None:
        return (("content-type", content_type),)
    return (*_constant(content_type, kind), ("ce_id", event_id.encode()))


@cache
def _constant(content_type: bytes, kind: str) -> tuple[Header, ...]:
    """Built once for each kind of record: only the event id changes."""
    return (
        ("content-type", content_type),
        ("ce_specversion", b"1.0"),
        ("ce_type", f"{NAMESPACE}.{kind}".encode()),
        ("ce_source", b"interrupt-bridge"),
    )


def trace_context(headers: Iterable[Header]) -> tuple[Header, ...]:
    """W3C `traceparent` and `tracestate` to pass on; nothing unless the former is well formed.

    Of a repeated header the first counts. Version 00 has exactly four parts; a later version may
    have more, and is not passed on because what follows is not known to be harmless.
    """
    found: dict[str, bytes] = {}
    for name, value in headers:
        if name in {"traceparent", "tracestate"}:
            found.setdefault(name, value)
    parent = found.get("traceparent")
    if parent is None or not _TRACEPARENT.fullmatch(parent):
        return ()
    state = found.get("tracestate")
    if not state or len(state) > _TRACESTATE_MAX or not state.isascii():
        return (("traceparent", parent),)
    return (("traceparent", parent), ("tracestate", state))
