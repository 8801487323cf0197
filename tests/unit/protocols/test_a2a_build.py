"""Requests that move a task on, in the shape and the dialect of the agent that asked."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any
from uuid import UUID

import pytest

from bridge.core.coverage import entries_of
from bridge.core.ids import key_of
from bridge.core.model import (
    AcceptedAnswer,
    ClosedReason,
    Digest,
    Interrupted,
    Item,
    Native,
    Run,
    Status,
)
from bridge.protocols.a2a import A2a
from tests.unit.protocols.a2a_events import (
    adk_call,
    hybrid,
    interrupt_artifact,
    only_asked,
    read,
    status,
    strands,
    text,
)

A, B = "a" * 32, "b" * 32
NONE = b"absent"


def closed(event: Interrupted, *payloads: bytes, **given_up: ClosedReason) -> Run:
    """The run with its items answered in order; those in `given_up`, by index, were not."""
    items = []
    for index, question in enumerate(event.questions):
        reason = given_up.get(f"item_{index}", "answered")
        answered = reason == "answered"
        payload = payloads[index] if answered else None
        answer = AcceptedAnswer(
            "resolved", Digest(b""), "a", 1, payload=None if payload == NONE else payload
        )
        state: Status = "answered" if answered else "cancelled"
        items.append(
            Item(question, state, answer=answer if answered else None, closed_reason=reason)
        )
    return Run(
        event.thread,
        event.run_id,
        event.protocol,
        event.digest,
        event.order.at,
        event.order.generation,
        event.origin,
        event.order.at,
        tuple(items),
        native=event.native,
    )


def built(
    event: Any, *payloads: bytes, options: Mapping[str, object] | None = None, **given_up: Any
) -> Native:
    return continued(closed(only_asked(read(event, options)), *payloads, **given_up))


def continued(run: Run) -> Native:
    return A2a().build(run, entries_of(run), None)


def message(native: Native) -> dict[str, Any]:
    body = json.loads(native.body)
    return dict(body.get("params", body)["message"])


def old(*parts: Any) -> dict[str, Any]:
    """A question in 0.3 JSON-RPC."""
    said = {"kind": "message", "role": "agent", "messageId": "q1", "parts": list(parts)}
    return {
        "kind": "status-update",
        "taskId": "task-1",
        "contextId": "ctx-1",
        "final": False,
        "status": {"state": "input-required", "message": said},
    }


def old_rest() -> dict[str, Any]:
    """A question in the proto JSON of 0.3."""
    event = status("INPUT_REQUIRED", text())
    said = event["statusUpdate"]["status"]["message"]
    said["content"] = said.pop("parts")
    return event


# --- Envelopes -----------------------------------------------------------------------------------


def test_the_request_of_1_0() -> None:
    """Non-blocking, without history, under an id by which its error is told."""
    event = status("INPUT_REQUIRED", text())
    native = built(event, b'"main"', options={"tenant": "t9", "endpoint": "https://a.example/x"})
    run = closed(only_asked(read(event, {"tenant": "t9", "endpoint": "https://a.example/x"})), b"")
    assert json.loads(native.body) == {
        "jsonrpc": "2.0",
        "id": key_of(run).resume_run_id,
        "method": "SendMessage",
        "params": {
            "tenant": "t9",
            "message": {
                "messageId": key_of(run).resume_run_id,
                "taskId": "task-1",
                "contextId": "ctx-1",
                "role": "ROLE_USER",
                "parts": [{"text": "main"}],
            },
            "configuration": {"returnImmediately": True, "historyLength": 0},
        },
    }
    assert native.headers == {"Content-Type": "application/json", "A2A-Version": "1.0"}
    assert native.endpoint == "https://a.example/x"
    assert not native.abandons_siblings


def test_the_message_id_is_the_same_every_time() -> None:
    """A replay sends no second message; another question has another id."""
    first = message(built(status("INPUT_REQUIRED", text()), b'"x"'))["messageId"]
    assert first == message(built(status("INPUT_REQUIRED", text()), b'"y"'))["messageId"]
    other = built(status("INPUT_REQUIRED", text(), message_id="q2"), b'"x"')
    assert first != message(other)["messageId"]
    assert UUID(first).version == 8


def test_the_request_of_0_3() -> None:
    """Its own method, roles and kinds, and no version header."""
    native = built(old({"kind": "text", "text": "Q"}), b'"main"')
    body = json.loads(native.body)
    assert (native.method, body["method"]) == ("message/send", "message/send")
    assert body["params"]["configuration"] == {"blocking": False}
    said = message(native)
    assert (said["kind"], said["role"]) == ("message", "user")
    assert said["parts"] == [{"kind": "text", "text": "main"}]
    assert native.headers == {"Content-Type": "application/json"}


def test_the_rest_binding_of_1_0_is_the_bare_params() -> None:
    """At the address of the operation."""
    options = {"binding": "rest", "endpoint": "https://a.example/x"}
    native = built(status("INPUT_REQUIRED", text()), b'"main"', options=options)
    assert native.endpoint == "https://a.example/x/message:send"
    assert native.headers["Content-Type"] == "application/a2a+json"
    assert set(json.loads(native.body)) == {"message", "configuration"}


def test_the_rest_binding_of_0_3_calls_parts_content() -> None:
    """And boxes data once more."""
    native = built(old_rest(), b'{"branch":"main"}')
    assert native.endpoint == "/v1/message:send"
    said = message(native)
    assert said["content"] == [{"data": {"data": {"branch": "main"}}}]
    assert (said["role"], "parts" in said) == ("ROLE_USER", False)


def test_ids_are_encoded_in_a_path() -> None:
    """LangGraph's task ids have a colon."""
    options = {"binding": "rest", "endpoint": "https://a.example"}
    event = status("INPUT_REQUIRED", text(), task="c:r/1")
    native = built(event, options=options, item_0="cancelled")
    assert native.endpoint == "https://a.example/tasks/c%3Ar%2F1:cancel"


def test_a_generation_fences_the_answer() -> None:
    """The agent refuses it when the task has gone on."""
    body = json.loads(built(status("INPUT_REQUIRED", text(), generation="7"), b'"x"').body)
    assert body["params"]["configuration"]["ifGenerationMatch"] == "7"


def test_without_a_context_the_task_is_enough() -> None:
    """The agent infers the other."""
    event = status("INPUT_REQUIRED", text(), contextId="")
    assert "contextId" not in message(built(event, b'"x"'))


def test_settings_overrule_what_the_question_shows() -> None:
    """Version, binding and shape, as they were when the question came."""
    options = {"protocol_version": "0.3", "binding": "jsonrpc", "answer_shape": "text"}
    native = built(status("INPUT_REQUIRED", strands("a")), b"{}", options=options)
    assert native.method == "message/send"
    assert message(native)["parts"] == [{"kind": "text", "text": "{}"}]


# --- Shapes --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("payload", "part"),
    [
        (b'"main"', {"text": "main"}),
        (b'{"a":1}', {"data": {"a": 1}, "mediaType": "application/json"}),
        (b"[1]", {"data": [1], "mediaType": "application/json"}),
        (b"true", {"data": True, "mediaType": "application/json"}),
        (b"null", {"text": ""}),
        (NONE, {"text": ""}),
    ],
)
def test_a_plain_answer_is_text_or_data(payload: bytes, part: dict[str, Any]) -> None:
    """By what it is."""
    assert message(built(status("INPUT_REQUIRED", text()), payload))["parts"] == [part]


@pytest.mark.parametrize(
    ("payload", "part"),
    [
        (b'{"a":1}', {"kind": "data", "data": {"a": 1}}),
        (b"[1]", {"kind": "text", "text": "[1]"}),
        (b"true", {"kind": "text", "text": "true"}),
    ],
)
def test_before_1_0_only_objects_are_data(payload: bytes, part: dict[str, Any]) -> None:
    """Anything else goes as its text."""
    assert message(built(old({"kind": "text", "text": "Q"}), payload))["parts"] == [part]


def test_numbers_of_a_payload_survive() -> None:
    """Nothing is parsed and written again."""
    payload = b'{"n":12345678901234567890,"m":1e2}'
    assert payload in built(status("INPUT_REQUIRED", text()), payload).body


def test_adk_takes_function_responses() -> None:
    """One part per call in one message; what is no object is its result."""
    event = status("INPUT_REQUIRED", adk_call("c-1"), adk_call("c-2", "other"))
    parts = message(built(event, b'{"confirmed":true}', b"7"))["parts"]
    marks = {"adk_type": "function_response"}
    first = {"id": "c-1", "name": "approve", "response": {"confirmed": True}}
    second = {"id": "c-2", "name": "other", "response": {"result": 7}}
    assert parts == [{"data": first, "metadata": marks}, {"data": second, "metadata": marks}]


def test_strands_takes_one_part_per_interrupt_and_no_other() -> None:
    """Mixed content is refused by its executor."""
    event = old({"kind": "text", "text": "Q"}, {"kind": "data", **strands("a", "b")})
    parts = message(built(event, b'"x"', b"false"))["parts"]
    answers = [{"interruptId": "a", "response": "x"}, {"interruptId": "b", "response": False}]
    assert parts == [{"kind": "data", "data": {"interruptResponse": a}} for a in answers]


def test_langgraph_takes_one_resume_for_all() -> None:
    """By id, since more may be pending than its stream has shown."""
    said = hybrid()
    artifact = interrupt_artifact(A, B)["artifact"]
    task = {"kind": "task", "id": "task-1", "status": said["status"], "artifacts": [artifact]}
    (part,) = message(built({"task": task}, b'"x"', b"[1]"))["parts"]
    assert part == {"data": {"resume": {A: "x", B: [1]}}}


def test_langgraph_without_its_items_takes_the_value() -> None:
    """Its snapshots do not have the ids of what is pending."""
    (part,) = message(built(hybrid(), b'{"branch":"main"}'))["parts"]
    assert part == {"data": {"resume": {"branch": "main"}}}


@pytest.mark.parametrize(
    ("extension", "payload"),
    [
        ("interactions/approval/v1", {"decision": "approve"}),
        ("ui/form_request/v1", {"values": {"a": {"type": "text", "value": "x"}}}),
    ],
)
def test_agentstack_takes_its_answers_in_the_metadata(
    extension: str, payload: dict[str, Any]
) -> None:
    """Under the address of the extension, which the request names."""
    uri = f"https://a2a-extensions.agentstack.beeai.dev/{extension}"
    event = status("INPUT_REQUIRED", text(), metadata={uri: {"title": "?"}})
    native = built(event, json.dumps(payload).encode())
    said = message(native)
    assert (said["parts"], said["metadata"], said["extensions"]) == ([], {uri: payload}, [uri])
    assert native.headers["A2A-Extensions"] == uri


def test_an_action_is_confirmed_by_its_id() -> None:
    """As its metadata names it."""
    event = status("INPUT_REQUIRED", text(), metadata={"action_id": "act-1"})
    (part,) = message(built(event, b"false"))["parts"]
    assert part == {"data": {"action_id": "act-1", "confirmed": False}}


def test_an_extension_with_a_line_break_is_in_no_header() -> None:
    """The agent chooses its name."""
    event = status("INPUT_REQUIRED", text())
    said = event["statusUpdate"]["status"]["message"]
    said["extensions"] = ["https://x.example/v1", "a\r\nX-Other: 1", "a, b"]
    assert built(event, b"1").headers["A2A-Extensions"] == "https://x.example/v1"


def test_an_extension_that_the_agent_used_is_asked_for_again() -> None:
    """ADK answers by another executor otherwise, which fails the task."""
    uri = "https://google.github.io/adk-docs/a2a/a2a-extension/"
    event = status("INPUT_REQUIRED", adk_call("c1"))
    event["statusUpdate"]["metadata"] = {"adk_app_name": "x", uri: {"adk_agent_executor_v2": True}}
    assert built(event, b"{}").headers["A2A-Extensions"] == uri


def test_an_address_with_a_credential_is_no_extension() -> None:
    """Headers stand in a topic."""
    event = status("INPUT_REQUIRED", text())
    event["statusUpdate"]["metadata"] = {"https://u:secret@x.example/v1": 1}
    assert "A2A-Extensions" not in built(event, b"1").headers


# --- Giving up -----------------------------------------------------------------------------------


@pytest.mark.parametrize("reason", ["cancelled", "expired", "lapsed", "operator"])
def test_an_item_given_up_cancels_the_task(reason: ClosedReason) -> None:
    """With the reason; the other's answer is in no body."""
    native = built(status("INPUT_REQUIRED", strands("a", "b")), b"", b'"secret"', item_0=reason)
    assert (native.method, native.abandons_siblings) == ("CancelTask", True)
    assert json.loads(native.body)["params"] == {"id": "task-1", "metadata": {"reason": reason}}
    assert b"secret" not in native.body


def test_a_task_of_0_3_is_cancelled_by_its_method() -> None:
    """The tenant is left out: it knows none."""
    options = {"tenant": "t9"}
    native = built(old({"kind": "text", "text": "Q"}), options=options, item_0="expired")
    body = json.loads(native.body)
    assert (native.method, body["method"]) == ("tasks/cancel", "tasks/cancel")
    assert body["params"] == {"id": "task-1", "metadata": {"reason": "expired"}}
