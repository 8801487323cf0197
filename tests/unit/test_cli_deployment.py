"""What `deployment adopt` says beside the slots themselves."""

from __future__ import annotations

from bridge.cli.deployment import left_pending
from bridge.kafka.adoption import Holding


def lost(slot: int, pending: int | None) -> Holding:
    return Holding(slot, None, "lost", "it is empty beside approvals/0", pending)


def test_approvals_that_stay_pending_are_counted_over_all_lost_slots() -> None:
    (said,) = left_pending([lost(0, 2), lost(3, 1)])
    assert said.startswith("3 approvals are pending that no state knows any more")


def test_nothing_is_said_where_none_is_pending() -> None:
    """Nor of a slot that was another deployment's: its state goes on."""
    assert list(left_pending([lost(0, 0), Holding(1, None, "another's", "")])) == []


def test_that_nobody_could_count_them_is_said() -> None:
    (said,) = left_pending([lost(0, None)])
    assert "needs Read" in said
