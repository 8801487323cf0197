"""Questions told by `CUSTOM on_interrupt`, through whole cycles: kept, asked once, and resumed."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from bridge.core.ids import home_slot
from bridge.core.model import Limits, SourcePolicy
from bridge.core.record import Record
from bridge.core.schema import SchemaCache
from bridge.protocols import configured
from bridge.slot.desk import Desk, Source
from tests.unit.slot.desk import EVENTS, NOW, TOPICS, Bench, answer, raw, sent

_WEEK = 7 * 86_400_000
REFUSAL = {"approved": False}
ASKED = {"reason": "approve_write", "message": "Écrire ? 🙂", "tool_call_id": "tc-a", "n": 1}
SCHEMA = {"type": "object", "properties": {"ok": {"type": "boolean"}}, "required": ["ok"]}
HEX = "5a1295ab2e6ecc47588420f4f433002a"
NAMES = {"threadId": "t-1", "runId": "r-1"}


def bench(
    options: Mapping[str, Any] | None = None,
    *,
    continuity: bool = False,
    slot: int = 0,
    slots: int = 1,
    **limits: int,
) -> Bench:
    settings = {"legacy_refusal": REFUSAL} if options is None else options
    source = Source("agents", configured("ag-ui", settings, continuity), SourcePolicy())
    return Bench(Desk(slot, slots, {EVENTS: source}, TOPICS, Limits(**limits), SchemaCache(16)))


def told(event: Mapping[str, Any], key: str | None = "t-1", **place: Any) -> Record:
    return raw(json.dumps(event).encode(), EVENTS, None if key is None else key.encode(), **place)


def custom(value: Any, interrupt_id: str | None = None, **members: Any) -> dict[str, Any]:
    raw_event = {} if interrupt_id is None else {"rawEvent": {"value": value, "id": interrupt_id}}
    return {"type": "CUSTOM", "name": "on_interrupt", "value": value, **raw_event, **members}


def langgraph(interrupt_id: str = HEX, asked: Mapping[str, Any] = ASKED) -> dict[str, Any]:
    return custom(json.dumps(asked), interrupt_id)


def started(run: str = "r-1", **members: Any) -> dict[str, Any]:
    return {"type": "RUN_STARTED", "threadId": "t-1", "runId": run, **members}


def over(run: str = "r-1", **members: Any) -> dict[str, Any]:
    return {"type": "RUN_FINISHED", "threadId": "t-1", "runId": run, **members}


def asks(*ids: str) -> dict[str, Any]:
    interrupts = [{"id": each, "reason": "tool_call"} for each in ids]
    return over(outcome={"type": "interrupt", "interrupts": interrupts})


FAILED = {"type": "RUN_ERROR", "message": "boom"}


def asked(out: Sequence[Any]) -> list[tuple[str, str, list[str]]]:
    return [
        (a["run_id"], a["interrupt_id"], a["flags"])
        for a in sent(out, "approvals")
        if a["status"] == "pending"
    ]


def kept(one: Bench) -> list[bytes]:
    """The state records of runs under way."""
    return [key for key, value in one.log.items() if key.startswith(b"carry/") and value]


def body(out: Sequence[Any]) -> dict[str, Any]:
    (command,) = sent(out, "resume-commands")
    return dict(command["native"]["body"])


# --- Asked ----------------------------------------------------------------------------------------


def test_langgraphs_default_is_asked_when_its_run_ends() -> None:
    """Not before; with what the graph asked, under the id that its interrupt has."""
    one = bench()
    assert one.cycle(told(started()), told(langgraph())) == []
    (question,) = sent(one.cycle(told(over())), "approvals")
    assert (question["run_id"], question["interrupt_id"], question["flags"]) == ("r-1", HEX, [])
    assert question["message"] == ASKED["message"]
    assert (question["reason"], question["tool_call_id"]) == ("approve_write", "tc-a")
    assert question["metadata"] == {"on_interrupt": ASKED}
    assert question["origin"]["topic"] == EVENTS
    assert not kept(one)


def test_what_was_told_outlives_the_worker_that_read_it() -> None:
    """Killed between the question and the end of its run."""
    one = bench()
    one.cycle(told(langgraph()))
    out = one.restored().cycle(told(over()))
    assert asked(out) == [("r-1", HEX, [])]


def test_several_interrupts_are_asked_in_their_order() -> None:
    one = bench()
    ids = [f"{number:032x}" for number in range(3)]
    one.cycle(*(told(langgraph(each, {"message": each})) for each in ids))
    assert [interrupt for _, interrupt, _ in asked(one.cycle(told(over())))] == ids


def test_without_ids_they_are_numbered_and_flagged() -> None:
    """Two equal ones may well be two questions."""
    one = bench({})
    one.cycle(told(custom("Deploy?")), told(custom("Deploy?")))
    flags = ["synthetic_id", "no_refusal"]
    assert asked(one.cycle(told(over()))) == [
        ("r-1", "legacy-0", flags),
        ("r-1", "legacy-1", flags),
    ]


def test_the_same_one_told_again_is_one_question() -> None:
    one = bench()
    one.cycle(told(langgraph()), told(langgraph(), offset=1))
    one.cycle(told(over()))
    again = one.cycle(told(langgraph(), offset=2), told(over(), offset=3))
    assert again == []
    assert one.ledger.pending["agents"] == 1


def test_two_different_ones_under_one_id_are_refused_with_their_run() -> None:
    one = bench()
    one.cycle(told(langgraph()), told(langgraph(HEX, {"message": "other"})))
    (letter,) = one.cycle(told(over()))
    assert dict(letter.headers)["bridge-reason"] == b"duplicate_interrupt_id"


def test_an_outcome_that_asks_wins() -> None:
    """Mastra tells both ways at once."""
    value = {"type": "mastra_suspend", "runId": "r-1", "toolCallId": "c", "args": {}}
    one = bench()
    one.cycle(told(custom(json.dumps(value))))
    assert asked(one.cycle(told(asks("r-1::c")))) == [("r-1", "r-1::c", [])]
    assert one.cycle(told(over(), offset=3)) == []
    assert not kept(one)


def test_an_early_answer_waits_for_the_end_of_the_run() -> None:
    one = bench()
    early = one.cycle(answer(interrupt=HEX))
    assert early == []
    one.cycle(told(langgraph()))
    assert body(one.cycle(told(over())))["forwardedProps"] == {"command": {"resume": True}}


def test_a_source_may_read_past_them() -> None:
    one = bench({"legacy": False})
    assert one.cycle(told(langgraph()), told(over())) == []
    assert not kept(one)
    assert one.counts["lenient", "custom_on_interrupt"] == 1


def test_an_old_run_is_too_old_to_ask() -> None:
    one = bench()
    long_ago = NOW - 2 * _WEEK
    one.cycle(told(langgraph(), at=long_ago))
    (letter,) = one.cycle(told(over(), at=long_ago))
    assert dict(letter.headers)["bridge-reason"] == b"too_old"


# --- Not asked ------------------------------------------------------------------------------------

SUCCESS = over(outcome={"type": "success"})


@pytest.mark.parametrize(
    ("end", "counts"),
    [
        (FAILED, {}),
        (SUCCESS, {("carry_dropped", "unasked"): 1}),
        (over(outcome={"type": "cancelled"}), {("carry_dropped", "unasked"): 1}),
        (started("r-2"), {("carry_dropped", "unasked"): 1}),
    ],
)
@pytest.mark.parametrize("continuity", [False, True])
def test_a_run_that_ends_otherwise_asks_nothing_and_leaves_nothing(
    end: dict[str, Any], counts: Mapping[tuple[str, str], int], continuity: bool
) -> None:
    """A new run asks nothing of the one before either; what nobody explains is counted."""
    one = bench(continuity=continuity)
    one.cycle(told(langgraph()))
    assert one.cycle(told(end)) == []
    assert one.cycle(told(over("r-2"))) == []
    assert {key: n for key, n in one.counts.items() if key[0] != "lenient"} == counts
    assert not kept(one)


@pytest.mark.parametrize(("key", "thread"), [(None, "t-1"), ("user-7", "t-1"), ("user-7", "t-2")])
def test_what_came_by_another_way_is_nobodys(key: str | None, thread: str) -> None:
    """The end of a run whose key is not its thread may be of any moment of it."""
    one = bench()
    one.cycle(told(langgraph(), key="user-7" if thread == "t-2" else "t-1"))
    assert one.cycle(told({**over(), "threadId": thread}, key=key)) == []
    assert one.counts["unattributable", "agents"] == 1
    assert one.counts["carry_dropped", "unasked"] == 1
    assert one.cycle(told(over("r-2"), offset=2)) == []
    assert not kept(one)


@pytest.mark.parametrize("key", [None, "", b"\xff"])
def test_a_question_of_nobody_is_counted(key: Any) -> None:
    one = bench()
    record = raw(
        json.dumps(langgraph()).encode(), EVENTS, key.encode() if isinstance(key, str) else key
    )
    assert one.cycle(record) == []
    assert one.counts["unattributable", "agents"] == 1
    assert one.counts["carry_dropped", "unasked"] == 1
    assert not kept(one)


def test_a_thread_and_run_in_the_event_need_no_order() -> None:
    """Agents that put their names on every event."""
    one = bench()
    one.cycle(told({**langgraph(), **NAMES}, key=None))
    assert one.cycle(told(over("r-0"), key=None)) == []
    assert asked(one.cycle(told(over(), key=None))) == [("r-1", HEX, [])]


def test_with_continuity_it_is_the_runs_that_began_last() -> None:
    """A run that another started on its own thread ends without the other's question."""
    one = bench(continuity=True)
    one.cycle(told(started("r-1")), told(started("r-2")), told(over("r-2")))
    one.cycle(told(langgraph()))
    assert one.cycle(told(over("r-3"))) == []
    assert asked(one.restored().cycle(told(over("r-1")))) == [("r-1", HEX, [])]


def test_more_than_may_be_kept_is_a_dead_letter() -> None:
    """And what was kept before it is asked all the same."""
    one = bench(carry_bytes=2_000)
    (letter,) = one.cycle(told(langgraph()), told(langgraph("f" * 32, {"message": "m" * 2_000})))
    assert dict(letter.headers)["bridge-reason"] == b"limit"
    assert asked(one.cycle(told(over()))) == [("r-1", HEX, [])]
    many = bench(interrupts_per_run=1)
    (letter,) = many.cycle(told(langgraph()), told(langgraph("f" * 32)))
    assert dict(letter.headers)["bridge-reason"] == b"limit"


def test_one_whose_run_never_ends_is_forgotten_and_counted() -> None:
    one = bench()
    one.cycle(told(langgraph()))
    one.cycle(now=NOW + _WEEK, due=NOW + _WEEK)
    assert one.counts["carry_dropped", "unasked"] == 1
    assert not kept(one)


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        (b'{"type":"CUSTOM","name":"on_interrupt","value":{"a":1,"a":2}}', "json_rules"),
        (b'{"type":"CUSTOM","name":"on_interrupt","value":NaN}', "json_rules"),
        (b'{"type":"CUSTOM","name":"on_interrupt","threadId":5}', "malformed"),
    ],
)
def test_a_question_that_breaks_a_rule_is_a_dead_letter(value: bytes, reason: str) -> None:
    (letter,) = bench().cycle(raw(value, EVENTS, b"t-1"))
    assert dict(letter.headers)["bridge-reason"] == reason.encode()


# --- On the way home ------------------------------------------------------------------------------


def test_both_records_hop_and_keep_their_order() -> None:
    """From a partition that is not the thread's home, as another partitioner chose it."""
    home, elsewhere = home_slot("t-1", 2), 1 - home_slot("t-1", 2)
    away, at_home = bench(slot=elsewhere, slots=2), bench(slot=home, slots=2)
    records = (told(langgraph()), told(over(), offset=1))
    hops = [out for record in records for out in away.cycle(record)]
    assert [out.topic for out in hops] == ["reroute", "reroute"]
    out = [one for record in records for one in at_home.cycle(record, rerouted=True)]
    assert asked(out) == [("r-1", HEX, [])]


def test_an_end_under_another_key_hops_only_to_its_threads_home() -> None:
    """What it has to forget under the key stands where it was read."""
    threads = {home_slot(f"t-{n}", 2): f"t-{n}" for n in range(20)}
    one = bench(slot=0, slots=2)
    event = {**over(), "threadId": threads[0]}
    assert one.cycle(told(event, key=threads[1])) == []


# --- Whose ----------------------------------------------------------------------------------------


def test_agents_that_say_their_name_on_every_event_ask_apart() -> None:
    one = bench({"agent_pointer": "/metadata/agentId"})
    for agent in ("triage", "billing"):
        one.cycle(told({**custom(f"{agent}?"), "metadata": {"agentId": agent}}))
    for agent in ("triage", "billing"):
        out = one.cycle(told(over(f"r-{agent}", metadata={"agentId": agent})))
        (question,) = sent(out, "approvals")
        assert (question["scope"], question["message"]) == (agent, f"{agent}?")


def test_a_question_that_lacks_its_agent_is_not_another_agents() -> None:
    one = bench({"agent_pointer": "/metadata/agentId"})
    one.cycle(told(custom("whose?")))
    assert one.cycle(told(over(metadata={"agentId": "billing"}))) == []
    assert one.counts["unattributable", "agents"] == 1
    one.cycle(told(custom("mine?"), offset=2))
    assert asked(one.cycle(told(over("r-2"), offset=3)))[0][0] == "r-2"


# --- Resumed --------------------------------------------------------------------------------------


def resumed(one: Bench, *answers: Record) -> dict[str, Any]:
    one.cycle(told(over()))
    (command,) = sent(one.cycle(*answers), "resume-commands")
    return dict(command["native"])


def test_one_answer_is_langgraphs_resume() -> None:
    """No list of entries beside it: that would win, and an empty one is none."""
    one = bench()
    one.cycle(told(langgraph()))
    native = resumed(one, answer(interrupt=HEX, payload={"ok": True}))
    assert native["body"]["forwardedProps"] == {"command": {"resume": {"ok": True}}}
    assert "resume" not in native["body"]
    assert native["body"]["threadId"] == "t-1"


@pytest.mark.parametrize(
    ("payload", "sent_as"),
    [
        ("yes", "yes"),
        ("42", '"42"'),
        ("NaN", '"NaN"'),
        ('{"a":1}', '"{\\"a\\":1}"'),
        (False, False),
        (0, 0),
        ([1], [1]),
    ],
)
def test_a_text_that_is_json_reaches_the_graph_as_the_text(payload: Any, sent_as: Any) -> None:
    """Its adapters read a single text as JSON where they can."""
    one = bench()
    one.cycle(told(langgraph()))
    native = resumed(one, answer(interrupt=HEX, payload=payload))
    assert native["body"]["forwardedProps"]["command"] == {"resume": sent_as}


def test_several_answers_are_a_map_by_id_with_the_refusal_of_the_cancelled() -> None:
    ids = [f"{number:032x}" for number in range(2)]
    one = bench()
    one.cycle(*(told(langgraph(each)) for each in ids))
    given = answer(interrupt=ids[1], payload="42")
    refused = answer(interrupt=ids[0], status="cancelled", offset=1)
    native = resumed(one, given, refused)
    resume = {ids[0]: REFUSAL, ids[1]: "42"}
    assert native["body"]["forwardedProps"] == {"command": {"resume": resume}}
    assert native["notes"] == ["continuity_omitted"]


def test_several_without_ids_are_answered_by_their_order_and_a_note_says_so() -> None:
    one = bench()
    one.cycle(told(custom("a?")), told(custom("b?")))
    given = answer(interrupt="legacy-1", payload="B"), answer(interrupt="legacy-0", payload="A")
    native = resumed(one, *given)
    assert native["body"]["forwardedProps"] == {"command": {"resume": ["A", "B"]}}
    assert "answers_by_order" in native["notes"]


def test_a_cancelled_one_without_a_refusal_ends_its_run() -> None:
    """As a tool of Genkit's does; nothing would say no to the agent."""
    one = bench({})
    one.cycle(told(langgraph()))
    assert asked(one.cycle(told(over()))) == [("r-1", HEX, ["no_refusal"])]
    out = one.cycle(answer(interrupt=HEX, status="cancelled"))
    (closed,) = [a for a in sent(out, "approvals") if a.get("run_outcome")]
    assert (closed["run_outcome"], closed["closed_reason"]) == (
        "unresumable",
        "no_refusal_configured",
    )
    assert sent(out, "resume-commands") == []


def test_with_continuity_the_conversation_goes_with_it() -> None:
    """The command beside the properties that the run was given; one that resumed it is not kept."""
    one = bench(continuity=True)
    given = {"forwardedProps": {"tenant": 7, "command": {"resume": "old"}}, "messages": []}
    one.cycle(told(started(input=given)))
    one.cycle(told({"type": "MESSAGES_SNAPSHOT", "messages": [{"id": "m-1"}]}))
    one.cycle(told(langgraph()))
    native = resumed(one, answer(interrupt=HEX, payload=1))
    assert native["body"]["messages"] == [{"id": "m-1"}]
    assert native["body"]["forwardedProps"] == {"tenant": 7, "command": {"resume": 1}}
    assert native["notes"] == []
    assert not kept(one)


def test_an_envelope_around_the_plain_end_has_its_conversation() -> None:
    one = bench(continuity=True)
    one.cycle(told(langgraph()))
    one.cycle(told({"event": over(), "input": {"messages": [{"id": "m-1"}]}}))
    native = dict(sent(one.cycle(answer(interrupt=HEX)), "resume-commands")[0]["native"])
    assert native["body"]["messages"] == [{"id": "m-1"}]
    one.cycle(told({"event": over("r-9"), "input": {"messages": []}}))
    assert not kept(one)


def test_a_refused_record_takes_the_context_and_leaves_the_question() -> None:
    one = bench(continuity=True)
    one.cycle(told(started(input={"messages": [{"id": "m-0"}]})), told(langgraph()))
    one.cycle(raw(b'{"type":"MESSAGES_SNAP', EVENTS, b"t-1"))
    native = resumed(one, answer(interrupt=HEX))
    assert native["notes"] == ["continuity_omitted"]
    assert native["body"]["forwardedProps"] == {"command": {"resume": True}}


CREWAI = {
    "id": "t-1",
    "reason": "crewai:human_feedback",
    "message": "Good enough?",
    "responseSchema": {"type": "string", "enum": ["approved", "revise"]},
    "metadata": {"crewai": {"methodName": "review", "output": "A summary."}},
}
MASTRA = {
    "type": "mastra_suspend",
    "toolCallId": "call-1",
    "toolName": "book",
    "suspendPayload": {"flight": "LH441"},
    "resumeSchema": json.dumps(SCHEMA),
    "runId": "m-run",
}


@pytest.mark.parametrize(
    ("value", "interrupt", "payload", "schema"),
    [
        (CREWAI, "t-1", "revise", CREWAI["responseSchema"]),
        (json.dumps(MASTRA), "m-run::call-1", {"ok": True}, SCHEMA),
    ],
    ids=["crewai", "mastra"],
)
def test_agents_that_take_entries_by_a_known_id_get_them(
    value: Any, interrupt: str, payload: Any, schema: Any
) -> None:
    """They ask in the older way and are resumed in AG-UI's own; to say no needs no refusal."""
    one = bench({})
    one.cycle(told(custom(value)))
    (question,) = sent(one.cycle(told(over())), "approvals")
    assert (question["interrupt_id"], question["flags"]) == (interrupt, [])
    assert question["response_schema"] == schema
    native = dict(
        sent(one.cycle(answer(interrupt=interrupt, payload=payload)), "resume-commands")[0][
            "native"
        ]
    )
    entry = {"interruptId": interrupt, "status": "resolved", "payload": payload}
    assert native["body"]["resume"] == [entry]
    assert native["body"]["forwardedProps"] == {}


def test_a_run_that_nothing_places_in_time_is_refused_where_it_asks() -> None:
    """By the end of the run; one that only ends is read past as ever."""
    one = bench()
    one.cycle(told(langgraph(), at=0))
    (letter,) = one.cycle(told(over(), at=0))
    assert dict(letter.headers)["bridge-reason"] == b"no_timestamp"
    assert one.cycle(told(over("r-2"), at=0)) == []
    own = bench()
    own.cycle(told(langgraph(), at=0))
    assert asked(own.cycle(told(over(timestamp=NOW), at=0))) == [("r-1", HEX, [])]
