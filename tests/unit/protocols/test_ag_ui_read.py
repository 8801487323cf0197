"""What the bridge makes of AG-UI events: inputs, refusals with their place, and counts."""

from __future__ import annotations

import json

import pytest

from bridge.core.model import Limits, Order, RunFailed, RunStarted, ThreadKey
from tests.unit.protocols.agui_events import (
    ASK,
    ORIGIN,
    finished,
    ids,
    interrupted,
    labels,
    only_interrupted,
    read,
    told,
)

THREAD = ThreadKey("support", "", "t-1")


def refusal(event: object, limits: Limits | None = None) -> tuple[str, str] | None:
    """(reason, pointer) of a refused event."""
    found = read(event, limits=limits).refusal
    return None if found is None else (found.reason, found.pointer)


# --- Runs that ask ----------------------------------------------------------------------------


def test_an_interrupted_run_is_one_input_with_its_questions_in_order() -> None:
    """Identity, order and time come from the event and from where its record stood."""
    found = only_interrupted(read(interrupted({**ASK, "id": "b"}, {**ASK, "id": "a"})))
    assert (found.thread, found.run_id, found.protocol) == (THREAD, "r-1", "ag-ui")
    assert [question.interrupt_id for question in found.questions] == ["b", "a"]
    assert (found.order.at, found.origin) == (ORIGIN.timestamp, ORIGIN)


def test_free_json_arrives_as_it_was_written() -> None:
    """Number literals, key order, escapes and astral characters survive in schema and metadata."""
    metadata = '{"z":18446744073709551617,"a":50.0,"e":1e2,"neg":-0.0,"\\ud83d\\ude00":"😀"}'
    schema = '{"type" : "object",  "maximum":1E+2, "minimum":0.10, "big":1e999}'
    event = (
        '{"type":"RUN_FINISHED","threadId":"t-1","runId":"r-1","outcome":{"type":"interrupt",'
        f'"interrupts":[{{"id":"i","reason":"x","metadata":{metadata},"responseSchema":{schema}}}]}}}}'
    )
    (question,) = only_interrupted(read(event)).questions
    assert question.metadata == metadata.encode()
    assert question.response_schema == schema.encode()


def test_the_digest_is_of_what_was_asked() -> None:
    """Order of keys, spelling of numbers, nulls, snake_case and other fields don't change it."""
    plain = {**ASK, "toolCallId": "c", "metadata": {"a": 1, "b": 50}}
    same = {"metadata": {"b": 50.0, "a": 1}, "tool_call_id": "c", "message": None, **ASK, "new": 1}
    one = only_interrupted(read(interrupted(plain)))
    two = only_interrupted(read(interrupted(same, timestamp=7, usage=[{"inputTokens": 3}])))
    other = only_interrupted(read(interrupted({**plain, "metadata": {"a": 1, "b": "50"}})))
    assert one.digest == two.digest != other.digest


@pytest.mark.parametrize(
    "change", [{"subagentRunId": "s"}, {"message": ""}, {"expiresAt": ""}, {"responseSchema": {}}]
)
def test_every_known_field_is_part_of_the_digest(change: dict[str, object]) -> None:
    """A question that changed in any field of the protocol is another one."""
    one, two = (only_interrupted(read(interrupted({**ASK, **part}))) for part in ({}, change))
    assert one.digest != two.digest


def test_two_identical_interrupts_are_one_question() -> None:
    """LangGraph gives parallel interrupts of a task one id; the same one twice is counted."""
    once, twice = (
        read(interrupted(ASK)),
        read(interrupted(ASK, {"reason": "tool_call", "id": "i-1"})),
    )
    assert ids(twice) == ["i-1"]
    assert only_interrupted(once).digest == only_interrupted(twice).digest
    assert "repeated_interrupt" in labels(twice)


def test_nulls_and_snake_case_are_read_and_counted() -> None:
    """Python producers before 1.0 leak both."""
    reading = read(
        {
            "type": "RUN_FINISHED",
            "thread_id": "t-1",
            "run_id": "r-1",
            "timestamp": None,
            "outcome": {
                "type": "interrupt",
                "interrupts": [
                    {**ASK, "message": None, "expires_at": "soon", "response_schema": {"a": 1}}
                ],
            },
        }
    )
    (question,) = only_interrupted(reading).questions
    assert (question.message, question.expires_at_raw) == (None, "soon")
    assert json.loads(question.response_schema or b"") == {"a": 1}
    assert labels(reading) == {"null_field", "snake_case"}


def test_camel_case_counts_where_both_spellings_stand() -> None:
    """As in the Python SDK: the alias wins, even as a null."""
    both = {
        **ASK,
        "responseSchema": None,
        "response_schema": {"a": 1},
        "toolCallId": "c",
        "tool_call_id": "d",
    }
    (question,) = only_interrupted(read(interrupted(both))).questions
    assert (question.response_schema, question.tool_call_id) == (None, "c")


def test_the_short_way_reads_what_the_long_one_reads() -> None:
    """An unknown member changes the way an event is read, and nothing of what is read."""
    full = {
        **ASK,
        "message": "é😀",
        "toolCallId": "",
        "responseSchema": {"a": [1, 2.50]},
        "expiresAt": "soon",
        "metadata": {},
        "subagentRunId": "s",
    }
    plain = read(interrupted(full, {**ASK, "id": "b"}))
    assert [q.subagent_run_id for q in only_interrupted(plain).questions] == ["s", None]
    for odd in (
        interrupted(full, {**ASK, "id": "b"}, new=1),
        interrupted({**full, "x": 1}, {**ASK, "id": "b"}),
    ):
        assert read(odd) == plain


@pytest.mark.parametrize("timestamp", ["5", " 5.0 ", True])
def test_a_number_written_as_text_is_counted(timestamp: object) -> None:
    """The Python SDK reads it; nothing here depends on it."""
    reading = read(interrupted(ASK, timestamp=timestamp))
    assert (ids(reading), labels(reading)) == (["i-1"], {"loose_number"})


# --- Refusals ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("event", "reason", "pointer"),
    [
        (finished({"type": "paused"}), "unknown_outcome", "/outcome/type"),
        (finished({"type": "INTERRUPT", "interrupts": [ASK]}), "unknown_outcome", "/outcome/type"),
        (finished({"type": ["interrupt"]}), "unknown_outcome", "/outcome/type"),
        (finished({}), "unknown_outcome", "/outcome/type"),
        (finished("interrupt", interrupts=[ASK]), "malformed", "/outcome"),
        (finished({"type": "interrupt"}), "no_interrupts", "/outcome/interrupts"),
        (finished({"type": "interrupt", "interrupts": {}}), "malformed", "/outcome/interrupts"),
        (
            finished({"type": "success", "interrupts": [ASK]}),
            "interrupts_on_success",
            "/outcome/interrupts",
        ),
        (
            interrupted(ASK, {**ASK, "message": "other"}),
            "duplicate_interrupt_id",
            "/outcome/interrupts/1/id",
        ),
        (interrupted(ASK, {"id": "i-2"}), "malformed", "/outcome/interrupts/1/reason"),
        (interrupted({**ASK, "expires_at": 1}), "malformed", "/outcome/interrupts/0/expires_at"),
        (interrupted({**ASK, "metadata": []}), "malformed", "/outcome/interrupts/0/metadata"),
        (interrupted(ASK, threadId=7), "malformed", "/threadId"),
        (interrupted(ASK, timestamp=1.5), "malformed", "/timestamp"),
        (interrupted(ASK, timestamp=2**53), "malformed", "/timestamp"),
        (interrupted(ASK, timestamp="soon"), "malformed", "/timestamp"),
        (interrupted(ASK, timestamp="Infinity"), "malformed", "/timestamp"),
        (finished(timestamp=2**53), "malformed", "/timestamp"),
        (interrupted(ASK, usage=[{"inputTokens": -1}]), "malformed", "/usage/0/inputTokens"),
        (finished(runId=None), "malformed", "/runId"),
        ({"type": 5}, "malformed", "/type"),
        ({"threadId": "t-1"}, "malformed", "/type"),
        ([1], "malformed", ""),
        ("true", "malformed", ""),
    ],
)
def test_what_cannot_be_read_is_refused_with_its_place(
    event: object, reason: str, pointer: str
) -> None:
    """The whole event is refused: never success by silence, never half of its questions."""
    assert refusal(event) == (reason, pointer)


@pytest.mark.parametrize("kind", ["run_finished", "RunFinished", "RUN-FINISHED", " Run Finished "])
def test_a_misspelt_end_of_a_run_is_refused(kind: str) -> None:
    """It could hide an interrupt."""
    assert refusal({**interrupted(ASK), "type": kind}) == ("malformed", "/type")


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        (None, "empty"),
        (b"", "empty"),
        (b" \n", "empty"),
        (b"data: {}", "not_json"),
        (b'{"type":"RUN_FINISHED"', "not_json"),
        (b'\xef\xbb\xbf{"type":"RAW"}', "not_json"),
        (b'{"type":"RUN_FINISHED","threadId":"t","runId":"r","x":NaN}', "json_rules"),
        (b'{"type":"RUN_FINISHED","type":"RUN_FINISHED","runId":"r","x":1}', "json_rules"),
        (b'{"type":"RUN_STARTED","threadId":"a","threadId":"b","runId":"r"}', "json_rules"),
        (b'{"type":"RUN_ERROR","message":"a \\ud800 lone surrogate"}', "json_rules"),
        (b'{"type":"RUN_ERROR","message":"\xff"}', "not_json"),
        (b"[" * 1_000 + b"]" * 1_000, "too_deep"),
        (b'{"type":"RUN_FINISHED","x":' + b"[" * 70 + b"]" * 70 + b"}", "too_deep"),
        (b'{"type":"RAW","event":' + b"[" * 100_000, "too_deep"),
    ],
)
def test_text_that_breaks_the_rules_of_json_is_refused(value: bytes | None, reason: str) -> None:
    """Strictly where the event could become an input."""
    found = read(value).refusal
    assert found is not None
    assert found.reason == reason


def test_a_refusal_never_quotes_the_record() -> None:
    """Details and pointers are the bridge's own words."""
    for event in (
        finished({"type": "s3cret"}),
        interrupted({**ASK, "s3cret": 1, "message": 5}),
        "s3cret",
    ):
        assert "s3cret" not in repr(read(event).refusal)


def test_limits_are_refused_by_name() -> None:
    """Size before parsing, count before anything is built."""
    event = interrupted(*({**ASK, "id": str(n)} for n in range(3)))
    assert refusal(event, limits=Limits(record_bytes=50)) == ("too_large", "")
    assert refusal(event, limits=Limits(interrupts_per_run=2)) == ("limit", "/outcome/interrupts")
    assert refusal(event, limits=Limits(interrupts_per_run=3)) is None


# --- Read past --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("event", "expected"),
    [
        ({"type": "TEXT_MESSAGE_CONTENT", "delta": "x"}, set()),
        ({"type": "SUBAGENT_FINISHED", "outcome": {"type": "suspended"}}, set()),
        ({"type": "CUSTOM", "name": "other", "value": "on_interrupt"}, set()),
        ({"type": "TOKEN_COUNT"}, {"unknown_type"}),
        (finished(), set()),
        (finished({"type": "cancelled"}), set()),
        (finished({"type": "success"}, result={"interrupts": [ASK]}), set()),
        (finished({"type": "success", "pendingToolCallIds": ["c"]}), {"pending_tool_calls"}),
        (
            finished({"type": "success", "pending_tool_call_ids": ["c"]}),
            {"pending_tool_calls", "snake_case"},
        ),
        (finished(interrupts=[ASK]), {"toplevel_interrupts"}),
        (finished({"type": "success"}, interrupt=ASK), {"toplevel_interrupts"}),
        (finished({"type": "success", "interrupts": []}), set()),
    ],
)
def test_what_asks_nothing_is_read_past_and_counted(event: object, expected: set[str]) -> None:
    """No input and no refusal; what an operator should know is a count."""
    reading = read(event)
    assert (told(reading), reading.refusal) == ([], None)
    assert labels(reading) == expected


@pytest.mark.parametrize(
    "event",
    [
        '{"type":"TEXT_MESSAGE_CONTENT","delta":"\\ud83d"}',
        '{"type":"STATE_SNAPSHOT","snapshot":{"score":NaN}}',
        '{"type":"CUSTOM","name":"x","value":-Infinity}',
        '{"type":"RAW","event":{"a":1,"a":2}}',
    ],
)
def test_events_of_others_need_only_be_json_objects(event: str) -> None:
    """Half an emoji in a text stream is no fault of a run."""
    assert read(event).refusal is None


def test_an_interrupt_under_a_repeated_key_is_not_taken_for_success() -> None:
    """Most parsers would see the last outcome only."""
    event = json.dumps(interrupted(ASK))[:-1] + ',"outcome":{"type":"success"}}'
    assert refusal(event) == ("json_rules", "")
    assert refusal(event.replace("interrupt", "\\u0069nterrupt")) == ("json_rules", "")


# --- Runs that begin or fail ------------------------------------------------------------------


def started(**members: object) -> dict[str, object]:
    return {"type": "RUN_STARTED", "threadId": "t-1", "runId": "r-2", **members}


@pytest.mark.parametrize(
    ("given", "resumes"),
    [
        ({}, ()),
        ({"input": None}, ()),
        ({"input": {"threadId": "t-1", "runId": "r-2", "messages": []}}, ()),
        ({"input": {"resume": []}}, ()),
        ({"input": {"resume": None}}, ()),
        (
            {"input": {"resume": [{"interruptId": "a", "status": "resolved", "payload": None}]}},
            ("a",),
        ),
        (
            {
                "input": {
                    "resume": [
                        {"interruptId": "a", "status": "cancelled"},
                        {"interrupt_id": "b", "status": "resolved"},
                    ]
                }
            },
            ("a", "b"),
        ),
    ],
)
def test_a_started_run_says_what_it_resumes(
    given: dict[str, object], resumes: tuple[str, ...]
) -> None:
    """Without a resume list nothing is covered, so nothing closes; our own run is confirmed."""
    assert told(read(started(**given))) == [
        RunStarted(THREAD, "r-2", Order(ORIGIN.timestamp), ORIGIN, resumes),
    ]


@pytest.mark.parametrize(
    ("given", "pointer"),
    [
        ({"input": []}, "/input"),
        ({"input": {"resume": {}}}, "/input/resume"),
        (
            {"input": {"resume": [{"interruptId": "a", "status": "abandoned"}]}},
            "/input/resume/0/status",
        ),
        ({"input": {"resume": [{"interruptId": "a"}]}}, "/input/resume/0/status"),
        ({"input": {"resume": [{"status": "resolved"}]}}, "/input/resume/0/interruptId"),
        ({"runId": None}, "/runId"),
    ],
)
def test_an_unreadable_resume_closes_nothing(given: dict[str, object], pointer: str) -> None:
    """It is refused as a whole, like any reader does."""
    assert refusal(started(**given)) == ("malformed", pointer)


def test_a_failed_run_belongs_to_the_thread_of_its_key() -> None:
    """RUN_ERROR carries no ids; order is never used to guess."""
    error = {"type": "RUN_ERROR", "message": "boom"}
    expected = RunFailed(ThreadKey("support", "", "タスク"), Order(ORIGIN.timestamp), ORIGIN)
    assert told(read(error, key="タスク".encode())) == [expected]


def test_a_thread_id_beats_the_key() -> None:
    """Some producers add one; it is nearer to the truth than a partition key."""
    error = {"type": "RUN_ERROR", "message": "x", "threadId": "t-9"}
    (found,) = told(read(error, key=b"k"))
    assert isinstance(found, RunFailed)
    assert found.thread.thread_id == "t-9"


@pytest.mark.parametrize("key", [None, b"", b"\xff"])
def test_a_failure_of_nobody_is_counted(key: bytes | None) -> None:
    """No key, or none that could be a thread id."""
    reading = read({"type": "RUN_ERROR", "message": "boom"}, key=key)
    assert (reading.inputs, reading.refusal) == ((), None)
    assert [(c.metric, c.label) for c in reading.counts] == [("unattributable", "support")]
