"""The Avro schemas are the contract of the public records; their JSON form says the same."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from datetime import datetime
from io import BytesIO
from pathlib import Path
from typing import Any, get_args

import fastavro
import msgspec
import pytest
from fastavro.validation import validate
from hypothesis import given, settings
from hypothesis import strategies as st

from bridge import records
from bridge.core import model
from bridge.core.coverage import entries_of
from bridge.core.model import (
    AcceptedAnswer,
    ApprovalId,
    Digest,
    Item,
    Judged,
    Limits,
    Native,
    Operation,
    Origin,
    Problem,
    Question,
    Resume,
    Run,
    ThreadKey,
)
from bridge.core.record import Record
from bridge.records.answers import BadAnswer, read_answer
from bridge.records.instants import rfc3339
from bridge.records.operations import read_operation
from bridge.records.outgoing import Outgoing
from bridge.records.published import approval, command, publish, verdict
from tests.model_strategies import DATED, judged, resumes, runs

SCHEMAS = Path(__file__).parents[2] / "schemas"
NAMES = ("approval", "answer", "answer_verdict", "resume_command", "operation")
FREE_JSON = "JSON text; nested JSON in the JSON encoding."

Schema = dict[str, Any]


def schema(name: str) -> Schema:
    """The file as it stands in the repository."""
    read: Schema = json.loads((SCHEMAS / f"{name}.avsc").read_text())
    return read


PARSED = {name: fastavro.parse_schema(schema(name)) for name in NAMES}


def records_in(kind: Any) -> Iterator[Schema]:
    """Every record type that a schema defines, itself included."""
    if isinstance(kind, list):
        for branch in kind:
            yield from records_in(branch)
    elif isinstance(kind, dict) and kind["type"] == "record":
        yield kind
        for field in kind["fields"]:
            yield from records_in(field["type"])
    elif isinstance(kind, dict) and kind["type"] == "array":
        yield from records_in(kind["items"])


ALL_RECORDS = {record["name"]: record for name in NAMES for record in records_in(schema(name))}
ALL_FIELDS = [
    (record["name"], field) for record in ALL_RECORDS.values() for field in record["fields"]
]


# --- JSON to Avro, as anyone would convert it who has only the schema -----------------------------


def to_avro(value: Any, kind: Any, doc: str = "") -> Any:
    """A JSON value as the datum of an Avro type. Fails on a member the schema doesn't know."""
    if isinstance(kind, list):
        return None if value is None else to_avro(value, kind[1], doc)
    if kind == "string" and doc.endswith(FREE_JSON):
        return json.dumps(value)
    complex_type = ALL_RECORDS.get(kind) if isinstance(kind, str) else kind
    return value if complex_type is None else to_complex(value, complex_type)


def to_complex(value: Any, kind: Schema) -> Any:
    """The same for a type that is written as an object."""
    if kind["type"] == "record":
        fields = {field["name"]: field for field in kind["fields"]}
        assert value.keys() <= fields.keys()
        return {
            name: to_avro(value.get(name), field["type"], field["doc"])
            for name, field in fields.items()
        }
    if kind["type"] == "array":
        return [to_avro(item, kind["items"]) for item in value]
    return instant(value) if kind.get("logicalType") == "timestamp-millis" else value


def instant(text: str) -> int:
    """Milliseconds of an RFC 3339 text in the one form that the bridge writes."""
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", text)
    return round(datetime.fromisoformat(text).timestamp() * 1_000)


def agrees(outgoing: Outgoing, name: str) -> Schema:
    """Checks a record's JSON against its schema and returns what Avro makes of it."""
    assert outgoing.value is not None
    datum: Schema = to_avro(json.loads(outgoing.value), schema(name))
    assert validate(datum, PARSED[name], strict=True)
    buffer = BytesIO()
    fastavro.schemaless_writer(buffer, PARSED[name], datum)
    buffer.seek(0)
    read = fastavro.schemaless_reader(buffer, PARSED[name], None)
    assert untimed(read) == datum
    return datum


def untimed(value: Any) -> Any:
    """Instants as milliseconds again: the reader makes datetimes of them."""
    if isinstance(value, datetime):
        return round(value.timestamp() * 1_000)
    if isinstance(value, dict):
        return {key: untimed(item) for key, item in value.items()}
    return [untimed(item) for item in value] if isinstance(value, list) else value


@settings(max_examples=50, deadline=None)
@given(runs(DATED))
def test_approvals_agree(run: Run) -> None:
    """Every approval converts to Avro by its schema alone and comes back the same."""
    for index in range(len(run.items)):
        agrees(publish(approval(run, index)), "approval")


@settings(max_examples=50, deadline=None)
@given(judged(DATED))
def test_verdicts_agree(made: Judged) -> None:
    """Every verdict converts to Avro by its schema alone and comes back the same."""
    agrees(publish(verdict(made)), "answer_verdict")


@settings(max_examples=50, deadline=None)
@given(resumes(DATED))
def test_commands_agree(resume: Resume) -> None:
    """Every resume command converts to Avro by its schema alone and comes back the same."""
    agrees(publish(command(resume)), "resume_command")


# --- Every field is there -------------------------------------------------------------------------

ORIGIN = Origin("agents", 1, 2, 1_700_000_000_000)
FULL_ITEM = Item(
    question=Question(
        interrupt_id="int-1",
        reason="r",
        message="m",
        tool_call_id="t",
        response_schema=b"{}",
        metadata=b"{}",
        expires_at_raw="soon",
        actions=("restart",),
        authorize_at="https://example.org",
        subagent_run_id="s",
    ),
    status="answered",
    revision=2,
    expires_at=1,
    flags=("lapsed",),
    answer=AcceptedAnswer(
        "resolved", Digest(b""), "a", 1, "ana", b"1", b"{}", action="restart", revised_input=b"{}"
    ),
    closed_at=2,
    closed_reason="answered",
)
FULL_RUN = Run(
    thread=ThreadKey("source", "scope", "thread"),
    run_id="run",
    protocol="ag-ui",
    digest=Digest(b""),
    at=0,
    generation=0,
    origin=ORIGIN,
    published_at=1,
    items=(FULL_ITEM,),
    outcome="resumed",
)
FULL_VERDICT = Judged(
    verdict="accepted",
    origin=ORIGIN,
    answer_id="a",
    decided_at=1,
    approval_id=ApprovalId("id"),
    thread=FULL_RUN.thread,
    run_id="run",
    interrupt_id="int-1",
    problems=(Problem("/a", "wrong"),),
    open=1,
)
FULL_RESUME = Resume(
    run=FULL_RUN,
    entries=entries_of(FULL_RUN),
    native=Native("run", b"{}", "https://example.org", {"a": "b"}, ("note",)),
    completed_by="answers",
    issued_at=1,
    deliver_by=2,
)


@pytest.mark.parametrize(
    ("name", "outgoing"),
    [
        ("approval", publish(approval(FULL_RUN, 0))),
        ("answer_verdict", publish(verdict(FULL_VERDICT))),
        ("resume_command", publish(command(FULL_RESUME))),
    ],
)
def test_every_field_is_produced(name: str, outgoing: Outgoing) -> None:
    """No field of a schema is a promise that nothing keeps."""
    assert not list(empty_paths(agrees(outgoing, name)))


def empty_paths(value: Any, path: str = "") -> Iterator[str]:
    """Where a datum holds nothing."""
    if isinstance(value, dict) and value:
        for key, item in value.items():
            yield from empty_paths(item, f"{path}/{key}")
    elif isinstance(value, list) and value:
        yield from empty_paths(value[0], f"{path}/0")
    elif value is None or value in ([], {}):
        yield path


@pytest.mark.parametrize(
    ("name", "struct"),
    [
        ("Approval", records.Approval),
        ("Answer", records.Answer),
        ("AnswerVerdict", records.AnswerVerdict),
        ("Problem", records.Problem),
        ("ResumeCommand", records.ResumeCommand),
        ("Entry", records.Entry),
        ("Native", records.Native),
        ("Operation", records.Operation),
        ("Origin", records.Origin),
    ],
)
def test_fields_and_their_absence_agree(name: str, struct: type[msgspec.Struct]) -> None:
    """Same names; what may be left out in JSON is null by default in Avro, and nothing else."""
    fields = {field["name"]: field for field in ALL_RECORDS[name]["fields"]}
    assert set(struct.__struct_fields__) == set(fields)
    for field in msgspec.structs.fields(struct):
        nullable = isinstance(fields[field.name]["type"], list)
        assert nullable is not field.required, field.name


# --- Answers and operations are read by their schema ----------------------------------------------

TEXTS = st.text(max_size=8)
WORDS = {"status": ["resolved", "cancelled", "abandoned"], "action": ["restart", "respond"]}
APPROVAL_ID = "faf6703e-aba3-8201-b3a3-5057f251dd62"


def member(field: Schema) -> st.SearchStrategy[Any]:
    """A JSON member that the field's schema allows."""
    if field["name"] in WORDS:
        return st.sampled_from(WORDS[field["name"]])
    if field["doc"].endswith(FREE_JSON):
        return st.none() | st.integers() | st.dictionaries(TEXTS, TEXTS, max_size=2)
    if field["type"] == ["null", "string"]:
        return TEXTS
    return DATED.map(rfc3339)


def sent(name: str, **fixed: Any) -> st.SearchStrategy[dict[str, Any]]:
    """Records as someone may send them who has only the schema; named by approval_id."""
    identity = {"approval_id", "source", "scope", "thread_id", "run_id", "interrupt_id"}
    fields = {f["name"]: member(f) for f in schema(name)["fields"] if f["name"] not in identity}
    required = {"status": fields.pop("status")} if "status" in fields else {}
    fields.pop("op", None)
    fields.pop("slot", None)  # only of a probe
    given_always = {key: st.just(value) for key, value in fixed.items()}
    return st.fixed_dictionaries(required | given_always, optional=fields)


@settings(max_examples=50, deadline=None)
@given(sent("answer", approval_id=APPROVAL_ID))
def test_answers_of_the_schema_are_read(value: dict[str, Any]) -> None:
    """What validates as an Answer is understood, field by field."""
    assert validate(to_avro(value, schema("answer")), PARSED["answer"], strict=True)
    answer = read_answer(record(value), Limits())
    assert not isinstance(answer, BadAnswer)
    assert answer.approval_id == APPROVAL_ID
    assert answer.comment == (value.get("comment") or None)
    assert answer.answered_by == (value.get("answered_by") or None)
    assert answer.problems == ()


@settings(max_examples=50, deadline=None)
@given(sent("operation", op="withdraw", approval_id=APPROVAL_ID))
def test_operations_of_the_schema_are_read(value: dict[str, Any]) -> None:
    """What validates as an Operation is understood, field by field."""
    assert validate(to_avro(value, schema("operation")), PARSED["operation"], strict=True)
    operation = read_operation(record(value), Limits())
    assert isinstance(operation, Operation)
    given = (value.get("reason") or None, value.get("by") or None)
    assert (operation.reason, operation.by) == given


def record(value: Any) -> Record:
    return Record(json.dumps(value).encode(), None, (), ORIGIN)


# --- Conventions ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("record_name", "field_name", "literal"),
    [
        ("Approval", "status", model.Status),
        ("Approval", "run_outcome", model.RunOutcome),
        ("Approval", "kind", model.Kind),
        ("Approval", "closed_reason", model.ClosedReason),
        ("Entry", "status", model.AnswerStatus),
        ("Entry", "closed_reason", model.ClosedReason),
        ("AnswerVerdict", "verdict", model.Verdict),
    ],
)
def test_closed_sets_are_documented(record_name: str, field_name: str, literal: Any) -> None:
    """The symbols in a field's doc are those of the model, in its order."""
    fields = {field["name"]: field for field in ALL_RECORDS[record_name]["fields"]}
    assert symbols(fields[field_name]["doc"]) == get_args(literal)


def symbols(doc: str) -> tuple[str, ...]:
    """The words that a doc lists behind its last colon."""
    return tuple(doc.rpartition(": ")[2].partition(".")[0].split(" | "))


@pytest.mark.parametrize(("record_name", "field"), ALL_FIELDS)
def test_field_conventions(record_name: str, field: Schema) -> None:
    """A doc and a plain name for every field; optional ones are null first, null by default."""
    assert field["doc"].endswith(".")
    assert re.fullmatch(r"[a-z][a-z_]*", field["name"])
    if isinstance(field["type"], list):
        assert field["type"][0] == "null"
        assert field["default"] is None
        assert len(field["type"]) == 2


@pytest.mark.parametrize("name", NAMES)
def test_namespace_and_no_enums(name: str) -> None:
    """One namespace; no Avro enum, because a new symbol would break readers of the old schema."""
    assert schema(name)["namespace"] == "interrupt_bridge.v1"
    assert '"enum"' not in (SCHEMAS / f"{name}.avsc").read_text()


def test_a_type_is_the_same_wherever_it_stands() -> None:
    """Origin is written out in several files; a reader may load them all together."""
    origins = [
        record
        for name in NAMES
        for record in records_in(schema(name))
        if record["name"] == "Origin"
    ]
    assert len(origins) == 3
    assert all(origin == origins[0] for origin in origins)
