"""What the bridge has published, as any other team's consumer sees it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import msgspec

from bridge.core.record import Header

Members = Mapping[str, Any]
Run = tuple[str, str, str, str]
"""Source, scope, thread and run."""

ROLES = ("approvals", "answer-verdicts", "resume-commands", "dead-letters")


@dataclass(frozen=True, slots=True)
class Command:
    """A resume command, and its `native` as the text it was published with."""

    members: Members
    native: bytes


@dataclass(frozen=True, slots=True)
class Letter:
    """A dead letter: why, and where its record stands, as topic/partition/offset."""

    reason: str
    detail: str
    origin: str


class _Native(msgspec.Struct):
    native: msgspec.Raw


_native = msgspec.json.Decoder(_Native)


def run_of(members: Members) -> Run:
    """Which run an approval or a command is of."""
    return members["source"], members["scope"], members["thread_id"], members["run_id"]


@dataclass(slots=True)
class Observed:
    """Everything seen so far."""

    approvals: dict[str, Members] = field(default_factory=dict)  # the newest revision by id
    verdicts: dict[str, list[Members]] = field(default_factory=dict)  # by answer id
    commands: list[Command] = field(default_factory=list)
    letters: list[Letter] = field(default_factory=list)

    def take(self, role: str, value: bytes | None, headers: Sequence[Header]) -> None:
        """One record of a topic with that role."""
        if value is None or role not in ROLES:
            return
        if role == "dead-letters":
            self.letters.append(_letter(headers))
            return
        members = json.loads(value)
        if role == "approvals":
            self._take_approval(members)
        elif role == "resume-commands":
            self.commands.append(Command(members, bytes(_native.decode(value).native)))
        else:
            self.verdicts.setdefault(members["answer_id"], []).append(members)

    def pending(self, source: str) -> list[Members]:
        """The open questions of a source, in the order of their runs."""
        found = [
            one
            for one in self.approvals.values()
            if one["source"] == source and one["status"] == "pending"
        ]
        return sorted(found, key=lambda one: (run_of(one), one["index"]))

    def commands_of(self, run: Run) -> list[Command]:
        return [each for each in self.commands if run_of(each.members) == run]

    def _take_approval(self, members: Members) -> None:
        known = self.approvals.get(members["approval_id"])
        if known is None or known["revision"] < members["revision"]:
            self.approvals[members["approval_id"]] = members


def _letter(headers: Sequence[Header]) -> Letter:
    told = {name: (value or b"").decode(errors="replace") for name, value in headers}
    place = "/".join(told.get(f"bridge-origin-{part}", "?") for part in _PLACE)
    return Letter(told.get("bridge-reason", ""), told.get("bridge-detail", ""), place)


_PLACE = ("topic", "partition", "offset")
