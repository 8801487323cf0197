"""Workers that come back when somebody else has their slots."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from random import Random

import pytest

from tests.chaos.agents import AGENTS
from tests.chaos.agents.play import Play
from tests.chaos.agents.source import Source
from tests.chaos.hand import Hand, question
from tests.chaos.metering import figure
from tests.chaos.rigged import rigged
from tests.chaos.rounds import MIXED, Site, build_site, working
from tests.chaos.script import answer_body
from tests.chaos.workers import Worker

SLOTS = 4
THREADS = 40
ASKED_AT = {"run-1": 1_790_000_000_000, "run-2": 1_790_000_060_000}


async def until_it_holds(worker: Worker, slots: int) -> None:
    """Wait until the worker has opened so many slots."""
    deadline = time.monotonic() + 60
    while figure(await worker.metrics(), "slots") < slots or not await worker.is_ready():
        assert time.monotonic() < deadline, worker.tail()
        await asyncio.sleep(0.2)


def plays(run: str) -> Iterator[tuple[Source, str, Play]]:
    """One run for each thread, of agents of all protocols, each of which answers can settle."""
    for number in range(THREADS):
        agent = AGENTS[MIXED[number % len(MIXED)]]
        chance, thread = Random(f"{run}/{number}"), f"thread-{number}"
        drawn = (agent.draw(chance, thread, run, "an open run") for _ in count())
        ask = next(ask for ask in drawn if ask.is_answerable)
        yield agent.source, thread, ask.play(ASKED_AT[run], [None] * ask.count)


def ask(hand: Hand, run: str) -> None:
    for source, thread, play in plays(run):
        for record in play.asking:
            hand.send(hand.site.input_topics[source.name], record, thread.encode())
    hand.flush()


def answer(hand: Hand, run: str) -> None:
    for source, thread, play in plays(run):
        for asked in play.questions:
            approval_id = source.id_of("approval", thread, play.run, asked.interrupt_id)
            value = answer_body({"approval_id": approval_id}, asked.valid[0])
            hand.send(hand.site.names["answers"], value, thread.encode())
    hand.flush()


async def are_asked(hand: Hand, *runs: str) -> None:
    """Wait until every question of these runs is published."""
    questions = sum(len(play.questions) for run in runs for _, _, play in plays(run))
    await hand.until("approvals", lambda found: sum(b["revision"] == 1 for b in found) >= questions)


async def finish(site: Site, hand: Hand, commands: int) -> None:
    found = await hand.commands(commands)
    report = await site.settled()
    assert report.ok, report.summary()
    assert len(found) == commands
    assert report.outcomes == {"resumed": commands}


async def test_a_paused_worker_comes_back(bootstrap: str, tmp_path: Path) -> None:
    """Fault 5: paused for longer than its session, it finds its slots taken and says so.

    When it goes on it still believes in its slots, and is fenced with its next transaction. The
    group may have told it by then who has them.
    """
    site = await build_site(bootstrap, tmp_path, sources=MIXED, slots=SLOTS)
    hand = Hand(site)
    async with working(site, 2) as (zombie, heir):
        await until_it_holds(zombie, SLOTS // 2)
        ask(hand, "run-1")
        await are_asked(hand, "run-1")
        zombie.pause()
        answer(hand, "run-1")
        await until_it_holds(heir, SLOTS)
        await hand.commands(THREADS)
        zombie.cont()
        ask(hand, "run-2")
        await are_asked(hand, "run-1", "run-2")
        answer(hand, "run-2")
        await finish(site, hand, 2 * THREADS)
        assert zombie.alive
        await zombie.ready()
    told = [
        line
        for line in zombie.lines()
        if line.get("code") == "fenced" or line.get("message") == "slot has a new owner"
    ]
    assert told, zombie.tail()


@pytest.mark.long
async def test_a_transaction_is_left_open(bootstrap: str, tmp_path: Path) -> None:
    """Fault 6: stopped in mid-transaction, with nobody to take over.

    The broker aborts it in time, so that readers go on; what the worker sends on waking is
    refused, and it does the work again from the log.
    """
    times = {"transaction_deadline": "8s", "transaction_timeout": "9s"}
    site = await build_site(bootstrap, tmp_path, slots=1, sections={"worker": times})
    hand = Hand(site)
    async with site.worker("sleeper", rigged("stop-before-commit", "resume-commands")) as sleeper:
        hand.ask("thread-1", "run-1", question("a"))
        hand.flush()
        await hand.until("approvals", lambda found: len(found) == 1)
        hand.answer("thread-1", "run-1", "a")
        hand.flush()
        assert await hand.transactions_left(1, within=30)
        assert await hand.transactions_left(0, within=9 + 10 + 10), (
            "the timeout, a sweep, some room"
        )
        assert await hand.bodies("resume-commands") == []
        sleeper.cont()
        await finish(site, hand, 1)
        rebuilt = figure(await sleeper.metrics(), "rebuilds_total")
    assert rebuilt >= 1, sleeper.tail()
    assert await hand.written("resume-commands") == 2, "the first one was not aborted"


@pytest.mark.long
async def test_two_groups_share_transactional_ids(bootstrap: str, tmp_path: Path) -> None:
    """Fault 7: two owners of every slot, which no group keeps apart; the epoch does.

    Both have a seat in a group of their own and fence each other; all that is written is right.
    """
    site = await build_site(bootstrap, tmp_path, sources=MIXED, slots=2)
    hand = Hand(site)
    async with (
        site.worker("rival", rigged("group", "other"), ready=False) as rival,
        site.worker("owner", ready=False) as owner,
    ):
        ask(hand, "run-1")
        await are_asked(hand, "run-1")
        answer(hand, "run-1")
        await finish(site, hand, THREADS)
        fenced = [
            figure(await worker.metrics(), "rebuilds_total", cause="fenced")
            for worker in (rival, owner)
        ]
    assert min(fenced) > 0, "one of them was never fenced"
