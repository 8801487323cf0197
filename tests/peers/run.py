"""The run: every peer's program against one worker on one broker, judged case by case."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

from bridge.demo.broker import DevBroker
from tests.peers import sets
from tests.peers.judge import judge
from tests.peers.observed import Observed
from tests.peers.peer import CASES, Peer
from tests.peers.played import Played
from tests.peers.program import Program, Trouble
from tests.peers.record.tape import Tape
from tests.peers.row import Outcome, Row
from tests.peers.site import Site, set_up
from tests.peers.story import play

Tell = Callable[[Peer, str, Outcome], None]
"""Is told of each case as soon as it is judged."""

AT_ONCE = 2


def run(peers: Sequence[Peer], tell: Tell, at_once: int = AT_ONCE) -> list[Row]:
    """Play all cases of all peers; a row each. Their sets must be built."""
    with tempfile.TemporaryDirectory(prefix="bridge-peers-") as folder, DevBroker() as broker:
        return asyncio.run(_run(peers, tell, at_once, broker.bootstrap, Path(folder)))


async def _run(
    peers: Sequence[Peer], tell: Tell, at_once: int, bootstrap: str, folder: Path
) -> list[Row]:
    async with set_up(bootstrap, peers, folder) as site:
        turns = asyncio.Semaphore(at_once)

        async def one(peer: Peer) -> _Sitting:
            async with turns:
                return await _sit(peer, site, folder / f"{peer.name}.log", tell)

        sittings = await asyncio.gather(*map(one, peers))
        final = await site.settled()
    return [_judged(sitting, final, tell) for sitting in sittings]


class _Sitting:
    """A peer with what was played with it, and its program's last words of each case."""

    def __init__(self, peer: Peer) -> None:
        self.row = Row(peer)
        self.played: dict[str, tuple[Played, str]] = {}


async def _sit(peer: Peer, site: Site, log: Path, tell: Tell) -> _Sitting:
    """All cases of a peer, one after the other; told as far as they can be judged at once."""
    sitting = _Sitting(peer)
    async with Program(sets.command(peer.set, peer.program, *peer.arguments), log) as program:
        try:
            sitting.row.versions = await program.hello()
        except Trouble as trouble:
            failed = Outcome("failed", (str(trouble),), program.tail())
            sitting.row.outcomes = dict.fromkeys(CASES, failed)
            tell(peer, CASES[0], failed)
            return sitting
        for case in CASES:
            outcome = await _case(sitting, case, program, site)
            tell(peer, case, outcome)
    return sitting


async def _case(sitting: _Sitting, case: str, program: Program, site: Site) -> Outcome:
    peer = sitting.row.peer
    if case in peer.cannot:
        outcome = Outcome("cannot", (peer.cannot[case],))
    else:
        if not program.alive:
            await program.start()
        tape = Tape(program)
        played = await play(peer, case, tape, site)
        sitting.row.said[case] = tape.exchanges
        sitting.played[case] = played, program.tail()
        outcome = _outcome(peer, played, program.tail(), site.observed)
    sitting.row.outcomes[case] = outcome
    return outcome


def _outcome(peer: Peer, played: Played, tail: str, seen: Observed) -> Outcome:
    problems = judge(peer, played, seen)
    if problems:
        return Outcome("failed", tuple(problems), tail, played.seconds)
    return Outcome("ok", seconds=played.seconds)


def _judged(sitting: _Sitting, final: Observed, tell: Tell) -> Row:
    """Once more with all that the bridge published: what came late counts too."""
    for case, (played, tail) in sitting.played.items():
        outcome = _outcome(sitting.row.peer, played, tail, final)
        if outcome.came != sitting.row.outcomes[case].came:
            tell(sitting.row.peer, case, outcome)
        sitting.row.outcomes[case] = outcome
    return sitting.row
