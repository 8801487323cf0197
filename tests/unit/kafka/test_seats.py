"""Sharing the slots out: all of them, evenly, and none moves that need not."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bridge.kafka.seats import (
    Declaration,
    encode,
    read_declaration,
    read_roster,
    roster,
    share_out,
)

SLOTS = 8


def said(
    *slots: int, term: int = 1, sources: tuple[str, ...] = (), worker: str = "w"
) -> Declaration:
    return Declaration(worker=worker, sources=sources, slots=slots, term=term)


def after(shares: dict[str, list[int]], *members: str, term: int = 1) -> dict[str, Declaration]:
    """What these members declare once the slots were shared out like that."""
    return {member: said(*shares.get(member, []), term=term) for member in members}


@given(
    slots=st.integers(1, 40),
    claims=st.dictionaries(
        st.text("abcdef", min_size=1, max_size=3),
        st.tuples(st.lists(st.integers(-2, 50), max_size=20), st.integers(0, 4)),
        min_size=1,
        max_size=9,
    ),
)
def test_every_slot_has_one_worker_and_no_worker_two_more_than_another(
    slots: int, claims: dict[str, tuple[list[int], int]]
) -> None:
    """Whatever members claim to hold."""
    workers = {member: said(*held, term=term) for member, (held, term) in claims.items()}
    shares = share_out(slots, workers)
    assert sorted(slot for held in shares.values() for slot in held) == list(range(slots))
    sizes = [len(held) for held in shares.values()]
    assert max(sizes) - min(sizes) <= 1
    assert shares == share_out(slots, dict(reversed(workers.items())))


@given(slots=st.integers(1, 40), many=st.integers(1, 9))
def test_who_comes_moves_only_what_it_gets(slots: int, many: int) -> None:
    """No slot goes from one that stays to another that stays."""
    before = share_out(slots, {f"m{n}": said() for n in range(many)})
    now = share_out(slots, after(before, *before) | {"new": said(term=0)})
    moved = {slot for member in before for slot in before[member] if slot not in now[member]}
    assert moved == set(now["new"])
    assert len(moved) == slots // (many + 1)


@given(slots=st.integers(1, 40), many=st.integers(2, 9))
def test_who_goes_leaves_only_what_it_had(slots: int, many: int) -> None:
    """Everybody else keeps all, and gets a share of what became free."""
    before = share_out(slots, {f"m{n}": said() for n in range(many)})
    now = share_out(slots, after(before, *[member for member in before if member != "m0"]))
    for member, held in now.items():
        assert set(before[member]) <= set(held)


def test_an_old_claim_counts_for_nothing() -> None:
    """A worker that slept through its session claims what others hold by now."""
    shares = share_out(SLOTS, {"a": said(*range(8), term=3), "b": said(0, 1, 2, 3, term=5)})
    assert shares == {"a": [4, 5, 6, 7], "b": [0, 1, 2, 3]}


def test_nothing_is_shared_out_among_nobody() -> None:
    """The leader may be the only member, and no worker."""
    assert share_out(SLOTS, {}) == {}


def test_the_roster_says_who_lacks_a_source_and_who_is_no_worker() -> None:
    """In few words: it goes to every member."""
    told = roster(
        {
            "1": said(sources=("a", "b"), worker="new:1", term=4),
            "2": said(sources=("a",), worker="old:1"),
            "rdkafka-9": None,
        }
    )
    assert (told.term, told.workers) == (5, 2)
    assert told.lacking == {"b": ("old:1",)}
    assert (told.strangers, told.stranger_count) == (("rdkafka-9",), 1)
    assert read_roster(encode(told)) == told
    many = roster({f"rdkafka-{n}": None for n in range(1_000)})
    assert (len(many.strangers), many.stranger_count) == (10, 1_000)


@pytest.mark.parametrize(
    "user_data", [None, b"", b"{}", b"\x00\x01", b"[1]", b'{"is":"interrupt-bridge roster"}']
)
def test_whoever_declares_nothing_is_no_worker(user_data: bytes | None) -> None:
    """What other clients put there, or nothing at all."""
    assert read_declaration(user_data) is None


def test_a_later_release_may_declare_more() -> None:
    """It is a worker all the same."""
    later = b'{"is":"interrupt-bridge worker","worker":"h:1","sources":["a"],"new":{"x":1}}'
    declared = read_declaration(later)
    assert declared is not None
    assert declared.sources == ("a",)
