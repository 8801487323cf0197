"""Metrics: names, sums over slots, and labels that cannot grow."""

from __future__ import annotations

from typing import get_args

import pytest

from bridge.observe.bounded import MOST_VALUES
from bridge.observe.metrics import COUNTERS, CounterName, Metrics
from bridge.observe.slot_figures import SlotFigures


def exposed(metrics: Metrics) -> dict[str, float]:
    """Every exposed series with its value."""
    lines = [line for line in metrics.exposition().decode().splitlines() if line[0] != "#"]
    return {name: float(value) for name, value in (line.rsplit(" ", 1) for line in lines)}


def metrics() -> Metrics:
    return Metrics("1.2.3")


NAMES = """\
pending oldest_pending_age_seconds approval_age_seconds answers_total runs_closed_total
resume_unconfirmed resume_unconfirmed_oldest_age_seconds expired_total dead_letters_total
lenient_total unattributable_total consumed_total produced_total rerouted_total parked
transaction_seconds transactions_total restore_seconds restored_records_total slots rebuilds_total
lag input_blocked_seconds output_blocked_seconds gave_up_total leftovers_total
timers timers_held clock_skew_seconds
build_info
"""


def test_the_names_that_dashboards_and_alerts_rely_on() -> None:
    text = metrics().exposition().decode()
    told = {line.split(" ")[2] for line in text.splitlines() if line.startswith("# TYPE")}
    assert told >= {f"interrupt_bridge_{name}" for name in NAMES.split()}


def test_what_a_cycle_counted_is_added() -> None:
    """Cycle after cycle, by metric and label."""
    it = metrics()
    it.add({("answers", "accepted"): 2, ("lenient", "null_field"): 1})
    it.add({("answers", "accepted"): 1})
    series = exposed(it)
    assert series['interrupt_bridge_answers_total{verdict="accepted"}'] == 3
    assert series['interrupt_bridge_lenient_total{kind="null_field"}'] == 1


def test_every_name_that_can_be_counted_has_its_counter() -> None:
    """The names are one closed type: mypy refuses any other, and each of these can be counted."""
    names = {name for part in get_args(CounterName) for name in get_args(part)}
    assert names == {name for name, _, _ in COUNTERS}
    it = metrics()
    for name, label, _ in COUNTERS:
        it.count(name, "x")
        assert exposed(it)[f'interrupt_bridge_{name}_total{{{label}="x"}}'] == 1


def test_a_name_without_a_counter_is_refused() -> None:
    """By type: without the comment mypy fails here, and with a needless one as well."""
    with pytest.raises(KeyError):
        metrics().count("novelty", "x")  # type: ignore[arg-type]


def test_labels_do_not_grow_without_bound() -> None:
    """A hostile record may invent reasons; the number of series stays."""
    it = metrics()
    for number in range(10_000):
        it.count("dead_letters", f"reason-{number}")
    series = [name for name in exposed(it) if "dead_letters_total" in name]
    assert len(series) == MOST_VALUES + 1
    assert (
        exposed(it)['interrupt_bridge_dead_letters_total{reason="other"}'] == 10_000 - MOST_VALUES
    )


def test_gauges_are_sums_over_the_slots_now() -> None:
    it = metrics()
    first = SlotFigures("serving", {"a": 2}, {"a": 5.0}, parked=1, timers=3, lag={"t": 4})
    second = SlotFigures("restoring", {"a": 1, "b": 1}, {"a": 9.0}, lag={"t": 1})
    it.watch_slot(0, lambda: first)
    it.watch_slot(1, lambda: second)
    series = exposed(it)
    assert series['interrupt_bridge_pending{source="a"}'] == 3
    assert series['interrupt_bridge_oldest_pending_age_seconds{source="a"}'] == 9
    assert series['interrupt_bridge_oldest_pending_age_seconds{source="b"}'] == 0
    assert series['interrupt_bridge_slots{state="serving"}'] == 1
    assert series['interrupt_bridge_slots{state="closing"}'] == 0
    assert series['interrupt_bridge_lag{topic="t"}'] == 5
    assert (series["interrupt_bridge_parked"], series["interrupt_bridge_timers"]) == (1, 3)


def test_a_slot_that_is_gone_no_longer_counts() -> None:
    it = metrics()
    it.watch_slot(0, lambda: SlotFigures("serving", {"a": 2}))
    it.forget_slot(0)
    assert 'interrupt_bridge_pending{source="a"}' not in exposed(it)


def test_the_age_of_unconfirmed_resumes_is_that_of_the_oldest() -> None:
    it = metrics()
    it.watch_slot(0, lambda: SlotFigures("serving", unconfirmed=1, oldest_unconfirmed=0.001))
    it.watch_slot(1, lambda: SlotFigures("serving", unconfirmed=2, oldest_unconfirmed=60))
    series = exposed(it)
    assert series["interrupt_bridge_resume_unconfirmed"] == 3
    assert series["interrupt_bridge_resume_unconfirmed_oldest_age_seconds"] == 60


def test_a_clock_that_nobody_compared_has_no_skew() -> None:
    """Slots that are not open yet say nothing; of those that know, the worst is shown."""
    it = metrics()
    it.watch_slot(0, lambda: SlotFigures("opening"))
    assert "interrupt_bridge_clock_skew_seconds" not in exposed(it)
    it.watch_slot(1, lambda: SlotFigures("opening", clock_skew=-7_200))
    it.watch_slot(2, lambda: SlotFigures("serving", clock_skew=0.2))
    assert exposed(it)["interrupt_bridge_clock_skew_seconds"] == -7_200


def test_transactions_and_restores_are_timed() -> None:
    it = metrics()
    it.committed(0.004)
    it.failed("fenced")
    it.restored(1_000, 0.3)
    it.ages([86_400 * 2])
    series = exposed(it)
    assert series['interrupt_bridge_transactions_total{result="committed"}'] == 1
    assert series['interrupt_bridge_transactions_total{result="fenced"}'] == 1
    assert series['interrupt_bridge_transaction_seconds_bucket{le="0.005"}'] == 1
    assert series["interrupt_bridge_restored_records_total"] == 1_000
    assert series['interrupt_bridge_approval_age_seconds_bucket{le="86400.0"}'] == 0
    assert series['interrupt_bridge_approval_age_seconds_bucket{le="259200.0"}'] == 1
    assert series['interrupt_bridge_build_info{version="1.2.3"}'] == 1
