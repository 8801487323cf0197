"""Sources: where run-finished events come from, and the rules for runs that they open.

`[policy]` holds the rules for all sources; a source overrides what it says itself.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal, Self

from pydantic import AwareDatetime, Field, field_validator, model_validator

from bridge import protocols
from bridge.config.values import Duration, Model, Name, TopicName
from bridge.core.durations import DAY, MINUTE
from bridge.core.model import Millis, RunPolicy, SourcePolicy
from bridge.protocols.framing import Pointer, read_pointer
from bridge.protocols.interface import AgentProtocol

DEFAULT_CLOSED_RETENTION = 7 * DAY


class Policy(Model):
    """Rules for runs that open now; a later change does not touch runs that are open."""

    default_ttl: Duration | None = None
    early_answer_ttl: Duration = 15 * MINUTE
    max_event_age: Duration | None = None
    """None: as long as closed runs are remembered; longer is refused."""
    closed_retention: Duration | None = None
    """None: `retention.closed`."""
    allowed_answerers: tuple[str, ...] = ()
    """Empty: everybody. A filter on what the answer says, not an authentication."""
    on_run_error: Literal["keep", "withdraw"] = "keep"
    unusable_schema: Literal["flag", "refuse"] = "flag"
    unknown_dialect: Literal["flag", "refuse"] = "flag"
    """Questions that bear signs of a convention which is not read here."""
    untimed: Literal["refuse", "arrival"] = "refuse"
    """Events that neither their record nor they themselves place in time."""


class Source(Policy):
    """One `[[sources]]` table. `name` is part of every id: it never changes."""

    name: Name
    protocol: str = "ag-ui"
    topic: TopicName | None = None
    topics: tuple[TopicName, ...] = Field(default=())
    start_from: Literal["earliest", "latest"] | AwareDatetime = "earliest"
    continuity: Annotated[bool, Field(strict=True)] = False
    """AG-UI: keep the context of each run for its resume, for agents that keep none themselves."""
    event_pointer: str | None = None
    """Where an event stands in its record, as a JSON Pointer, if others have wrapped it."""
    options: dict[str, Any] = Field(default={})
    """The protocol's own settings; which there are, the protocol says."""

    @property
    def topic_names(self) -> tuple[str, ...]:
        """The topics to read, whichever way they were written."""
        return self.topics if self.topic is None else (self.topic,)

    @property
    def start_at(self) -> Literal["earliest", "latest"] | Millis:
        """Where the first start reads from: an end of the log, or an instant."""
        if isinstance(self.start_from, str):
            return self.start_from
        return round(self.start_from.timestamp() * 1_000)

    def agent_protocol(self) -> AgentProtocol:
        """The protocol as this source speaks it. Raises ValueError for settings it cannot use."""
        return protocols.configured(self.protocol, self.options, self.continuity)

    def pointer(self) -> Pointer:
        """The tokens of `event_pointer`. Raises ValueError."""
        return () if self.event_pointer is None else read_pointer(self.event_pointer)

    def policy(self) -> SourcePolicy:
        """The rules as `decide` takes them."""
        retention = self.closed_retention or DEFAULT_CLOSED_RETENTION
        return SourcePolicy(
            default_ttl=self.default_ttl,
            max_event_age=self.max_event_age or retention,
            early_answer_ttl=self.early_answer_ttl,
            refuse_unusable_schema=self.unusable_schema == "refuse",
            refuse_unknown_dialect=self.unknown_dialect == "refuse",
            takes_untimed=self.untimed == "arrival",
            run=RunPolicy(
                allowed_answerers=self.allowed_answerers,
                withdraw_on_failure=self.on_run_error == "withdraw",
                closed_retention=retention,
            ),
        )

    def with_defaults(self, policy: Policy, closed_retention: Millis) -> Source:
        """This source with what it leaves open filled in from `[policy]` and `[retention]`."""
        update = {
            key: getattr(policy, key)
            for key in Policy.model_fields
            if key not in self.model_fields_set
        }
        filled = self.model_copy(update=update)
        retention = filled.closed_retention or closed_retention
        return filled.model_copy(
            update={
                "closed_retention": retention,
                "max_event_age": filled.max_event_age or retention,
            }
        )

    @field_validator("protocol")
    @classmethod
    def _known_protocol(cls, value: str) -> str:
        if value not in protocols.PROTOCOLS:
            raise ValueError(
                f"unknown protocol; this release reads {', '.join(protocols.PROTOCOLS)}"
            )
        return value

    @model_validator(mode="after")
    def _known_options(self) -> Self:
        self.agent_protocol()
        self.pointer()
        return self

    @model_validator(mode="after")
    def _topic_or_topics(self) -> Self:
        if (self.topic is None) == (not self.topics):
            raise ValueError("give either topic or topics")
        if len(set(self.topics)) != len(self.topics):
            raise ValueError("topics names one topic twice")
        return self
