"""`encode` and `decode`: records to what a Kafka client sends, and back.

A record says by its content type which encoding it is in; without one it is JSON.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, Protocol, overload

import msgspec

from bridge.core.record import Header
from bridge.records.approval import Approval
from bridge.records.dead_letter import DeadLetter
from bridge.records.encoding import AnyRecord, Encoding, NotARecord, Published, Submitted
from bridge.records.json_encoding import CONTENT_TYPE, JSON

ENCODINGS: Final[Mapping[bytes, Encoding]] = {CONTENT_TYPE: JSON}
"""By content type."""

_MARK: Final = b"__"


class KafkaRecord(Protocol):
    """What `decode` reads of a record; those of aiokafka and kafka-python are of this shape."""

    @property
    def key(self) -> bytes | None: ...
    @property
    def value(self) -> bytes | None: ...
    @property
    def headers(self) -> Sequence[Header]: ...


class Encoded(msgspec.Struct, frozen=True, gc=False):
    """A record as a Kafka client sends it.

    With a client that has methods instead of attributes, make one to decode:
    `Encoded(m.key(), m.value(), m.headers() or ())`.
    """

    key: bytes | None
    value: bytes | None
    headers: Sequence[Header] = ()


def encode(
    record: Published | Submitted | DeadLetter,
    encoding: Encoding = JSON,
    trace: tuple[Header, ...] = (),
) -> Encoded:
    """Key, value and headers of a record. `trace`: `traceparent` and `tracestate` to go with it.

    >>> sent = encode(Answer(status="cancelled", approval_id=approval.approval_id))
    >>> sent.value
    b'{"status":"cancelled","approval_id":"faf6703e-aba3-8201-b3a3-5057f251dd62"}'
    >>> sent.headers
    (('content-type', b'application/json'),)
    """
    if isinstance(record, DeadLetter):
        return Encoded(record.key, record.value, record.headers)
    return Encoded(record.key, encoding.write(record), encoding.headers(record, trace))


@overload
def decode(kind: type[DeadLetter], record: KafkaRecord) -> DeadLetter: ...
@overload
def decode(kind: type[AnyRecord], record: KafkaRecord) -> AnyRecord | None: ...
def decode(kind: type[Any], record: KafkaRecord) -> Any:
    """The record that stands there, or None where none does.

    None for a null value, which is Kafka's delete: forget what you know under that key. A takeover
    writes one under `__bridge/slot-<p>`, where nobody has anything to forget; on `approvals` no key
    that begins with `__` is an approval's, whatever its value. (Threads and answers may be named
    so: on other topics such a key says nothing.) Fields of later releases are skipped, optional
    ones that are missing are None. A dead letter is always one. Raises NotARecord, whose message
    holds nothing of the value.

    >>> decode(Approval, Encoded(b"faf6703e-aba3-8201-b3a3-5057f251dd62", None)) is None
    True
    >>> decode(Approval, Encoded(b"k", b'{"approval_id": 7}'))
    Traceback (most recent call last):
        ...
    bridge.records.encoding.NotARecord: no Approval: Expected `str` at /approval_id
    """
    if kind is DeadLetter:
        try:
            return DeadLetter.decoded(record.key, record.value, record.headers)
        except (ValueError, AttributeError) as error:
            raise NotARecord("no DeadLetter: its headers cannot be read") from error
    if record.value is None or (kind is Approval and (record.key or b"").startswith(_MARK)):
        return None
    return encoding_of(record.headers).read(kind, record.value)


def encoding_of(headers: Sequence[Header]) -> Encoding:
    """In which a record is, by its own word."""
    for name, value in headers:
        if name == "content-type":
            return ENCODINGS.get(value, JSON)
    return JSON
