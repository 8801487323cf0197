"""Which end a transaction gets that lies open in a log."""

from __future__ import annotations

import pytest
from aiokafka.structs import TopicPartition

from bridge.kafka.verdict import (
    MOST_EPOCHS,
    End,
    LastTransaction,
    Marker,
    OpenTransaction,
    Verdicts,
    ending,
)

PID = 7
HERE = TopicPartition("approvals", 0)
ELSEWHERE = TopicPartition("state", 0)
COMMITTED = Marker(PID, 3, "commit")
ABORTED = Marker(PID, 3, "abort")


def left(epoch: int = 3, producer_id: int = PID) -> OpenTransaction:
    return OpenTransaction(HERE, 10, producer_id, epoch, 0)


def said(state: str, epoch: int = 3, *partitions: TopicPartition) -> LastTransaction:
    return LastTransaction(state, PID, epoch, frozenset(partitions))


def verdicts(*told: LastTransaction) -> Verdicts:
    kept = Verdicts()
    for each in told:
        kept.learn(each)
    return kept


@pytest.mark.parametrize(
    ("state", "end"),
    [
        ("PrepareCommit", "commit"),
        ("CompleteCommit", "commit"),
        ("Ongoing", "abort"),
        ("PrepareAbort", "abort"),
        ("CompleteAbort", "abort"),
    ],
)
def test_what_the_coordinator_said(state: str, end: End) -> None:
    assert ending(left(), verdicts(said(state, 3, HERE)), True, None) == end


@pytest.mark.parametrize("state", ["CompleteCommit", "CompleteAbort"])
def test_transactions_of_version_2_count_the_epoch_up(state: str) -> None:
    assert (
        ending(left(), verdicts(said(state, 4)), True, None)
        == state.removeprefix("Complete").lower()
    )


def test_another_owner_that_did_nothing_changes_nothing() -> None:
    """It fenced and was killed: what it is told says nothing of the one before."""
    told = verdicts(said("CompleteCommit"), said("Empty", 4))
    assert ending(left(), told, False, None) == "commit"


def test_an_owner_that_never_began_has_nothing_committed() -> None:
    assert ending(left(), verdicts(said("Empty", 3)), False, None) == "abort"


def test_one_of_before_the_last_was_committed() -> None:
    """The last one, still under way, does not write here; a producer goes on after commits only."""
    assert ending(left(), verdicts(said("Ongoing", 3, ELSEWHERE)), False, None) == "commit"


@pytest.mark.parametrize("state", ["Ongoing", "PrepareAbort", "CompleteAbort"])
def test_what_was_written_long_before_the_last_one_began_was_committed(state: str) -> None:
    """The last one got as far as naming the partition, which had no leader by then."""
    told = LastTransaction(state, PID, 3, frozenset({HERE}), began=50_000)
    for written, end in ((42_000, "commit"), (49_500, "abort"), (50_010, "abort"), (0, "abort")):
        open_ = OpenTransaction(HERE, 10, PID, 3, written)
        assert ending(open_, verdicts(told), False, ABORTED) == end


def test_a_rival_that_committed_after_the_question() -> None:
    assert ending(left(), verdicts(said("Ongoing", 3, HERE)), False, COMMITTED) == "commit"
    assert ending(left(), verdicts(said("Ongoing", 3, HERE)), False, ABORTED) == "abort"


@pytest.mark.parametrize("epoch", [3, 4])
@pytest.mark.parametrize("end", ["commit", "abort"])
def test_the_state_partition_tells_where_the_verdict_is_gone(epoch: int, end: End) -> None:
    """A fence aborts under an epoch that it has counted up."""
    assert ending(left(), Verdicts(), False, Marker(PID, epoch, end)) == end


def test_what_is_open_everywhere_is_taken_back() -> None:
    assert ending(left(), Verdicts(), True, None) == "abort"


@pytest.mark.parametrize("marker", [None, Marker(8, 3, "commit"), Marker(PID, 5, "commit")])
def test_a_marker_that_is_gone_or_of_another_says_nothing(marker: Marker | None) -> None:
    assert ending(left(), Verdicts(), False, marker) is None


def test_a_verdict_of_another_producer_id_says_nothing() -> None:
    assert ending(left(producer_id=8), verdicts(said("CompleteCommit")), False, None) is None


def test_the_newest_word_of_an_epoch_counts() -> None:
    """An owner that lived on after the first question, and committed."""
    told = verdicts(said("Ongoing", 3, HERE), said("CompleteCommit"))
    assert ending(left(), told, True, None) == "commit"


def test_all_is_forgotten_once_a_new_owner_has_committed() -> None:
    told = verdicts(said("CompleteCommit"))
    told.forget()
    assert told.latest is None
    assert ending(left(), told, False, None) is None


@pytest.mark.parametrize("state", ["Empty", "CompleteAbort"])
def test_openings_that_fail_for_days_are_not_all_remembered(state: str) -> None:
    """What the last owner that served had committed is, and so is the newest."""
    told = verdicts(said("CompleteCommit"), *(said(state, epoch) for epoch in range(5, 5_000)))
    assert told.remembered <= MOST_EPOCHS
    assert ending(left(4_998), told, False, None) == "abort"
    assert ending(left(), told, False, None) == "commit"
