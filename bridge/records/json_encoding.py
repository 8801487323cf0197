"""Records as JSON: the names of schemas/*.avsc, instants as RFC 3339 texts, free JSON nested.

What is absent is left out. Free JSON goes out exactly as it came in.
"""

from __future__ import annotations

from operator import attrgetter
from typing import Any, Final

import msgspec

from bridge.core.model import Limits
from bridge.core.record import Header
from bridge.records.answer import Answer
from bridge.records.approval import Approval
from bridge.records.command import ResumeCommand
from bridge.records.encoding import AnyRecord, AnySubmitted, NotARecord, Published, Submitted
from bridge.records.headers import event_headers
from bridge.records.instants import Instant
from bridge.records.operation import Operation
from bridge.records.strict_json import read_strictly
from bridge.records.unfit import unfit
from bridge.records.verdict import AnswerVerdict

CONTENT_TYPE: Final = b"application/json"


class JsonEncoding:
    """The `Encoding` of JSON; there is one, `JSON`."""

    def headers(
        self, record: Published | Submitted, trace: tuple[Header, ...] = ()
    ) -> tuple[Header, ...]:
        """Content type, CloudEvents attributes of what the bridge publishes, then the trace."""
        return event_headers(CONTENT_TYPE, type(record).__name__, record.event_id) + trace

    def write(self, record: Published | Submitted) -> bytes:
        """The record's value."""
        return _encode(record)

    def read(self, kind: type[AnyRecord], value: bytes) -> AnyRecord:
        """A record; members that it does not know are skipped. Raises NotARecord."""
        try:
            read: AnyRecord = _DECODERS[kind].decode(value)
        except msgspec.ValidationError as error:
            detail, pointer = unfit(str(error))
            raise NotARecord(f"no {kind.__name__}: {detail} at {pointer or 'its root'}") from None
        except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
            raise NotARecord(f"no {kind.__name__}: the value is not JSON") from None
        return read

    def read_strictly(self, kind: type[AnySubmitted], value: bytes, limits: Limits) -> AnySubmitted:
        """What others sent: known members and lawful JSON only. Raises Unusable."""
        decoder: msgspec.json.Decoder[AnySubmitted] = _DECODERS[kind]
        return read_strictly(decoder, value, limits)


def _instant(_kind: type, value: Any) -> Instant:
    """Of an instant's text. What msgspec says of the error must not hold the value."""
    try:
        return Instant.of(Instant.fromisoformat(value))
    except (ValueError, TypeError, OverflowError):
        raise ValueError("Expected `instant`") from None


# Of the types in a record msgspec does not know instants alone, so the hooks are for them.
_encode = msgspec.json.Encoder(enc_hook=attrgetter("text")).encode
_DECODERS: Final[dict[type, msgspec.json.Decoder[Any]]] = {
    kind: msgspec.json.Decoder(kind, dec_hook=_instant)
    for kind in (Approval, AnswerVerdict, ResumeCommand, Answer, Operation)
}

JSON: Final = JsonEncoding()
"""Records as JSON."""
