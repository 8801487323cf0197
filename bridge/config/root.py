"""The whole of the settings, and what its sections must agree on."""

from __future__ import annotations

from collections import Counter
from typing import Self

from pydantic import Field, ValidationInfo, field_validator, model_validator

from bridge.config.kafka import KafkaConfig
from bridge.config.sections import Http, Limits, Log, Retention, Topics, Worker
from bridge.config.source import Policy, Source
from bridge.config.values import Model, Name
from bridge.core.durations import format_duration
from bridge.errors import ConfigError


class Config(Model):
    """What a file, the environment and the defaults say together. Build it with `load`."""

    app_id: Name = "interrupt-bridge"
    """The consumer group, and the prefix of the transactional ids."""
    kafka: KafkaConfig
    policy: Policy = Field(default_factory=Policy)
    retention: Retention = Field(default_factory=Retention)
    topics: Topics = Field(default_factory=Topics)
    sources: tuple[Source, ...] = ()
    http: Http = Field(default_factory=Http)
    limits: Limits = Field(default_factory=Limits)
    worker: Worker = Field(default_factory=Worker)
    log: Log = Field(default_factory=Log)

    def source(self, name: str) -> Source | None:
        """The source of that name, None when there is none."""
        return next((source for source in self.sources if source.name == name), None)

    def require_sources(self) -> None:
        """Raises ConfigError when nothing is to be read: a worker needs at least one source."""
        if not self.sources:
            raise ConfigError(
                "sources: a worker needs at least one; add [[sources]] with name, protocol and "
                "topic, or set BRIDGE_SOURCES to a JSON array of them"
            )

    @field_validator("sources")
    @classmethod
    def _filled_in(cls, sources: tuple[Source, ...], info: ValidationInfo) -> tuple[Source, ...]:
        # A section that failed is not in info.data; its own error is reported then.
        policy = info.data.get("policy", Policy())
        retention = info.data.get("retention", Retention())
        return tuple(source.with_defaults(policy, retention.closed) for source in sources)

    @model_validator(mode="after")
    def _nothing_clashes(self) -> Self:
        own = {name: role for role, name in self.topics.names().items()}
        names = Counter(source.name for source in self.sources)
        topics = Counter(topic for source in self.sources for topic in source.topic_names)
        for name, count in names.items():
            if count > 1:
                raise ValueError(f"sources: two are named {name}")
        for topic, count in topics.items():
            if count > 1:
                raise ValueError(f"sources: two read the topic {topic}")
        for topic in topics:
            if topic in own:
                raise ValueError(f"sources: {topic} is the bridge's own topic for {own[topic]}")
        return self

    @model_validator(mode="after")
    def _replays_find_their_runs(self) -> Self:
        for index, source in enumerate(self.sources):
            policy = source.policy()
            age, retention = policy.max_event_age, policy.run.closed_retention
            if age > retention:
                raise ValueError(
                    f"sources[{index}].max_event_age ({format_duration(age)}) is longer than "
                    f"closed runs are remembered ({format_duration(retention)}): a replay could "
                    "ask again; shorten it, or raise retention.closed"
                )
        return self
