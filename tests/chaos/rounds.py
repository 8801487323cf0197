"""A round: a cluster of workers under load and faults, then the checker over all that was written.

Everything a round needs has names of its own, so rounds share one broker and nothing else.
"""

from __future__ import annotations

import asyncio
import time
import uuid
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from aiokafka.admin import NewTopic

from bridge.audit.checker import check
from bridge.audit.log import LogRecord, Role, Setup
from bridge.audit.outside import Recovery
from bridge.audit.reader import read_topics
from bridge.audit.report import Report
from bridge.kafka import topic_admin
from bridge.kafka.topics import Wanted
from bridge.records.topics import Topics
from tests.chaos.agents import AGENTS
from tests.chaos.agents.ag_ui import SOURCE as AG_UI_SOURCE
from tests.chaos.agents.source import EARLY_ANSWER_TTL
from tests.chaos.faults import Broker, Fault, inflict, recoveries
from tests.chaos.load import LoadReport, run_load
from tests.chaos.workers import WORKER, Fleet, Setting, Worker, write_config
from tests.topics import create_topics

SOURCE = AG_UI_SOURCE.name
MIXED = tuple(AGENTS)  # all protocols on one cluster
SETTLE_SECONDS = 90.0
WORKER_TIMES: Mapping[str, Setting] = {"takeover_grace": "3s", "session_timeout": "6s"}


@dataclass(frozen=True, slots=True)
class Site:
    """The topics and settings of one round."""

    bootstrap: str
    names: Topics
    input_topics: dict[str, str]  # by source
    slots: int
    config: Path
    directory: Path

    @property
    def input_topic(self) -> str:
        """That of the AG-UI agents."""
        return self.input_topics[SOURCE]

    def fleet(self, count: int, env: Mapping[str, str] | None = None) -> Fleet:
        return Fleet(count, self.config, self.directory, env)

    @asynccontextmanager
    async def worker(
        self,
        name: str = "worker",
        command: Sequence[str] = WORKER,
        *,
        ready: bool = True,
        env: Mapping[str, str] | None = None,
    ) -> AsyncIterator[Worker]:
        """One worker by itself, perhaps of another command; ended whatever happens."""
        worker = Worker(name, self.config, self.directory, env, command)
        worker.start()
        try:
            if ready:
                await worker.ready()
            yield worker
            await worker.stop()
        finally:
            worker.kill()

    async def records(self) -> list[LogRecord]:
        """Everything committed on all topics of the round."""
        roles: dict[str, Role] = {topic: role for role, topic in self.names.items()}  # type: ignore[misc]  # the roles of the settings are the checker's
        return await read_topics(
            {**roles, **dict.fromkeys(self.input_topics.values(), "input")},
            bootstrap_servers=self.bootstrap,
        )

    async def judge(
        self, *, final: bool = False, recovered: Sequence[Recovery] = (), compacted: bool = False
    ) -> Report:
        """The checker's report on the topics as they are now."""
        sources = {
            topic: AGENTS[name].source.checked() for name, topic in self.input_topics.items()
        }
        setup = Setup(sources, self.slots, final=final, compacted=compacted)
        return check(await self.records(), setup, recoveries=recovered)

    async def settled(self, recovered: Sequence[Recovery] = ()) -> Report:
        """The final report, once everything is worked on; the last one if that never comes."""
        deadline = time.monotonic() + SETTLE_SECONDS
        while True:
            report = await self.judge(final=True, recovered=recovered)
            if report.ok or time.monotonic() > deadline:
                return report
            await asyncio.sleep(1.0)


async def build_site(
    bootstrap: str,
    directory: Path,
    *,
    sources: Sequence[str] = (SOURCE,),
    slots: int = 4,
    input_partitions: int | None = None,
    input_config: Mapping[str, str] | None = None,
    sections: Mapping[str, Mapping[str, Setting]] | None = None,
) -> Site:
    """Topics and a settings file for a round with these sources."""
    app = f"round-{uuid.uuid4().hex[:8]}"
    names = Topics.under(f"{app}.")
    input_topics = {source: f"{app}.{source}" for source in sources}
    partitions, topic_config = input_partitions or slots, dict(input_config or {})
    await create_topics(
        bootstrap,
        [NewTopic(t, partitions, 1, topic_configs=topic_config) for t in input_topics.values()],
    )
    inputs = tuple(input_topics.values())
    wanted = Wanted(names=names, inputs=inputs, partitions=slots, bootstrap=bootstrap)
    await topic_admin.create({"bootstrap_servers": bootstrap}, wanted)
    # An early answer whose event was lost on its way to a dead broker must have its verdict too.
    merged: dict[str, dict[str, Setting]] = {
        "worker": dict(WORKER_TIMES),
        "policy": {"early_answer_ttl": f"{EARLY_ANSWER_TTL}ms"},
    }
    for section, settings in (sections or {}).items():
        merged.setdefault(section, {}).update(settings)
    config = write_config(
        directory / "bridge.toml",
        bootstrap,
        names,
        [AGENTS[source].source.settings(topic) for source, topic in input_topics.items()],
        partitions=slots,
        app_id=app,
        sections=merged,
    )
    return Site(bootstrap, names, input_topics, slots, config, directory)


@asynccontextmanager
async def working(site: Site, workers: int) -> AsyncIterator[list[Worker]]:
    """Workers of the site, ready; ended whatever happens."""
    async with site.fleet(workers) as fleet:
        yield fleet


async def round_of(
    site: Site,
    *,
    seed: int,
    faults: Sequence[Fault],
    cycles: int,
    rate: float,
    workers: int = 2,
    broker: Broker | None = None,
    bound: float = 30.0,
) -> tuple[Report, LoadReport]:
    """Load and faults together, then the final report of the checker."""
    async with working(site, workers) as fleet:
        load, done = await asyncio.gather(
            run_load(
                site.bootstrap,
                site.names,
                site.input_topics,
                seed,
                cycles,
                rate,
                stop_after=cycles / rate + 60,
            ),
            inflict(faults, fleet, broker),
        )
        report = await site.settled(recoveries(done, load.progress, bound))
    return report, load
