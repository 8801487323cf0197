"""What a hop is, its sender says: topics may have other names where it is read."""

from __future__ import annotations

import pytest

from bridge.core.ids import home_slot
from bridge.core.model import Limits, Origin, SourcePolicy
from bridge.core.record import Record
from bridge.core.schema import SchemaCache
from bridge.errors import InputUnknown, SourceNotConfigured
from bridge.protocols import PROTOCOLS
from bridge.records.outgoing import Outgoing
from bridge.records.reroute import original
from bridge.slot.desk import Desk, Source
from tests.unit.slot.desk import EVENTS, NOW, TOPICS, Bench, answer, desk, event, raw, sent

SLOTS = 4
HOME = home_slot("t-1", SLOTS)
RENAMED = TOPICS | {"answers": "bridge.replies", "operations": "bridge.orders"}
ORDER = (
    b'{"op":"withdraw","source":"agents","thread_id":"t-1","run_id":"r-1","reason":"x","by":"o"}'
)


def at(slot: int, source: str = "agents", topic: str = EVENTS) -> Bench:
    """A slot of a worker that knows its one source under these names, its own topics renamed."""
    known = {topic: Source(source, PROTOCOLS["ag-ui"], SourcePolicy())}
    return Bench(Desk(slot, SLOTS, known, RENAMED, Limits(), SchemaCache(16)))


def hop(record: Record) -> Record:
    """The record as its home slot reads it, sent home by a worker with the first settings."""
    (out,) = Bench(desk((HOME + 1) % SLOTS, SLOTS)).cycle(record)
    return home(out)


def home(out: Outgoing) -> Record:
    assert (out.topic, out.partition) == ("reroute", HOME)
    return original(Record(out.value, out.key, out.headers, Origin("bridge.reroute", HOME, 3, NOW)))


def test_a_source_whose_topic_was_renamed_is_read_by_its_name() -> None:
    """By the name of its source, which never changes; the origin stays what it was."""
    (asked,) = sent(at(HOME, topic="agents.renamed").cycle(hop(event())), "approvals")
    assert (asked["source"], asked["origin"]["topic"]) == ("agents", EVENTS)


def test_answers_under_way_are_answers_whatever_their_topic_is_called_now() -> None:
    """Not operations, which every such answer was taken for: one false verdict each."""
    bench = at(HOME)
    bench.cycle(event())
    (verdict,) = sent(bench.cycle(hop(answer())), "answer-verdicts")
    assert (verdict["verdict"], verdict["origin"]["topic"]) == ("accepted", TOPICS["answers"])


def test_operations_under_way_are_operations_whatever_their_topic_is_called_now() -> None:
    """The run is withdrawn, and the verdict names where the operation stood."""
    bench = at(HOME)
    bench.cycle(event())
    (verdict,) = sent(bench.cycle(hop(raw(ORDER, TOPICS["operations"]))), "answer-verdicts")
    assert verdict["origin"]["topic"] == TOPICS["operations"]
    assert verdict["verdict"] == "accepted"


def test_a_hop_of_an_unknown_source_stops_the_slot_by_its_name() -> None:
    """Also where this worker reads another source from a topic of the same name."""
    came = hop(event())
    for bench in (at(HOME, "others", "elsewhere"), at(HOME, "others", EVENTS)):
        with pytest.raises(SourceNotConfigured, match=r"agents is not configured.*/3, from"):
            bench.cycle(came)
        assert not bench.log
    assert sent(at(HOME).cycle(came), "approvals")  # where it is configured, it goes on


def test_a_record_of_no_configured_topic_is_never_interpreted() -> None:
    """Not as an operation, and not as anything else."""
    with pytest.raises(InputUnknown, match="elsewhere"):
        Bench().cycle(raw(ORDER, "elsewhere"))
