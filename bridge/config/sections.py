"""The smaller sections: topics, HTTP, limits, retention, worker, logs.

Each default stands here once; a number that depends on another says how.
"""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from bridge.config.source import DEFAULT_CLOSED_RETENTION
from bridge.config.values import Count, Duration, Model, TopicName
from bridge.core import model as core
from bridge.core.durations import DAY, HOUR, MINUTE, SECOND
from bridge.records import topics as records

_RULES = core.Limits()


class Topics(Model):
    """`[topics]`: names are `prefix` and the role, unless set one by one."""

    prefix: Annotated[str, Field(max_length=200, pattern=r"^[A-Za-z0-9._-]*$")] = "bridge."
    partitions: Annotated[int, Field(strict=True, ge=1, le=1_000)] = 8
    """The number of slots. Fixed once state is written."""
    answers: TopicName | None = None
    operations: TopicName | None = None
    approvals: TopicName | None = None
    resume_commands: TopicName | None = None
    answer_verdicts: TopicName | None = None
    dead_letters: TopicName | None = None
    state: TopicName | None = None
    reroute: TopicName | None = None

    def names(self) -> records.Topics:
        """The topic of every role."""
        own = {role: getattr(self, role.replace("-", "_")) for role in records.ROLES}
        return records.Topics({role: own[role] or self.prefix + role for role in own})

    @model_validator(mode="after")
    def _distinct(self) -> Self:
        names = list(self.names().values())
        twice = sorted({name for name in names if names.count(name) > 1})
        if twice:
            raise ValueError(f"two roles share the topic {twice[0]}: each needs one of its own")
        return self


class Http(Model):
    """`[http]`: metrics and health. Another host than loopback is a decision of the operator."""

    host: Annotated[str, Field(min_length=1)] = "127.0.0.1"
    port: Annotated[int, Field(strict=True, ge=0, le=65_535)] = 9110
    """0: any free one, which the log tells."""


class Limits(Model):
    """`[limits]`: bounds, in bytes of JSON text where not said otherwise."""

    interrupts_per_run: Count = _RULES.interrupts_per_run
    thread_state_bytes: Count = _RULES.thread_state_bytes
    command_bytes: Count = _RULES.command_bytes
    payload_bytes: Count = _RULES.payload_bytes
    schema_bytes: Count = _RULES.schema_bytes
    record_bytes: Annotated[int, Field(strict=True, ge=1_024)] = _RULES.record_bytes
    """An operation that closes a run must always fit."""
    # The standard JSON decoder recurses in C; 200 levels are far from any stack's end.
    json_depth: Annotated[int, Field(strict=True, ge=4, le=200)] = _RULES.json_depth
    id_bytes: Count = _RULES.id_bytes
    text_bytes: Annotated[int, Field(strict=True, ge=256)] = _RULES.text_bytes
    parked_answers: Count = _RULES.parked_answers
    parked_bytes: Count = _RULES.parked_bytes
    # Twice as much may stand in one record of the state: of a run that asks and of those under way.
    carry_bytes: Annotated[int, Field(strict=True, ge=1, le=450_000)] = _RULES.carry_bytes
    cycle_max: Annotated[int, Field(strict=True, ge=1, le=10_000)] = 500
    """Inputs, timers and tombstones in one transaction."""

    def for_rules(self) -> core.Limits:
        """The part of them that the rules know."""
        return core.Limits(**self.model_dump(exclude={"cycle_max"}))

    @model_validator(mode="after")
    def _nested(self) -> Self:
        for outer in ("thread_state_bytes", "command_bytes"):
            if self.payload_bytes > getattr(self, outer):
                raise ValueError(
                    f"payload_bytes ({self.payload_bytes}) is above {outer} "
                    f"({getattr(self, outer)}): no answer of that size could be held"
                )
        return self


class Retention(Model):
    """`[retention]`: how long a closed run is remembered, so that a replay cannot resume it."""

    closed: Duration = DEFAULT_CLOSED_RETENTION


class Worker(Model):
    """`[worker]`: the times of one worker process. Few need to change one."""

    session_timeout: Annotated[Duration, Field(ge=6 * SECOND, le=5 * MINUTE)] = 6 * SECOND
    """The broker's group.min.session.timeout.ms is 6 s."""
    transaction_deadline: Duration = 9 * SECOND
    """Above one request's 8 s, so that a lost one is noticed; below transaction_timeout: we give
    up before the broker does."""
    transaction_timeout: Annotated[Duration, Field(le=15 * MINUTE)] = 15 * SECOND
    """Readers wait behind a dead worker's transaction for this and up to 10 s more."""
    reroute_grace: Duration = 2 * SECOND
    takeover_grace: Duration = 30 * SECOND
    shutdown_deadline: Duration = 20 * SECOND
    """Above transaction_deadline: a commit under way may end."""
    heartbeat: Annotated[Duration, Field(le=6 * DAY)] = HOUR
    """Below the broker's transactional.id.expiration.ms, 7 d."""
    give_up: Annotated[Duration, Field(ge=10 * SECOND, le=DAY)] = 2 * MINUTE
    """Above what a slot waits for by itself: a predecessor's transaction, a start of 30 s."""

    @model_validator(mode="after")
    def _ordered(self) -> Self:
        for lower, upper in (
            ("transaction_deadline", "transaction_timeout"),
            ("transaction_deadline", "shutdown_deadline"),
        ):
            if getattr(self, lower) >= getattr(self, upper):
                raise ValueError(f"{lower} must be shorter than {upper}")
        return self


class Log(Model):
    """`[log]`: JSON lines, or plain lines where a person looks on."""

    level: Literal["debug", "info", "warning", "error"] = "info"
    format: Literal["auto", "json", "text"] = "auto"
