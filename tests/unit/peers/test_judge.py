"""The run with real agents can fail: a program that lies is found out, and so is a bridge."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.peers import program as peer_program
from tests.peers.judge import judge
from tests.peers.observed import Command, Letter, Observed
from tests.peers.peer import ALL_CANCELLED, ANSWERED, ASKS_AGAIN, CASES, ONE_EXPIRED, Peer
from tests.peers.played import Played
from tests.peers.program import Program
from tests.peers.story import play
from tests.unit.peers.slot import Slot

LIAR = Path(__file__).with_name("liar.py")
PEER = Peer(
    name="liar",
    title="A liar",
    protocol="ag-ui",
    set="current",
    program="liar.py",
    answer={"approved": True},
    proof="refunded",
    wrong={"approved": "yes"},
)


async def played(lie: str, case: str, folder: Path) -> tuple[Played, Observed, str]:
    """A case with the program, what the bridge published, and the program's last words."""
    slot = Slot(PEER)
    async with Program([sys.executable, str(LIAR), lie], folder / "log") as program:
        done = await play(PEER, case, program, slot)
        return done, slot.observed, program.tail()


async def problems(lie: str, case: str, folder: Path) -> str:
    done, seen, _ = await played(lie, case, folder)
    return "\n".join(judge(PEER, done, seen))


@pytest.mark.parametrize("case", CASES)
async def test_an_honest_program_passes(case: str, tmp_path: Path) -> None:
    """Or the failures below would say nothing."""
    assert await problems("honest", case, tmp_path) == ""


@pytest.mark.parametrize(
    ("lie", "case", "told"),
    [
        ("ignores", ANSWERED, "expected 'refunded' in the agent's result, got \"nothing\""),
        ("insists", ALL_CANCELLED, "all was cancelled, but 'refunded' is in the agent's result"),
        ("stops", ASKS_AGAIN, "expected the agent to end asks, finished; it ended finished"),
        ("unreadable", ANSWERED, "an event became a dead letter: not_json"),
        ("speechless", ANSWERED, "expected records in the program's reply, it has none"),
        ("crashes", ANSWERED, "the program ended with exit code 3"),
        ("raises", ANSWERED, "the program failed at resume: LookupError: no such thread"),
    ],
)
async def test_a_lie_is_told(lie: str, case: str, told: str, tmp_path: Path) -> None:
    """With what was expected and what came."""
    assert told in await problems(lie, case, tmp_path)


async def test_a_silent_program_is_not_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And it is ended, so that a late reply is not taken for another's."""
    monkeypatch.setattr(peer_program, "CALL_SECONDS", 6.0)  # it starts within that
    told = "the program did not reply to resume within 6 s"
    assert told in await problems("silent", ANSWERED, tmp_path)


async def test_the_last_words_of_a_program_are_kept(tmp_path: Path) -> None:
    """They say more of its crash than its exit code."""
    _, _, tail = await played("crashes", ANSWERED, tmp_path)
    assert "the reason of the crash" in tail


async def test_what_is_no_reply_is_told(tmp_path: Path) -> None:
    """A library that prints to a program's stdout breaks its line."""
    chatty = [sys.executable, "-c", "print('Welcome!')"]
    async with Program(chatty, tmp_path / "log") as program:
        with pytest.raises(peer_program.Trouble, match="no JSON object: b'Welcome!"):
            await program.hello()


# --- A bridge at fault ----------------------------------------------------------------------------


async def test_a_second_command_is_told(tmp_path: Path) -> None:
    """Also one that comes long after the case."""
    done, seen, _ = await played("honest", ANSWERED, tmp_path)
    seen.commands.append(seen.commands[0])
    assert judge(PEER, done, seen) == ["expected one resume command for the run, there are 2"]


async def test_a_command_that_went_missing_is_told(tmp_path: Path) -> None:
    """What one reader saw must be there for all."""
    done, _, _ = await played("honest", ANSWERED, tmp_path)
    assert judge(PEER, done, Observed()) == ["expected one resume command for the run, there are 0"]


@pytest.mark.parametrize(
    "change",
    [
        {"payload": {"approved": 1}},
        {"status": "cancelled"},
        {"closed_reason": "lapsed"},
        {"interrupt_id": "another"},
    ],
)
async def test_an_entry_that_is_not_the_answer_is_told(
    change: dict[str, Any], tmp_path: Path
) -> None:
    """Its payload as it was given, where true is not 1."""
    done, seen, _ = await played("honest", ANSWERED, tmp_path)
    (turn,) = done.turns
    assert turn.command is not None
    entries = [{**entry, **change} for entry in turn.command.members["entries"]]
    turn.command = Command({**turn.command.members, "entries": entries}, turn.command.native)
    (problem,) = judge(PEER, done, seen)
    assert problem.startswith("expected the entries")


async def test_an_entry_too_few_is_told(tmp_path: Path) -> None:
    """A question that the agent would hear nothing of."""
    done, seen, _ = await played("honest", ONE_EXPIRED, tmp_path)
    (turn,) = done.turns
    assert turn.command is not None
    entries = turn.command.members["entries"][:1]
    turn.command = Command({**turn.command.members, "entries": entries}, turn.command.native)
    assert any(each.startswith("expected the entries") for each in judge(PEER, done, seen))


async def test_only_dead_letters_of_the_case_count(tmp_path: Path) -> None:
    """And not those that its peer is known for."""
    done, seen, _ = await played("honest", ANSWERED, tmp_path)
    mine = min(done.origins)
    seen.letters += [Letter("malformed", "/type", "liar/0/999"), Letter("unsupported", "", mine)]
    assert len(judge(PEER, done, seen)) == 1
    assert judge(replace(PEER, dead_letters=("unsupported",)), done, seen) == []
