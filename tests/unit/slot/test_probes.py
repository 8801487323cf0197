"""A probe asks whether its slot reads and writes, and is answered by that slot alone."""

from __future__ import annotations

import json
from typing import Any

import pytest

from bridge.core.model import Origin
from bridge.core.record import Record
from bridge.errors import RerouteNotHome
from bridge.records.outgoing import Outgoing
from bridge.records.reroute import original
from tests.unit.slot.desk import NOW, TOPICS, Bench, desk, raw, sent

SLOTS = 4


def probe(slot: Any, **members: Any) -> Record:
    value = {"op": "probe", "slot": slot, **members}
    return raw(json.dumps(value).encode(), TOPICS["operations"])


def at(slot: int) -> Bench:
    return Bench(desk(slot, SLOTS))


def home(out: Outgoing) -> Record:
    """The record as it is read behind its hop."""
    assert out.partition is not None
    there = Origin(TOPICS["reroute"], out.partition, 0, NOW)
    return original(Record(out.value, out.key, out.headers, there))


def test_its_slot_says_probed_and_changes_nothing() -> None:
    bench = at(3)
    out = bench.cycle(probe(3, by="ops"))
    (verdict,) = sent(out, "answer-verdicts")
    assert (len(out), verdict["verdict"]) == (1, "probed")
    assert verdict["origin"]["topic"] == TOPICS["operations"]
    assert bench.log == {}
    assert bench.counts["answers", "probed"] == 1


def test_another_slot_sends_it_home_where_it_is_answered() -> None:
    """One hop; the verdict names the place where the probe was written."""
    (out,) = at(1).cycle(probe(3))
    assert (out.topic, out.partition) == ("reroute", 3)
    (verdict,) = sent(at(3).cycle(home(out)), "answer-verdicts")
    assert verdict["verdict"] == "probed"
    assert verdict["answer_id"] == str(probe(3).origin)


def test_it_never_hops_twice() -> None:
    """A slot that is given one of another by way of reroute stops, as for any record."""
    (out,) = at(1).cycle(probe(3))
    with pytest.raises(RerouteNotHome, match="at home in 3"):
        at(2).cycle(home(out))


@pytest.mark.parametrize("slot", [SLOTS, 2**31, -1, None, "3", True, 1.5])
def test_a_slot_that_there_is_not_is_malformed(slot: object) -> None:
    """With a pointer; nobody is asked."""
    out = at(1).cycle(probe(slot))
    (verdict,) = sent(out, "answer-verdicts")
    assert verdict["verdict"] == "malformed"
    assert [problem["path"] for problem in verdict["problems"]] == ["/slot"]
    assert [record.topic for record in out] == ["answer-verdicts", "dead-letters"]
