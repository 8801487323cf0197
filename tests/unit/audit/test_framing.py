"""Two readings of what others wrap around a record: the auditor's must be that of the bridge."""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest

from bridge.audit import text
from bridge.audit.framing import Unsure, bare
from bridge.audit.log import LogRecord
from bridge.core.model import Origin
from bridge.core.record import Record
from bridge.protocols import framing

EVENT: dict[str, Any] = {"type": "RUN_FINISHED", "n": 50.0, "text": "Grüße"}
PLAIN = json.dumps(EVENT).encode()
CLOUD = {"specversion": "1.0", "id": "1", "source": "/x", "type": "t"}
IN_BASE64 = base64.b64encode(PLAIN).decode()


def packed(value: Any) -> bytes:
    return json.dumps(value).encode()


@pytest.mark.parametrize(
    ("value", "pointer"),
    [
        (PLAIN, None),
        (packed(CLOUD | {"data": EVENT}), None),
        (packed(CLOUD | {"data": None, "data_base64": IN_BASE64}), None),
        (packed(CLOUD | {"data_base64": "%"}), None),
        (packed(CLOUD | {"data": None}), None),
        (packed(CLOUD), None),
        (packed({"schema": {"type": "string"}, "payload": EVENT}), None),
        (packed({"schema": None, "payload": PLAIN.decode()}), None),
        (packed({"schema": None, "payload": EVENT, "more": 1}), None),
        (packed(PLAIN.decode()), None),
        (packed("only words"), None),
        (packed(packed(PLAIN.decode()).decode()), None),
        (b"\0\0\0\0\x07" + PLAIN, None),
        (b"\0\0\0\0\x07\x02avro", None),
        (b"\xef\xbb\xbf" + PLAIN, None),
        (b"event: x\ndata: " + PLAIN + b"\n\n", None),
        (b"data: {}\n\ndata: {}\n\n", None),
        (packed([CLOUD | {"data": EVENT}]), None),
        (packed({"after": {"event": EVENT}}), "/after/event"),
        (packed({"after": PLAIN.decode()}), "/after"),
        (packed({"a/b": [EVENT]}), "/a~1b/0"),
        (packed({"other": EVENT}), "/after/event"),
        (PLAIN, "/after"),
        (b"null", None),
        (b"{not json", None),
    ],
)
def test_both_take_off_the_same(value: bytes, pointer: str | None) -> None:
    """The same value remains, or both refuse."""
    place = Origin("t", 0, 0, 0)
    tokens = () if pointer is None else framing.read_pointer(pointer)
    theirs = framing.bare(Record(value, b"k", (), place), tokens)
    record = LogRecord("input", "t", 0, 0, 0, b"k", value)
    if theirs.refusal is not None:
        with pytest.raises(text.Unreadable, match="framing"):
            bare(record, pointer)
        return
    ours = bare(record, pointer).value
    left = theirs.record.value
    if left is None or ours is None or text.peek(left) is None:
        assert ours == left
    else:
        assert text.same(text.read(ours, 99), text.read(left, 99))


@pytest.mark.parametrize(
    "key", [b"thr-1", b'"thr-1"', b"\0\0\0\0\x01thr-1", b"\xef\xbb\xbfthr-1", b"{x", b"", None]
)
def test_keys_too(key: bytes | None) -> None:
    """A key is what its sender meant, out of quotes and prefixes."""
    wanted = None if key is None else framing.bare_key(key)
    assert bare(LogRecord("input", "t", 0, 0, 0, key, PLAIN)).key == wanted


def test_a_frame_that_says_two_things_is_not_judged() -> None:
    """JSON's rules break outside of what is meant: one reader may refuse it, another not."""
    twice = b'{"specversion":"1","id":"1","source":"s","type":"t","type":"u","data":{}}'
    with pytest.raises(Unsure):
        bare(LogRecord("input", "t", 0, 0, 0, None, twice))
