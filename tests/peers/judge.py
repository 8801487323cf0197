"""Whether a case went as it must. Each problem says what was expected and what came.

Judged from what was published and what the program replied; how either came about is not known
here.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from tests.peers.observed import Command, Observed
from tests.peers.peer import ALL_CANCELLED, ASKS_AGAIN, ONE_EXPIRED, Peer
from tests.peers.played import Played, Turn

_SHOWN = 300


def judge(peer: Peer, played: Played, final: Observed) -> list[str]:
    """The problems of a case; `final` is all that was published once everything was worked on."""
    problems = [] if played.trouble is None else [played.trouble]
    for turn in played.turns:
        problems += _one_command(turn, final, complete=played.trouble is None)
        problems += [] if turn.command is None else _entries(peer, turn, turn.command)
    if played.trouble is None:
        problems += _endings(peer, played)
        problems += _method(peer, played)
    problems += _letters(peer, played, final)
    return problems


def _one_command(turn: Turn, final: Observed, *, complete: bool) -> Iterator[str]:
    """Exactly one for each interrupted run, whatever came after it; none for a sign-in."""
    found = len(final.commands_of(turn.run))
    if turn.elsewhere:
        if found:
            yield f"expected no resume command for an authorization, there are {found}"
        return
    if found > 1 or (complete and not found):
        yield f"expected one resume command for the run, there are {found}"


def _entries(peer: Peer, turn: Turn, command: Command) -> Iterator[str]:
    """One for each question, in the order of the run, as it was answered."""
    expected = [
        {"interrupt_id": one["interrupt_id"], "approval_id": one["approval_id"], **given}
        for one, given in zip(turn.asked, _carried_out(peer, turn.given), strict=False)
    ]
    found = [_entry(entry) for entry in command.members["entries"]]
    if _text(found) != _text(expected):
        yield f"expected the entries {_shown(expected)}, got {_shown(found)}"


def _carried_out(peer: Peer, given: Sequence[Mapping[str, Any]]) -> Iterator[Mapping[str, Any]]:
    """What can reach the agent of what was given: an A2A task is answered in full or cancelled."""
    gives_up = peer.protocol == "a2a" and any(one["status"] == "cancelled" for one in given)
    for one in given:
        lost = gives_up and one["status"] == "resolved"
        yield {"status": "cancelled", "reason": "sibling_abandoned"} if lost else one


def _entry(entry: Mapping[str, Any]) -> dict[str, Any]:
    told = {name: entry[name] for name in ("interrupt_id", "approval_id", "status")}
    payload = {"payload": entry["payload"]} if "payload" in entry else {}
    return {**told, "reason": entry["closed_reason"], **payload}


def _endings(peer: Peer, played: Played) -> Iterator[str]:
    """How each run ended, and what the last one shows of the answers."""
    expected = _expected_ends(peer, played.case)
    replies = [turn.reply or {} for turn in played.turns]
    found = [str(reply.get("end")) for reply in replies]
    if found != expected:
        problem = f": {replies[-1]['problem']}" if replies and replies[-1].get("problem") else ""
        ended = ", ".join(found) + problem
        yield f"expected the agent to end {', '.join(expected)}; it ended {ended}"
    if played.case != ONE_EXPIRED and replies:
        yield from _proof(peer, replies[-1].get("result"), wanted=played.case != ALL_CANCELLED)


def _expected_ends(peer: Peer, case: str) -> list[str]:
    if case == ASKS_AGAIN:
        return ["asks", "finished"]
    return [
        {ALL_CANCELLED: peer.cancelled_end, ONE_EXPIRED: peer.expired_end}.get(case, "finished")
    ]


def _proof(peer: Peer, result: Any, *, wanted: bool) -> Iterator[str]:
    text = json.dumps(result, ensure_ascii=False)
    if wanted and peer.proof not in text:
        yield f"expected {peer.proof!r} in the agent's result, got {_shown(result)}"
    if not wanted and peer.proof in text:
        yield f"all was cancelled, but {peer.proof!r} is in the agent's result: {_shown(result)}"


def _method(peer: Peer, played: Played) -> Iterator[str]:
    """A task that is not answered in full is cancelled: A2A has no other word for it."""
    if peer.protocol != "a2a" or played.case not in {ALL_CANCELLED, ONE_EXPIRED}:
        return
    for command in (turn.command for turn in played.turns if turn.command is not None):
        found = command.members["native"]["method"]
        if found not in {"CancelTask", "tasks/cancel"}:
            yield f"expected the method CancelTask, got {found}"


def _letters(peer: Peer, played: Played, final: Observed) -> Iterator[str]:
    for letter in final.letters:
        if letter.origin in played.origins and letter.reason not in peer.dead_letters:
            yield f"an event became a dead letter: {letter.reason} ({letter.detail})"


def _text(value: Any) -> str:
    """As JSON, in which true is not 1."""
    return json.dumps(value, ensure_ascii=False, sort_keys=True)


def _shown(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"
