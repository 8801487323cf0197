"""What a principal must be allowed, as data: the one list behind messages, checks and docs.

Pure: asking a cluster what is allowed is next door, in `access`.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final, Literal

from bridge.config import Config
from bridge.errors import NotAuthorized
from bridge.kafka.names import group_id, transactional_id
from bridge.records.topics import TOPICS, Role

Operation = Literal["Read", "Write", "Create", "Describe", "DescribeConfigs"]
Kind = Literal["topic", "group", "transactional-id", "cluster"]

COMMAND_CONFIG: Final = "admin.properties"
"""Stands in the printed commands for the file with an administrator's login."""

_BY_USE: Final[Mapping[str, tuple[Operation, ...]]] = {
    "input": ("Read",),
    "output": ("Write",),
    "state": ("Read", "Write"),
    "reroute": ("Read", "Write"),
}

Rights = Mapping[Role | Literal["inputs"], tuple[Operation, ...]]
"""What is done with each topic, and with those of the sources. Read and Write hold Describe."""

WORKER: Final[Rights] = {
    "inputs": ("Read",),
    **{role: _BY_USE[topic.use] for role, topic in TOPICS.items()},
}

COMMANDS: Final[Mapping[str, Rights]] = {
    "pending": {"approvals": ("Read",)},
    "answer": {
        "answers": ("Write",),
        "answer-verdicts": ("Read",),
    },
    "withdraw": {
        "operations": ("Write",),
        "answer-verdicts": ("Read",),
    },
    "trace": {
        "inputs": ("Read",),
        "answers": ("Read",),
        "operations": ("Read",),
        "approvals": ("Read",),
        "answer-verdicts": ("Read",),
        "resume-commands": ("Read",),
        "dead-letters": ("Read",),
    },
    "audit": dict.fromkeys(WORKER, ("Read",)),
}
"""What the commands for people do with topics; the others do what a worker does."""


@dataclass(frozen=True, slots=True)
class Right:
    """One operation on one resource, as kafka-acls.sh names both."""

    operation: Operation
    kind: Kind
    name: str
    prefixed: bool = False

    def __str__(self) -> str:
        begin = " that begin with" if self.prefixed else ""
        kind = self.kind.replace("-", " ") + ("s" if self.prefixed else "")
        return f"{self.operation} on the {kind}{begin} {self.name}".rstrip()

    def option(self) -> str:
        """The resource in the tool's own words."""
        if self.kind == "cluster":
            return "--cluster"
        pattern = " --resource-pattern-type prefixed" if self.prefixed else ""
        return f"--{self.kind} {shlex.quote(self.name)}{pattern}"


@dataclass(frozen=True, slots=True)
class Principal:
    """Who asks, as brokers call it, and where."""

    name: str
    bootstrap: str

    def add(self, right: Right) -> str:
        """The command that grants a right."""
        return (
            f"kafka-acls.sh --bootstrap-server {self.bootstrap} --command-config {COMMAND_CONFIG} "
            f"--add --allow-principal {shlex.quote(self.name)} --operation {right.operation} "
            f"{right.option()}"
        )

    def refusal(self, missing: Iterable[Right]) -> NotAuthorized:
        """One line for each right that is missing, with the command that grants it."""
        lines = (f"no {right} for {self.name}: {self.add(right)}" for right in missing)
        return NotAuthorized("\n".join(lines), named=True)


SOMEBODY: Final = Principal("<principal>", "<bootstrap servers>")
"""Whoever it is, in the words of a command to fill in."""


@dataclass(frozen=True, slots=True)
class Access:
    """Who asks, and all that it cannot do without."""

    principal: Principal
    needed: tuple[Right, ...]


def of_worker(config: Config) -> Access:
    """What a worker needs, and the tools that take a slot as a worker does."""
    state = config.topics.names()["state"]
    group = group_id(config.app_id, state)
    ids = transactional_id(config.app_id, state, "")
    needed = (
        *_topic_rights(config, WORKER),
        Right("Read", "group", group),
        Right("Write", "transactional-id", ids, prefixed=True),
    )
    return Access(principal(config), needed)


def of_command(config: Config, command: str) -> Access:
    """What a command needs by its name; those that are not in COMMANDS are a worker's hand."""
    roles = COMMANDS.get(command)
    if roles is None:
        return of_worker(config)
    return Access(principal(config), tuple(_topic_rights(config, roles)))


def principal(config: Config) -> Principal:
    """Who the settings log in as, where brokers map no names."""
    kafka = config.kafka
    if kafka.uses_sasl:
        name = f"User:{kafka.sasl_plain_username}"
    elif kafka.ssl_certfile is not None:
        name = "User:<subject of kafka.ssl_certfile>"
    else:
        name = "User:ANONYMOUS"
    return Principal(name, kafka.bootstrap_servers)


def _topic_rights(config: Config, roles: Rights) -> Iterator[Right]:
    names = config.topics.names()
    inputs = [topic for source in config.sources for topic in source.topic_names]
    for role, operations in roles.items():
        for topic in inputs if role == "inputs" else (names[role],):
            for operation in operations:
                yield Right(operation, "topic", topic)
