"""Telling a transaction that hangs from those that come and go."""

from __future__ import annotations

from aiokafka.structs import TopicPartition

from bridge.kafka.standstill import Standstill

ONE, TWO = TopicPartition("events", 0), TopicPartition("events", 1)


def test_it_counts_from_the_first_look_at_the_same_offset() -> None:
    it = Standstill()
    it.look(ONE, stable=5, high=9, now=100.0)
    it.look(ONE, stable=5, high=12, now=160.0)
    assert it.by_topic(161.0) == {"events": 61.0}


def test_a_log_that_moves_begins_anew() -> None:
    """Each fetch finds some transaction open, and never the same."""
    it = Standstill()
    it.look(ONE, stable=5, high=9, now=100.0)
    it.look(ONE, stable=9, high=12, now=160.0)
    assert it.by_topic(161.0) == {"events": 1.0}


def test_the_worst_partition_of_a_topic_counts_until_it_ends() -> None:
    it = Standstill()
    it.look(ONE, stable=5, high=9, now=100.0)
    it.look(TWO, stable=5, high=9, now=150.0)
    assert it.by_topic(160.0) == {"events": 60.0}
    assert it.longer_than(30.0, 160.0) == [ONE]
    it.look(ONE, stable=10, high=10, now=170.0)
    assert it.by_topic(170.0) == {"events": 20.0}
    it.look(TWO, stable=10, high=10, now=180.0)
    assert it.by_topic(180.0) == {}
