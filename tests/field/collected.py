"""Rows of the collected files, where those are at hand: what each record has to come to."""

from __future__ import annotations

import json
from datetime import datetime

from tests.field import files
from tests.field.sent import NOTHING, Sent, asks, question, told

DONE = told("letter unknown_outcome")
FAILED = ("thr-53", "thr-key-0", "thr-key-1", "thr-key-2")
"""Threads whose question is flagged `run_failed` at the end."""


def rows(now: datetime) -> list[Sent]:
    """All of them, their instants moved to just before `now`; none where no files are."""
    if not files.at_hand():
        return []
    made = (wrapped, answered, erased, stamped, keyed, frameworks, tasks)
    return [one for found in made for one in found(now)]


def wrapped(now: datetime) -> list[Sent]:
    """k01, k02, k04, k09: events and answers in what others put around them."""
    around = {
        "k01_cloudevent_around_agui_own_type.json": ("ag-ui", asks("thr-42")),
        "k01_cloudevent_around_a2a_knative.json": ("a2a", asks("task-9", "m-1")),
        "k02_outbox_schema_payload_around_agui.json": ("ag-ui", asks("thr-43")),
        "k02_outbox_schema_payload_around_a2a.json": ("a2a", asks("task-10", "m-1")),
        "k04_confluent_prefix_agui.bin": ("ag-ui", asks("thr-45")),
        "k09_sse_frame_agui.txt": ("ag-ui", asks("thr-50")),
        "k09_sse_frame_a2a.txt": ("a2a", asks("task-12", "m-1")),
    }
    sent = [Sent(to, files.value(name, now), finds) for name, (to, finds) in around.items()]
    for name, session in (("k01_cloudevent_around", "sess-3"), ("k02_outbox", "sess-4")):
        part = "_schema_payload_around" if name.startswith("k02") else ""
        value = files.value(f"{name}{part}_genkit.json", now)
        sent.append(Sent("genkit", value, told(f"asks input {session}/*")))
    dapr = files.value("k01_cloudevent_around_agui_dapr.json", now)
    batch = b"[%b,%b]" % (dapr, dapr)
    avro = b"\x00\x00\x00\x00\x07\x02\x10avro"
    return [
        *sent,
        Sent("ag-ui", dapr, asks("thr-41")),
        *(Sent("ag-ui", value, told("letter framing")) for value in (batch, avro)),
        Sent("ag-ui", b"data: {}\n\ndata: {}\n\n", told("letter framing")),
    ]


def answered(now: datetime) -> list[Sent]:
    """a01, and the wrapped answers of k01 and k04: each to a question of its own."""
    words = ["accepted"] * 7 + ["malformed", "malformed", "invalid_or_accepted"]
    more = ["accepted", "by approval id", "accepted", "accepted", "malformed"]
    given = [
        *zip(files.lines("a01_answers_by_serializers.jsonl", now), words, strict=True),
        *zip(files.lines("a01_answers_by_serializers_2.jsonl", now), more, strict=True),
        (files.value("k01_cloudevent_around_answer_dapr.json", now), "accepted"),
        (files.value("k04_confluent_prefix_answer.bin", now), "accepted"),
    ]
    sent = []
    for number, (value, word) in enumerate(given):
        plain = _without_comment(value)
        if word == "by approval id":  # it names the question of thr-41 itself
            sent.append(Sent("answers", plain, told("verdict accepted")))
            continue
        thread = f"thr-41-{number}"
        sent.append(Sent("ag-ui", question(thread), asks(thread)))
        verdict = "accepted" if word == "invalid_or_accepted" else word
        finds = told(f"verdict {verdict}", *(["letter malformed"] if word == "malformed" else []))
        sent.append(Sent("answers", plain.replace(b"thr-41", thread.encode()), finds))
    return sent


def _without_comment(line: bytes) -> bytes:
    """The line without the member `_`, which says in its file who writes so."""
    try:
        members = json.loads(line)
    except ValueError:
        return line
    return json.dumps({name: one for name, one in members.items() if name != "_"}).encode()


def erased(_now: datetime) -> list[Sent]:
    """k05: nulls under the keys of conversations."""
    return [
        Sent(
            "ag-ui",
            None if one["value"] is None else json.dumps(one["value"]).encode(),
            NOTHING if one["value"] is None else asks("thr-46"),
            one["key"].encode(),
        )
        for one in files.document("k05_tombstones.json")["records"]
    ]


def stamped(_now: datetime) -> list[Sent]:
    """k06: the same question with timestamps that are none, refused and taken as of arrival."""
    document = files.document("k06_record_timestamps.json")
    value = json.dumps(document["value"]).encode()
    stamps = [at for at in document["timestamps"].values() if at >= 0]  # this client sends no other
    refused = [Sent("ag-ui", value, told("letter no_timestamp"), None, at) for at in stamps]
    return [*refused, Sent("untimed", value, asks("thr-47"), None, stamps[0])]


def keyed(_now: datetime) -> list[Sent]:
    """k02: keys as Connect writes them, on errors that name no thread."""
    document = files.document("k02_outbox_key_is_json.json")
    error = json.dumps(document["value"]).encode()
    sent = []
    for number, key in enumerate(document["keys"]):
        thread = f"thr-key-{number}"
        sent.append(Sent("ag-ui", question(thread), asks(thread)))
        sent.append(Sent("ag-ui", error, NOTHING, key.replace("thr-41", thread).encode()))
    return sent


def frameworks(now: datetime) -> list[Sent]:
    """p01, p03, p04, p05, p12: what agents write of themselves."""
    _, asked, *_ = files.lines("p01_dotnet_explicit_nulls.jsonl", now)
    silent = files.lines("p03_no_outcome_but_raw_asks.jsonl", now)
    ends = files.lines("p04_two_ends_of_one_run.jsonl", now)
    agents = files.lines("p05_two_agents_one_thread.jsonl", now)
    return [
        Sent("ag-ui", asked, asks("thr-51")),
        *(Sent("ag-ui", value, NOTHING, b"thr-52") for value in silent),
        Sent("ag-ui", ends[0], asks("thr-53"), b"thr-53"),
        *(Sent("ag-ui", value, NOTHING, b"thr-53") for value in ends[1:]),
        Sent("agents", agents[0], asks("thr-54", "ask-triage")),
        Sent("agents", agents[1], asks("thr-54", "ask-billing")),
        Sent(
            "genkit",
            files.value("p12_genkit_status_done.json", now),
            told("letter unknown_outcome"),
        ),
    ]


def tasks(now: datetime) -> list[Sent]:
    """p07 to p10: dialects of A2A."""
    whole = {
        "p07_kagent_hitl_v1_two_tools.json": asks("task-14", "t-1", "t-2"),
        "p07_kagent_hitl_v1_ask_user.json": asks("task-15", "q-1/0", "q-1/1"),
        "p08_credential_request_as_input_required.json": asks(
            "task-16", "m-16", kind="authorization"
        ),
        "p09_a2a_snake_case_task.json": asks("task-17", "m-17"),
        "p09_a2a_snake_case_status_update.json": asks("task-18", "m-18"),
        "p09_a2a_snake_case_moved_on.json": NOTHING,
    }
    states = files.lines("p10_a2a_state_spellings.jsonl", now)
    unknown = told("letter unsupported")
    finds = [asks("task-20", "m-task-20"), NOTHING, asks("task-21", "m-task-21")]
    finds += [asks("task-22", "m-task-22"), unknown, unknown]
    return [
        *(Sent("a2a", files.value(name, now), found) for name, found in whole.items()),
        *(Sent("a2a", value, found) for value, found in zip(states, finds, strict=True)),
    ]
