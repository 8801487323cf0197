"""Every public record comes back as it went out, and readers of any release can read it."""

from __future__ import annotations

import doctest
import json
import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta, timezone
from typing import Any, get_args

import msgspec
import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

import bridge.core.model
import bridge.records
from bridge.core.model import Judged, Limits, Reason, Refusal, Resume, Run
from bridge.core.record import Record
from bridge.records import (
    Answer,
    AnswerVerdict,
    Approval,
    DeadLetter,
    Encoded,
    Instant,
    NotARecord,
    Operation,
    ResumeCommand,
    answer,
    answer_for,
    coding,
    decode,
    encode,
    instants,
)
from bridge.records.answers import read_answer
from bridge.records.dead_letter import dead_letter
from bridge.records.published import approval, command, publish, verdict
from tests.contract.json_form import ASYNCAPI
from tests.model_strategies import DATED, INT64, json_texts, judged, origins, resumes, runs, texts

KINDS: dict[str, Any] = {
    kind.__name__: kind
    for kind in (Approval, AnswerVerdict, ResumeCommand, Answer, Operation, DeadLetter)
}
MESSAGES = yaml.safe_load(ASYNCAPI.read_text("utf-8"))["components"]["messages"]
EXAMPLES = [
    (name, example)
    for name, message in MESSAGES.items()
    for example in message.get("examples", ())
    if name in KINDS
]
ORIGIN = bridge.core.model.Origin("answers", 0, 0, 0)
VERDICT = next(
    msgspec.json.encode(example["payload"]) for name, example in EXAMPLES if name == "AnswerVerdict"
)
ASKED = next(
    msgspec.json.encode(example["payload"]) for name, example in EXAMPLES if name == "Approval"
)


def sent(value: Any) -> Encoded:
    """A record of that JSON value, without headers."""
    return Encoded(b"key", value if isinstance(value, bytes) else json.dumps(value).encode())


def asked() -> Approval:
    """The approval of the documented example."""
    read = decode(Approval, sent(ASKED))
    assert read is not None
    return read


# --- There and back -------------------------------------------------------------------------------


@settings(max_examples=50, deadline=None)
@given(runs(DATED))
def test_approvals_come_back(run: Run) -> None:
    """Free JSON with its literal bytes, every instant, every absence."""
    for index in range(len(run.items)):
        made = approval(run, index)
        assert decode(Approval, encode(made)) == made


@settings(max_examples=50, deadline=None)
@given(judged(DATED))
def test_verdicts_come_back(made: Judged) -> None:
    assert decode(AnswerVerdict, encode(verdict(made))) == verdict(made)


@settings(max_examples=50, deadline=None)
@given(resumes(DATED))
def test_commands_come_back(resume: Resume) -> None:
    assert decode(ResumeCommand, encode(command(resume))) == command(resume)


@settings(max_examples=50, deadline=None)
@given(
    st.builds(
        Answer,
        status=st.sampled_from(Answer.words["status"]),
        approval_id=st.none() | texts,
        payload=st.none() | json_texts.map(msgspec.Raw),
        answered_at=st.none() | json_texts.map(msgspec.Raw),
        comment=st.none() | texts,
    )
)
def test_answers_come_back(made: Answer) -> None:
    assert decode(Answer, encode(made)) == made


@settings(max_examples=50, deadline=None)
@given(st.builds(Operation, op=st.sampled_from(Operation.words["op"]), by=st.none() | texts))
def test_operations_come_back(made: Operation) -> None:
    assert decode(Operation, encode(made)) == made


HEADERS = st.lists(
    st.tuples(st.sampled_from(["x", "bridge-origin-topic", "bridge-reason"]), st.binary(max_size=9))
).map(tuple)


@settings(max_examples=50, deadline=None)
@given(
    value=st.none() | st.binary(max_size=2_000),
    key=st.none() | st.binary(max_size=200),
    headers=HEADERS,
    origin=origins(INT64),
    reason=st.sampled_from(get_args(Reason)),
)
def test_dead_letters_come_back(
    value: Any, key: Any, headers: Any, origin: Any, reason: Reason
) -> None:
    """Whole or cut, whatever the sender wrote under the bridge's names."""
    record = Record(value, key, headers, origin)
    letter = dead_letter(record, Refusal(reason, "d"), "s", Limits(record_bytes=1_500))
    read = decode(DeadLetter, letter)
    assert encode(read) == Encoded(letter.key, letter.value, letter.headers)
    assert (read.reason, read.source, read.origin) == (reason, "s", origin)
    assert read.size in (None, len(value or b""))
    assert (value or b"").startswith(read.value or b"")
    assert read.size is not None or (read.value, read.key) == (value, key)


def test_what_the_engine_sends_is_what_everybody_encodes() -> None:
    """There is one way to the bytes: the record's own, by its encoding."""
    trace = (("traceparent", b"00-1-1-01"),)
    made, outgoing = asked(), publish(asked(), trace)
    said = Encoded(outgoing.key, outgoing.value, outgoing.headers)
    assert (said, outgoing.topic) == (encode(made, trace=trace), made.topic)


# --- What readers meet ----------------------------------------------------------------------------


@pytest.mark.parametrize(("name", "example"), EXAMPLES)
def test_documented_examples_are_read(name: str, example: dict[str, Any]) -> None:
    """What other teams are shown is what this reads, member by member."""
    headers = tuple((key, text.encode()) for key, text in example.get("headers", {}).items())
    value = json.dumps(example["payload"]).encode()
    read = decode(KINDS[name], Encoded(b"key", value, headers))
    assert read is not None
    if name == "DeadLetter":
        assert encode(read).headers == headers
    else:
        assert json.loads(encode(read).value or b"") == example["payload"]


def test_fields_of_later_releases_are_skipped() -> None:
    """On every level; a word that this release does not know stays as it stands."""
    value = json.loads(ASKED)
    later = value | {"novelty": [1], "status": "delegated"}
    later["origin"] = value["origin"] | {"cluster": "b"}
    read = decode(Approval, sent(later))
    assert read is not None
    assert read.status == "delegated"


def test_absent_and_null_are_none() -> None:
    """Writers in other languages put nulls where nothing is."""
    read = decode(Answer, sent({"status": "resolved", "comment": None}))
    assert read == Answer(status="resolved")
    nothing = decode(Answer, sent({"status": "resolved", "payload": None}))
    assert nothing is not None
    assert bytes(nothing.payload or b"") == b"null"


@pytest.mark.parametrize("key", [None, b"faf6703e", b"__bridge/slot-1"])
def test_a_null_value_is_no_record(key: bytes | None) -> None:
    assert decode(Approval, Encoded(key, None)) is None


def test_a_mark_of_the_bridge_is_no_record() -> None:
    """Whatever a later release may write under such a key; a thread may well be named so."""
    assert decode(Approval, Encoded(b"__bridge/slot-1", b"7")) is None
    assert decode(AnswerVerdict, Encoded(b"__", VERDICT)) is not None


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (b"", "not JSON"),
        (b"\x00\x00\x00\x00\x01s3cret", "not JSON"),
        (b"\xff", "not JSON"),
        (b"[" * 100_000, "no Approval"),
        (b"[1]", "at its root"),
        ({"approval_id": "s3cret"}, "required field is missing"),
        ({**json.loads(ASKED), "revision": "s3cret"}, "/revision"),
        ({**json.loads(ASKED), "published_at": "s3cret"}, "`instant` at /published_at"),
        ({**json.loads(ASKED), "published_at": "2026-01-01T00:00:00"}, "/published_at"),
        ({**json.loads(ASKED), "origin": {"topic": "s3cret"}}, "/origin/partition"),
    ],
)
def test_what_is_no_record_is_said_without_its_content(value: Any, words: str) -> None:
    with pytest.raises(NotARecord) as raised:
        decode(Approval, sent(value))
    assert raised.value.code == "not_a_record"
    assert words in str(raised.value)
    for error in chain(raised.value):
        assert "s3cret" not in str(error)


def chain(error: BaseException | None) -> Iterator[BaseException]:
    """The error and what a traceback would show with it."""
    while error is not None:
        yield error
        error = error.__cause__


@pytest.mark.parametrize("headers", [(), (("bridge-reason", b"x"),), (("bridge-size", b"x"),)])
def test_a_record_without_the_bridges_headers_is_no_dead_letter(headers: Any) -> None:
    with pytest.raises(NotARecord):
        decode(DeadLetter, Encoded(b"k", b"v", headers))


# --- Instants and answers -------------------------------------------------------------------------


@given(DATED)
def test_instants_are_datetimes_and_texts(millis: int) -> None:
    made = instants.instant(millis)
    assert made.millis == millis
    assert Instant.of(datetime.fromisoformat(made.text)) == made
    assert made == datetime(1970, 1, 1, tzinfo=UTC) + timedelta(milliseconds=millis)


def test_an_instant_needs_a_zone() -> None:
    with pytest.raises(ValueError, match="time zone"):
        Instant.of(datetime(2026, 1, 1))
    east = datetime(2026, 1, 1, 2, tzinfo=timezone(timedelta(hours=2)))
    assert Instant.of(east).text == "2026-01-01T00:00:00.000Z"


def test_an_answer_to_an_approval_is_what_the_bridge_reads() -> None:
    """Named in both ways, which agree, and keyed so that it needs no hop."""
    at = datetime(2026, 1, 1, tzinfo=UTC)
    made = answer_for(asked(), payload=msgspec.Raw(b"1e2"), answered_by="ann", answered_at=at)
    said = encode(made)
    read = read_answer(Record(said.value, said.key, said.headers, ORIGIN), Limits())
    assert isinstance(read, bridge.core.model.Answer)
    assert (said.key, read.approval_id) == (b"thread-1", asked().approval_id)
    assert (read.payload, read.answered_by) == (b"1e2", "ann")
    assert read.answered_at == 1_767_225_600_000


def test_a_cancelled_answer_has_no_payload() -> None:
    with pytest.raises(ValueError, match="payload"):
        answer_for(asked(), status="cancelled", payload=1)


# --- Documentation --------------------------------------------------------------------------------


@pytest.mark.parametrize("module", [bridge.records, answer, coding, instants])
def test_examples_of_docstrings_run(module: Any) -> None:
    """What people copy works, on the documented approval."""
    value = {**json.loads(ASKED), "response_schema": {"type": "object"}}
    record = Encoded(b"key", msgspec.json.encode(value))
    names = {
        **vars(bridge.records),
        "record": record,
        "approval": decode(Approval, record),
        **{"timezone": timezone, "timedelta": timedelta, "datetime": datetime},
    }
    done = doctest.testmod(module, globs=names)
    assert done.attempted > 0
    assert done.failed == 0


def test_other_programs_load_no_kafka_client_and_no_settings() -> None:
    """Whoever reads records has a client and settings of their own."""
    heavy = "{'aiokafka', 'pydantic', 'asyncio', 'rich'}"
    code = f"import sys, bridge.records; print(*{heavy} & sys.modules.keys())"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not done.stdout.strip()
