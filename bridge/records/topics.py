"""The bridge's own topics: what each is for, what is needed of it, and what it is called here.

A new topic is a role and a row of `TOPICS`, and its name among the settings.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final, Literal, get_args

from msgspec import Struct

from bridge.core.durations import DAY

Role = Literal[
    "answers",
    "operations",
    "approvals",
    "resume-commands",
    "answer-verdicts",
    "dead-letters",
    "state",
    "reroute",
]
ROLES: Final[tuple[Role, ...]] = get_args(Role)


class Topic(Struct, frozen=True, kw_only=True):
    """What is needed of one topic. Durations in milliseconds; None = not checked.

    `use`: slots read an input and write their own partition of an output and of the state; on
    `reroute` each writes to all and reads its own. `partitions`: exactly N, at least N (outputs go
    to the partition with the slot's number), or any number, because every input partition is
    mapped to a slot. All are stamped by the brokers: they refuse what a worker's clock stamps an
    hour ahead, and a deadline is judged by one clock.
    """

    use: Literal["input", "output", "state", "reroute"]
    cleanup: Literal["compact", "delete"] = "delete"
    partitions: Literal["exact", "at_least", "any"] = "exact"
    retention: int | None = None
    delete_retention: int | None = None


TOPICS: Final[Mapping[Role, Topic]] = {
    "answers": Topic(use="input", partitions="any"),
    "operations": Topic(use="input", partitions="any"),
    "approvals": Topic(use="output", cleanup="compact", delete_retention=7 * DAY),
    "resume-commands": Topic(use="output", retention=30 * DAY),
    "answer-verdicts": Topic(use="output", retention=30 * DAY),
    "dead-letters": Topic(use="output", partitions="at_least", retention=30 * DAY),
    "state": Topic(use="state", cleanup="compact", delete_retention=DAY),
    "reroute": Topic(use="reroute", retention=30 * DAY),
}

OUTPUTS: Final = tuple(role for role, topic in TOPICS.items() if topic.use == "output")
"""What others read; only the slot itself writes the partition with its number."""

OWN_INPUTS: Final = tuple(r for r, topic in TOPICS.items() if topic.use in ("input", "reroute"))
"""What slots read beside the sources' topics; always from the start."""

WRITTEN: Final = tuple(role for role, topic in TOPICS.items() if topic.use != "input")
"""What a slot's transactions write to."""


class Topics(Mapping[str, str]):
    """The names of the bridge's own topics, by role."""

    __slots__ = ("_names",)

    def __init__(self, names: Mapping[str, str]) -> None:
        """Raises KeyError for a role that has no name."""
        self._names: dict[str, str] = {role: names[role] for role in ROLES}

    @classmethod
    def under(cls, prefix: str) -> Topics:
        """Each is called by the prefix and its role."""
        return cls({role: prefix + role for role in ROLES})

    def __or__(self, others: Mapping[str, str]) -> Topics:
        """The same with other names for some."""
        return Topics({**self, **others})

    def __getitem__(self, role: str) -> str:
        return self._names[role]

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)
