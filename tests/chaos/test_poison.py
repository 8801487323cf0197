"""Records that mean harm or nothing, on the real broker: set aside unchanged, and work goes on."""

from __future__ import annotations

import hashlib
import http.server
import json
import random
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from bridge.audit.log import LogRecord
from tests.chaos.hand import Body, Hand, question
from tests.chaos.rounds import build_site

MEGABYTE = 1_000_000
LARGE = {"max.message.bytes": str(32 * 1024 * 1024)}


def asking(interrupts: str, thread: str = "thread-bad") -> bytes:
    """A run-finished event with this text as its list of interrupts."""
    return (
        f'{{"type":"RUN_FINISHED","threadId":"{thread}","runId":"run-bad",'
        f'"outcome":{{"type":"interrupt","interrupts":{interrupts}}}}}'
    ).encode()


def with_metadata(text: str) -> bytes:
    return asking(f'[{{"id":"a","reason":"r","metadata":{{"x":{text}}}}}]')


POISON: dict[str, bytes | None] = {
    "not_json": b"{not json",
    "not_utf8": b"\xff\xfe\x00",
    "empty": b"",
    "array": b"[1,2,3]",
    "number_for_type": asking('[{"id":7,"reason":"r"}]'),
    "deep": b"[" * 1_000 + b"]" * 1_000,
    "deep_inside": with_metadata("[" * 1_000 + "]" * 1_000),
    "nan": with_metadata("NaN"),
    "infinity": with_metadata("-Infinity"),
    "duplicate_keys": with_metadata('{"a":1,"a":2}'),
    "lone_surrogate": with_metadata('"\\ud83e"'),
    "unknown_outcome": asking("[]").replace(b'"type":"interrupt"', b'"type":"paused"'),
    "unknown_protocol": b'{"type":"run_finished","threadId":"t","runId":"r","outcome":{}}',
    "20_megabytes": with_metadata('"' + "x" * (20 * MEGABYTE) + '"'),
}
REASONS = {
    "not_json": "not_json",
    "not_utf8": "not_json",
    "empty": "empty",
    "deep": "too_deep",
    "deep_inside": "too_deep",
    "nan": "json_rules",
    "infinity": "json_rules",
    "duplicate_keys": "json_rules",
    "lone_surrogate": "json_rules",
    "unknown_outcome": "unknown_outcome",
    "20_megabytes": "too_large",
}


async def test_poison_is_set_aside(bootstrap: str, tmp_path: Path) -> None:
    """Fault 29: each bad record, under a null key, a bad key and none of ours, then a good one."""
    site = await build_site(bootstrap, tmp_path, slots=2, input_config=LARGE)
    hand = Hand(site)
    many = [(f"h-{number}", b"x" * 20) for number in range(10_000)]
    for key in (None, b"\xff\xfe"):
        for name, value in POISON.items():
            hand.send(site.input_topic, value, key, partition=0, headers=[("name", name.encode())])
    hand.send(site.input_topic, b"{not json", None, partition=0, headers=many)
    hand.ask("thread-many", "run-1", question("a"), headers=many)
    hand.ask("thread-many-away", "run-1", question("a"), key=None, headers=many)
    for bad in (b"", None, b"\xff", b'{"status":"resolved"}', b"[" * 1_000, b"x" * 900_000):
        hand.send(site.names["answers"], bad, None, partition=0)
    for partition in range(2):
        hand.ask(f"thread-{partition}", "run-1", question("a"), partition=partition, key=None)
        hand.answer(f"thread-{partition}", "run-1", "a", partition=partition)
    hand.flush()
    async with site.worker() as worker:
        await hand.commands(2)
        report = await site.settled()
        assert worker.lives == 1
    assert report.ok, report.summary()
    assert report.outcomes == {"resumed": 2, "open": 2}
    letters = await hand.records("dead-letters")
    assert len(letters) == 2 * len(POISON) + 1 + 5  # of the answers the null is a delete
    told = [letter for letter in letters if letter.header("name")]
    for letter in told:
        expect_copy(letter)
    assert [len(letter.headers) > 10_000 for letter in letters].count(True) == 1


def expect_copy(letter: LogRecord) -> None:
    """The original bytes, or their first part with the hash and size of all of them."""
    name = (letter.header("name") or b"").decode()
    value = POISON[name]
    assert (letter.header("bridge-reason") or b"").decode() == REASONS.get(name, "malformed"), name
    assert letter.header("bridge-origin-partition") == b"0"
    if name != "20_megabytes":
        assert letter.value == value
        return
    assert value is not None
    assert letter.value
    assert value.startswith(letter.value)
    assert letter.header("bridge-size") == str(len(value)).encode()
    assert letter.header("bridge-sha256") == hashlib.sha256(value).hexdigest().encode()


METADATA = (
    '{"z":18446744073709551617,"a":50.0,"m":1e2,"nested":{"b":-0.0,"a":[1.10,1E+3]},'
    '"who":"𝔘𝔫𝔦 🦀","empty":{},"big":0.1000000000000000055511151231257827}'
)


async def test_free_json_arrives_as_it_was_sent(bootstrap: str, tmp_path: Path) -> None:
    """Number literals, key order and astral characters, in approvals and in the command."""
    site = await build_site(bootstrap, tmp_path, slots=1)
    hand = Hand(site)
    interrupt = f'[{{"id":"a","reason":"r","message":"𝔘?","metadata":{METADATA}}}]'
    hand.send(site.input_topic, asking(interrupt, "thread-𝔘"), "thread-𝔘".encode())
    hand.answer("thread-𝔘", "run-bad", "a", METADATA)
    hand.flush()
    async with site.worker():
        await hand.commands(1)
        report = await site.settled()
    assert report.ok, report.summary()
    wanted = literal(METADATA)
    approvals = [
        literal(text(record)) for record in await hand.records("approvals") if record.value
    ]
    assert [approval["metadata"] for approval in approvals] == [wanted] * len(approvals)
    (command,) = [literal(text(record)) for record in await hand.records("resume-commands")]
    assert command["entries"][0]["payload"] == wanted
    assert command["native"]["body"]["resume"][0]["payload"] == wanted


def text(record: LogRecord) -> str:
    return (record.value or b"").decode()


class Literal(str):
    """A number as it is written."""

    __slots__ = ()


def literal(value: str) -> Any:
    """JSON with its numbers as text and its members in order: equal only if written alike."""

    def pairs(members: list[tuple[str, Any]]) -> Any:
        return _Ordered(members)

    return json.loads(value, parse_int=Literal, parse_float=Literal, object_pairs_hook=pairs)


class _Ordered(dict[str, Any]):
    def __eq__(self, other: object) -> bool:
        return isinstance(other, dict) and list(self.items()) == list(other.items())

    __hash__ = None  # compared, never a key


async def test_what_does_not_fit_is_refused(bootstrap: str, tmp_path: Path) -> None:
    """Fault 30: answers, events and commands near the sizes a record may have.

    Incompressible on purpose: what counts at the broker is the compressed size.
    """
    sections: dict[str, dict[str, Any]] = {
        "limits": {"payload_bytes": 450_000},
        "policy": {"early_answer_ttl": "2s"},
    }
    site = await build_site(bootstrap, tmp_path, slots=2, sections=sections)
    hand = Hand(site)
    noise = random.Random(30)
    hand.ask("thread-1", "run-1", *(question(name) for name in "abc"))
    for name in "abc":
        hand.answer("thread-1", "run-1", name, f'"{noise.randbytes(220_000).hex()}"')
    hand.ask("thread-2", "run-1", question("a", metadata={"x": noise.randbytes(440_000).hex()}))
    hand.answer("thread-2", "run-1", "a", f'"{noise.randbytes(200_000).hex()}"')
    away = {"x": noise.randbytes(495_000).hex()}
    hand.ask("thread-3", "run-1", question("a", metadata=away), key=None, partition=0)
    hand.ask("thread-4", "run-1", question("a", metadata=away), key=None, partition=1)
    hand.ask("thread-5", "run-1", question("a", message="\u007fé𝔘" * 90_000))
    hand.answer("thread-6", "run-1", "a", f'"{noise.randbytes(490_000).hex()}"')
    hand.ask("thread-last", "run-1", question("a"))
    hand.answer("thread-last", "run-1", "a")
    hand.flush()
    async with site.worker() as worker:
        await hand.until("resume-commands", lambda found: named(found, "thread-last"))
        verdicts = await hand.verdicts(6)
        report = await site.settled()
        assert worker.lives == 1
        assert not [line for line in worker.lines() if line.get("exception")], worker.tail()
        assert not [line for line in worker.lines() if line.get("code")], worker.tail()
    assert report.ok, report.summary()
    said = [body["verdict"] for body in verdicts if body.get("thread_id") == "thread-1"]
    assert said == ["accepted", "too_large", "too_large"], "a payload is in the command twice"


def named(bodies: list[Body], thread: str) -> bool:
    return any(body["thread_id"] == thread for body in bodies)


@contextmanager
def canary() -> Iterator[tuple[str, list[str]]]:
    """An HTTP server on the loopback that notes every request."""
    hits: list[str] = []

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            hits.append(self.path)
            self.send_response(200)
            self.end_headers()
            self.wfile.write(b'{"type":"boolean"}')

        def log_message(self, *_args: object) -> None:
            return

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/schema.json", hits
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def exponential(levels: int = 40) -> Body:
    """Each level asks twice for the next."""
    definitions: Body = {
        f"d{level}": {"allOf": [{"$ref": f"#/$defs/d{level + 1}"}] * 2} for level in range(levels)
    }
    return {"$defs": definitions | {f"d{levels}": {"type": "object"}}, "$ref": "#/$defs/d0"}


async def test_schemas_that_attack(bootstrap: str, tmp_path: Path) -> None:
    """No request leaves, no file is read, and time stays bounded whatever a schema says."""
    site = await build_site(bootstrap, tmp_path, slots=1)
    hand = Hand(site)
    with canary() as (url, hits):
        attacks: dict[str, tuple[Body, str]] = {
            "remote": ({"$ref": url}, "true"),
            "remote-id": ({"$id": url, "$ref": "other.json"}, "true"),
            "remote-schema": ({"$schema": url, "type": "boolean"}, "true"),
            "file": ({"$ref": "file:///etc/hostname"}, "true"),
            "loop": ({"$ref": "#"}, "true"),
            "recursive": (
                {"type": "object", "properties": {"n": {"$ref": "#"}}},
                '{"n":' * 50 + "{}" + "}" * 50,
            ),
            "exponential": (exponential(), '{"a":1}'),
            "pattern": ({"type": "string", "pattern": "^(a+)+$"}, f'"{"a" * 200_000}!"'),
            "unique": (
                {"type": "array", "uniqueItems": True},
                json.dumps([[number, {"a": [number]}] for number in range(9_000)]),
            ),
        }
        for name, (schema, _payload) in attacks.items():
            hand.ask(name, "run-1", question("a", responseSchema=schema))
        hand.flush()
        async with site.worker() as worker:
            await hand.until("approvals", lambda found: len(found) == len(attacks))
            began = time.monotonic()
            for name, (_schema, payload) in attacks.items():
                hand.answer(name, "run-1", "a", payload)
            hand.ask("thread-last", "run-1", question("a"))
            hand.answer("thread-last", "run-1", "a")
            hand.flush()
            verdicts = await hand.verdicts(len(attacks) + 1)
            took = time.monotonic() - began
            report = await site.settled()
            assert worker.lives == 1
        assert hits == []
    assert report.ok, report.summary()
    assert took < 30
    said = {body["thread_id"]: body["verdict"] for body in verdicts}
    assert said["pattern"] == "invalid_payload"
    assert said["thread-last"] == "accepted"
    flagged = {
        body["thread_id"]
        for body in await hand.bodies("approvals")
        if "schema_unusable" in body["flags"]
    }
    assert {"remote", "remote-id", "file", "loop", "exponential"} <= flagged
