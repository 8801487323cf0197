"""Dead letters and reroute: the record as it came, and where it came from."""

from __future__ import annotations

import hashlib

import msgspec
import pytest

from bridge.core.model import Limits, Origin, Refusal
from bridge.core.record import Hop, Kind, Record
from bridge.errors import InputUnknown, RerouteNotHome
from bridge.records.dead_letter import dead_letter
from bridge.records.outgoing import Outgoing
from bridge.records.reroute import misrouted, original, reroute_record

ORIGIN = Origin("agents.run-finished", 3, 41, 1_700_000_000_000)
REROUTED = Origin("bridge.reroute", 1, 7, 1_700_000_009_000)
REFUSAL = Refusal("malformed", "not a list", "/outcome/interrupts")
GO_ON = "interrupt-bridge positions skip --slot 1 --topic bridge.reroute --partition 1 --to 8 --yes"
FORGED = (("bridge-origin-topic", b"forged"), ("bridge-origin-key", b"forged"))


def record(**parts: object) -> Record:
    fields: dict[str, object] = {"value": b"{}", "key": b"k", "headers": (), "origin": ORIGIN}
    return Record(**(fields | parts))  # type: ignore[arg-type]


def arrived(outgoing: Outgoing) -> Record:
    """A rerouted record as its home slot reads it."""
    return Record(outgoing.value, outgoing.key, outgoing.headers, REROUTED)


def forged(**parts: bytes | None) -> tuple[tuple[str, bytes | None], ...]:
    """Origin headers that are good but for these."""
    good = {"topic": b"t", "partition": b"1", "offset": b"1", "timestamp": b"1"}
    where = {f"bridge-origin-{name}": value for name, value in (good | parts).items()}
    return (*where.items(), ("bridge-hop", b"answer"))


def hop(*said: tuple[str, bytes | None]) -> tuple[tuple[str, bytes | None], ...]:
    """Good origin headers, and then what the hop says it is."""
    return (*forged()[:-1], *said)


def size(outgoing: Outgoing) -> int:
    """An upper bound of the record's bytes in a batch of its own."""
    headers = sum(len(name) + len(value) + 10 for name, value in outgoing.headers)
    return 100 + len(outgoing.key or b"") + len(outgoing.value or b"") + headers


@pytest.mark.parametrize("key", [None, b"", b"k"])
@pytest.mark.parametrize("value", [None, b"", b"{}"])
@pytest.mark.parametrize("headers", [(), (("a", b"1"), ("a", b"2")), FORGED])
def test_a_hop_changes_nothing(key: object, value: object, headers: object) -> None:
    """Home reads the record exactly as it stood, whatever its sender wrote into its headers."""
    sent = record(key=key, value=value, headers=headers)
    rerouted = reroute_record(sent, 5, "event", "agents", "thread-1")
    assert (rerouted.topic, rerouted.partition, rerouted.key) == ("reroute", 5, b"thread-1")
    assert original(arrived(rerouted)) == msgspec.structs.replace(
        sent, hop=Hop(REROUTED, "event", "agents")
    )


@pytest.mark.parametrize(
    "headers",
    [
        (),
        (("bridge-origin-topic", b"t"),),
        (
            ("bridge-origin-topic", b"t"),
            ("bridge-origin-partition", b"x"),
            ("bridge-origin-offset", b"1"),
            ("bridge-origin-timestamp", b"1"),
        ),
        forged(offset=b"99999999999999999999999999"),
        forged(offset=b"9223372036854775808"),
        forged(offset=b"-1"),
        forged(offset=None),
        forged(partition=b"-1"),
        forged(timestamp=b"9223372036854775808"),
        forged(topic=b"\xff"),
        forged(topic=None),
        hop(),
        hop(("bridge-hop", b"event")),
        hop(("bridge-hop", b"event"), ("bridge-hop-source", b"")),
        hop(("bridge-hop", b"event"), ("bridge-hop-source", b"\xff")),
        hop(("bridge-hop", b"answer"), ("bridge-hop-source", b"agents")),
    ],
)
def test_a_stranger_on_reroute_stops_the_slot(headers: object) -> None:
    """Nobody but the bridge writes there: what has no origin is never guessed at."""
    with pytest.raises(RerouteNotHome, match=r"bridge\.reroute/1/7") as raised:
        original(record(headers=headers, origin=REROUTED))
    assert str(raised.value).endswith(GO_ON)


@pytest.mark.parametrize(
    ("kind", "source"), [("event", "agents"), ("answer", ""), ("operation", "")]
)
def test_a_hop_says_what_it_is(kind: Kind, source: str) -> None:
    """Its sender knows; what the topics are called where it is read tells nothing."""
    said = original(arrived(reroute_record(record(), 1, kind, source))).hop
    assert said == Hop(REROUTED, kind, source)


@pytest.mark.parametrize("kind", [b"", b"probe", b"\xff", None])
def test_a_hop_of_a_later_release_is_never_guessed_at(kind: bytes | None) -> None:
    """It stops the slot by name instead."""
    with pytest.raises(InputUnknown, match=r"bridge\.reroute/1/7.*later release") as raised:
        original(record(headers=hop(("bridge-hop", kind)), origin=REROUTED))
    assert str(raised.value).endswith(GO_ON)


@pytest.mark.parametrize("timestamp", [-1, -(2**63), 2**63 - 1])
def test_any_timestamp_that_brokers_take_survives_a_hop(timestamp: int) -> None:
    """Kafka's own "no timestamp" is -1, and must not stop the slot that is home."""
    sent = record(origin=Origin("events", 0, 0, timestamp))
    assert original(arrived(reroute_record(sent, 1, "answer"))).origin == sent.origin


def test_a_misrouted_record_is_named_where_it_stands() -> None:
    """Its origin may be forged, and skipping there would help nothing."""
    came = original(arrived(reroute_record(record(), 1, "answer")))
    message = str(misrouted(came, slot=1, home=2))
    assert message.startswith("bridge.reroute/1/7, from agents.run-finished/3/41, was rerouted")
    assert message.endswith(GO_ON)


def test_a_dead_letter_is_the_record_unchanged() -> None:
    """Key, value and headers as they came, then why, whence, and from which source."""
    letter = dead_letter(record(headers=(("a", b"1"),)), REFUSAL, "support-agents", Limits())
    assert (letter.topic, letter.key, letter.value) == ("dead-letters", b"k", b"{}")
    assert letter.headers == (
        ("a", b"1"),
        ("bridge-origin-topic", b"agents.run-finished"),
        ("bridge-origin-partition", b"3"),
        ("bridge-origin-offset", b"41"),
        ("bridge-origin-timestamp", b"1700000000000"),
        ("bridge-origin-key", b"k"),
        ("bridge-reason", b"malformed"),
        ("bridge-detail", b"/outcome/interrupts"),
        ("bridge-source", b"support-agents"),
    )


def test_no_key_header_for_a_null_key() -> None:
    """A null key is told from an empty one."""
    names = [name for name, _ in dead_letter(record(key=None), REFUSAL, "s", Limits()).headers]
    assert "bridge-origin-key" not in names


LIMITS = Limits(record_bytes=20_000)
MANY = tuple((f"header-{index}", b"x" * 50) for index in range(1_000))


@pytest.mark.parametrize(
    "parts",
    [
        {"value": b"v" * 30_000},
        {"headers": MANY},
        {"key": b"k" * 30_000},
        {"headers": MANY, "key": b"k" * 30_000, "value": b"v" * 30_000},
        {"headers": MANY, "value": None},
        {"value": b"v" * 19_000, "key": b"k" * 400},
    ],
)
def test_a_dead_letter_always_fits(parts: dict[str, object]) -> None:
    """Whatever is too large, the letter is not, and tells what the whole was."""
    sent = record(**parts)
    letter = dead_letter(sent, REFUSAL, "s", LIMITS)
    told = dict(letter.headers)
    value = sent.value or b""
    assert size(letter) <= LIMITS.record_bytes
    assert told["bridge-sha256"] == hashlib.sha256(value).hexdigest().encode()
    assert told["bridge-size"] == str(len(value)).encode()
    assert value.startswith(letter.value or b"")
    assert (letter.value is None) == (sent.value is None)
    assert told["bridge-reason"] == b"malformed"


def test_a_large_value_keeps_most_of_what_fits() -> None:
    """The first part is as long as the record allows."""
    letter = dead_letter(record(value=b"v" * 30_000), REFUSAL, "s", LIMITS)
    assert len(letter.value or b"") > 18_000


def test_dropped_headers_are_counted() -> None:
    """What had to go of the sender's headers is said."""
    letter = dead_letter(record(headers=MANY), REFUSAL, "s", LIMITS)
    kept = sum(name.startswith("header-") for name, _ in letter.headers)
    assert dict(letter.headers)["bridge-headers-dropped"] == str(1_000 - kept).encode()
    assert kept > 50
