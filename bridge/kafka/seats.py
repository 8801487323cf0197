"""What workers tell each other through their group, and how its leader shares the slots out.

A worker declares which sources it knows and which slots it holds; the leader tells everybody what
all of them said. Pure: `assignor` carries it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

import msgspec

_TOLD: Final = 10
"""Names in one list of a roster: it goes to every member, and the group has to stay small."""


class Declaration(msgspec.Struct, frozen=True, tag_field="is", tag="interrupt-bridge worker"):
    """A worker's word at each joining. What it says besides, in a later release, is read past.

    `term` numbers the assignment that gave it its slots: of two that claim one, the later counts.
    `deployment` is the id that it got there.
    """

    worker: str  # host and process, for people
    sources: tuple[str, ...] = ()
    slots: tuple[int, ...] = ()
    term: int = 0
    deployment: str = ""


class Roster(msgspec.Struct, frozen=True, tag_field="is", tag="interrupt-bridge roster"):
    """The leader's word to every member at each assignment.

    `lacking` has the sources that some workers know and these do not; `strangers` are the ids of
    members that are no workers. The lists of names are cut, the numbers are not.
    """

    term: int
    workers: int
    deployment: str = ""
    lacking: dict[str, tuple[str, ...]] = {}
    strangers: tuple[str, ...] = ()
    stranger_count: int = 0


_declaration = msgspec.json.Decoder(Declaration)
_roster = msgspec.json.Decoder(Roster)


def encode(said: Declaration | Roster) -> bytes:
    """As it travels in the group's user data."""
    return msgspec.json.encode(said)


def read_declaration(user_data: bytes | None) -> Declaration | None:
    """What a member declared; None for one that is no worker."""
    try:
        return _declaration.decode(user_data or b"")
    except msgspec.DecodeError:
        return None


def read_roster(user_data: bytes | None) -> Roster | None:
    """What the leader decided; None where it is no worker."""
    try:
        return _roster.decode(user_data or b"")
    except msgspec.DecodeError:
        return None


def roster(members: Mapping[str, Declaration | None], deployment: str = "") -> Roster:
    """What is to be shared about these members, by member id; None for those that are no workers.

    `deployment` is the id to begin with where no worker has got one yet.
    """
    workers = [each for each in members.values() if each is not None]
    latest = sorted(workers, key=lambda each: (-each.term, each.deployment))
    strangers = sorted(member for member, said in members.items() if said is None)
    return Roster(
        term=max((each.term for each in workers), default=0) + 1,
        workers=len(workers),
        deployment=next((each.deployment for each in latest if each.deployment), deployment),
        lacking=_lacking(workers),
        strangers=tuple(strangers[:_TOLD]),
        stranger_count=len(strangers),
    )


def _lacking(workers: Sequence[Declaration]) -> dict[str, tuple[str, ...]]:
    known = sorted({source for each in workers for source in each.sources})
    lacking = {
        source: sorted(each.worker for each in workers if source not in each.sources)
        for source in known
    }
    return {source: tuple(names[:_TOLD]) for source, names in lacking.items() if names}


def share_out(slots: int, workers: Mapping[str, Declaration]) -> dict[str, list[int]]:
    """The slots of each worker by member id: as many as the others' or one more.

    No slot moves that need not: who comes gets what the fullest give up, who goes leaves what it
    had. The same declarations always give the same answer.
    """
    if not workers:
        return {}
    shares = _held(slots, workers)
    least, more = divmod(slots, len(workers))
    fullest = sorted(shares, key=lambda member: (-len(shares[member]), member))
    most = {member: least + (at < more) for at, member in enumerate(fullest)}
    retained = {member: held[: most[member]] for member, held in shares.items()}
    free = sorted(set(range(slots)) - {slot for held in retained.values() for slot in held})
    for member in sorted(retained):
        wanted = most[member] - len(retained[member])
        retained[member] += free[:wanted]
        del free[:wanted]
    return {member: sorted(held) for member, held in retained.items()}


def _held(slots: int, workers: Mapping[str, Declaration]) -> dict[str, list[int]]:
    """Which slots each worker holds already; one that several claim is the latest claim's."""
    claims: dict[int, tuple[int, str]] = {}
    for member in sorted(workers):
        said = workers[member]
        for slot in said.slots:
            if 0 <= slot < slots and (slot not in claims or said.term > claims[slot][0]):
                claims[slot] = (said.term, member)
    held: dict[str, list[int]] = {member: [] for member in workers}
    for slot in sorted(claims):
        held[claims[slot][1]].append(slot)
    return held
