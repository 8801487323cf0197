"""What others wrap around a record is taken off, whatever is inside; what cannot be is refused."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bridge.core.model import Origin
from bridge.core.record import Record
from bridge.protocols.framing import bare, bare_key, read_pointer

ORIGIN = Origin("t", 0, 1, 1_800_000_000_000)
CLOUD = {"specversion": "1.0", "id": "e-1", "source": "bus", "type": "com.dapr.event.sent"}
Wrap = Callable[[bytes], bytes]


def cloud(member: str, value: bytes, **more: Any) -> bytes:
    head = json.dumps(CLOUD | more)[:-1].encode()
    return head + b', "%b": %b}' % (member.encode(), value)


def as_text(value: bytes) -> bytes:
    return json.dumps(value.decode(), ensure_ascii=False).encode()


FRAMES: dict[str, Wrap] = {
    "cloudevent": lambda value: cloud("data", value, datacontenttype="application/json"),
    "cloudevent text": lambda value: cloud("data", as_text(value)),
    "cloudevent base64": lambda value: cloud("data_base64", as_text(base64.b64encode(value))),
    "connect": lambda value: b'{"schema":{"type":"struct"},"payload":%b}' % value,
    "connect text": lambda value: b'{"payload":%b,"schema":null}' % as_text(value),
    "outbox": lambda value: b'{"schema":{"type":"string"},"payload":%b}' % as_text(value),
    "json text": as_text,
    "confluent": lambda value: b"\x00\x00\x00\x00\x07" + value,
    "byte order mark": lambda value: b"\xef\xbb\xbf" + value,
    "stream": lambda value: b"event: message\nid: 7\ndata: %b\n\n" % value,
    "stream with CRLF": lambda value: b"data:%b\r\n\r\n" % value,
}
INNER = (
    b'{"amount": 50.0, "n": 18446744073709551617,\t"e": 1e2, "u": "\xc3\xa9 \xe2\x80\xa8 \xc2\x85"}'
)
"""U+2028 and U+0085 end lines in Python's eyes, and in no stream's."""


def unframed(value: bytes | None, *pointer: str) -> Any:
    return bare(Record(value, b"key", (), ORIGIN), pointer)


@pytest.mark.parametrize("outer", [None, *FRAMES])
@pytest.mark.parametrize("frame", FRAMES)
def test_every_frame_comes_off_and_what_is_inside_is_untouched(
    frame: str, outer: str | None
) -> None:
    """Also one around the other; number literals, blanks and code points are the sender's."""
    value = FRAMES[frame](INNER)
    whole = value if outer is None or not _fits(outer, value) else FRAMES[outer](value)
    found = unframed(whole)
    assert found.record.value == INNER
    assert found.record.as_it_came.value == whole
    assert (found.record.origin, found.refusal) == (ORIGIN, None)
    assert all(counted.label.startswith("framing_") for counted in found.counts)


def _fits(outer: str, value: bytes) -> bool:
    """Bytes that are no JSON stand in no JSON; a stream holds one line here."""
    return outer in {"cloudevent base64", "byte order mark"} or value[:1] in {b"{", b'"'}


@pytest.mark.parametrize(
    "value",
    [
        INNER,
        b'{"type":"RUN_FINISHED","payload":1,"schema":2,"more":3}',
        b'{"specversion":"1.0","type":"RUN_FINISHED","threadId":"t"}',
        b'{"a":{"specversion":"1.0","id":"1","source":"s","type":"t","data":{}}}',
        b"[1,2]",
        b'"just a text"',
        b"not json",
        b"\xff\xfe",
        b"",
    ],
)
def test_what_is_not_known_for_certain_stays_as_it_is(value: bytes) -> None:
    """Members that only look like a frame's are somebody's own."""
    record = Record(value, b"key", (), ORIGIN)
    assert bare(record).record is record


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (b"[%b,%b]" % (cloud("data", b"{}"), cloud("data", b"{}")), "batch of CloudEvents"),
        (b"\x00\x00\x00\x00\x07\x02\x10avro", "Avro or Protobuf"),
        (b"data: {}\n\ndata: {}\n\n", "2 SSE frames"),
        (b": keep-alive\n\n", "0 SSE frames"),
        (b"event: ping\n\n", "0 SSE frames"),
        (cloud("data_base64", b'"not base64!"'), "base64"),
        (cloud("data_base64", '"é"'.encode()), "base64"),
    ],
)
def test_what_cannot_be_one_event_says_what_it_is(value: bytes, said: str) -> None:
    """Refused by name: whoever reads the dead letter knows which program to mend."""
    refusal = unframed(value).refusal
    assert refusal.reason == "framing"
    assert said in refusal.detail


def test_a_member_that_stands_there_twice_is_refused() -> None:
    """It says two things, and readers would choose differently."""
    twice = cloud("data", b'{"a":1}')[:-1] + b',"data":{"a":2}}'
    assert unframed(twice).refusal.reason == "json_rules"


@pytest.mark.parametrize("value", [None, b'{"schema":null,"payload":null}', cloud("data", b"null")])
def test_a_frame_around_nothing_is_nothing(value: bytes | None) -> None:
    """As a null value, which is Kafka's delete."""
    assert unframed(value).record.value is None


@pytest.mark.parametrize("first", ["data", "data_base64"])
def test_serializers_write_a_null_beside_the_member_that_counts(first: str) -> None:
    """A class with both members has one of them null: it is not the event."""
    members = {"data": b"null", "data_base64": as_text(base64.b64encode(INNER))}
    if first == "data":
        members = {"data": INNER, "data_base64": b"null"}
    for order in (list(members), list(members)[::-1]):
        value = cloud(order[0], members[order[0]])[:-1]
        value += b',"%b":%b}' % (order[1].encode(), members[order[1]])
        assert unframed(value).record.value == INNER


def test_a_trace_context_that_is_no_text_costs_no_event() -> None:
    """Bytes that are no UTF-8 in a member that decides nothing."""
    value = cloud("data", b"{}")[:-1] + b',"traceparent":"\xff"}'
    found = unframed(value)
    assert (found.record.value, found.record.headers, found.refusal) == (b"{}", (), None)


def test_a_pointer_reaches_through_objects_arrays_and_texts() -> None:
    """Debezium's envelope of an outbox row, for one."""
    row = {"after": {"data": json.dumps({"event": {"type": "x"}})}}
    value = json.dumps({"payload": [row]}).encode()
    found = unframed(value, "payload", "0", "after", "data", "event")
    assert json.loads(found.record.value) == {"type": "x"}
    assert [counted.label for counted in found.counts] == ["framing_pointer"]


def test_where_the_pointer_finds_nothing_the_record_is_read_as_it_is() -> None:
    """A topic may hold wrapped events and bare ones."""
    assert unframed(INNER, "payload").record.value == INNER
    assert unframed(FRAMES["connect"](INNER), "event").record.value == INNER


def test_trace_context_of_a_cloudevent_goes_on() -> None:
    """Dapr calls it traceid; what the record's own headers say comes first."""
    trace = "00-113ad9c4e42b27583ae98ba698d54255-e3743e35ff56f219-01"
    value = cloud("data", b"{}", traceid=trace, tracestate="a=b")
    headers = dict(unframed(value).record.headers)
    assert headers == {"traceparent": trace.encode(), "tracestate": b"a=b"}


@pytest.mark.parametrize(
    "key",
    [
        b'"thr-41"',
        b'{"schema":{"type":"string","optional":false},"payload":"thr-41"}',
        b'\x00\x00\x00\x00\x07"thr-41"',
        b"\x00\x00\x00\x00\x07thr-41",
        b"\xef\xbb\xbfthr-41",
        b"thr-41",
    ],
)
def test_keys_mean_what_their_sender_meant(key: bytes) -> None:
    """Serializers write keys as they write values."""
    assert bare_key(key) == b"thr-41"
    assert bare(Record(INNER, key, (), ORIGIN)).record.key == b"thr-41"


@pytest.mark.parametrize("key", [b'"broken', b"{}", b'{"threadId":"t"}', b"\x00\x01", b'"\\ud800"'])
def test_any_other_key_stays_as_it_is(key: bytes) -> None:
    """Nothing is guessed."""
    assert bare_key(key) == key


@given(st.binary(max_size=80) | st.sampled_from(list(FRAMES.values())).map(lambda f: f(b"{")))
def test_no_bytes_make_it_raise(value: bytes) -> None:
    """Whatever the bytes, they are a record or a refusal."""
    found = unframed(value, "a", "0")
    assert found.refusal is None or found.refusal.detail


@pytest.mark.parametrize("text", ["payload", "", "/a~2", "/~"])
def test_a_pointer_is_a_json_pointer(text: str) -> None:
    """RFC 6901; the record itself is no place inside it."""
    with pytest.raises(ValueError, match="JSON Pointer"):
        read_pointer(text)
    assert read_pointer("/a~1b/m~0n/0") == ("a/b", "m~n", "0")
