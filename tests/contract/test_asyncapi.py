"""asyncapi.yaml says of the topics what the code and the Avro schemas say."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any, get_args

import jsonschema_rs
import pytest
import yaml
from hypothesis import given, settings

from bridge.config import Topics
from bridge.core.model import Judged, Limits, Origin, Reason, Refusal, Resume, Run
from bridge.core.record import Record
from bridge.records.answers import BadAnswer, read_answer
from bridge.records.dead_letter import dead_letter
from bridge.records.operations import read_operation
from bridge.records.outgoing import Outgoing
from bridge.records.published import approval, command, publish, verdict
from bridge.records.topics import ROLES, TOPICS, Role
from tests.contract.json_form import ASYNCAPI, INBOUND, OUTBOUND, avro, component_schemas
from tests.model_strategies import DATED, judged, resumes, runs

NODE = Path(__file__).parent / "node"
DOCUMENT: dict[str, Any] = yaml.safe_load(ASYNCAPI.read_text("utf-8"))
CHANNELS = DOCUMENT["channels"]
MESSAGES = DOCUMENT["components"]["messages"]
OWN_SCHEMAS = {"Headers", "DeadLetterHeaders"}  # of Kafka, not of the records
PRIVATE_ROLES = {"state", "reroute"}


def validator(schema: Any) -> jsonschema_rs.Validator:
    """A validator for a part of the document, its references included."""
    return jsonschema_rs.Draft7Validator(
        {"allOf": [schema], "components": DOCUMENT["components"]}, validate_formats=True
    )


PAYLOADS = {name: validator(message["payload"]) for name, message in MESSAGES.items()}
HEADERS = {
    name: validator(message["headers"])
    for name, message in MESSAGES.items()
    if "headers" in message
}


def agrees(outgoing: Outgoing, message: str) -> None:
    """Checks value and headers of a record that the bridge writes."""
    assert outgoing.value is not None
    PAYLOADS[message].validate(json.loads(outgoing.value))
    HEADERS[message].validate({name: value.decode() for name, value in outgoing.headers})


# --- The records --------------------------------------------------------------------------------


def test_the_json_form_is_that_of_the_avro_schemas() -> None:
    """Regenerate with `python -m tests.contract.json_form` after a change of a schema."""
    documented = DOCUMENT["components"]["schemas"]
    assert {k: v for k, v in documented.items() if k not in OWN_SCHEMAS} == component_schemas()


@pytest.mark.parametrize("name", [*OUTBOUND, *INBOUND])
def test_field_names_are_those_of_the_avro_schema(name: str) -> None:
    """No field is missing and none is made up."""
    record = avro(name)
    documented = DOCUMENT["components"]["schemas"][record["name"]]["properties"]
    assert list(documented) == [field["name"] for field in record["fields"]]


@settings(max_examples=50, deadline=None)
@given(runs(DATED))
def test_approvals_are_as_documented(run: Run) -> None:
    """Whatever state a question is in."""
    for index in range(len(run.items)):
        agrees(publish(approval(run, index)), "Approval")


@settings(max_examples=50, deadline=None)
@given(judged(DATED))
def test_verdicts_are_as_documented(made: Judged) -> None:
    """With and without identity."""
    agrees(publish(verdict(made)), "AnswerVerdict")


@settings(max_examples=50, deadline=None)
@given(resumes(DATED))
def test_commands_are_as_documented(resume: Resume) -> None:
    """However the run was completed."""
    agrees(publish(command(resume)), "ResumeCommand")


@pytest.mark.parametrize("headers", [(), (("x", b"1" * 2_000),)])
def test_dead_letters_are_as_documented(headers: tuple[tuple[str, bytes], ...]) -> None:
    """Whole, and cut because it does not fit."""
    record = Record(b"x" * 3_000, b"key", headers, Origin("t", 0, 1, 2))
    letter = dead_letter(record, Refusal("not_json"), "s", Limits(record_bytes=2_500))
    found = {name: value.decode() for name, value in letter.headers}
    HEADERS["DeadLetter"].validate(found)
    documented = DOCUMENT["components"]["schemas"]["DeadLetterHeaders"]["properties"]
    assert found.keys() - {"x"} <= documented.keys()
    assert documented["bridge-reason"]["examples"] == list(get_args(Reason))


# --- What other teams send ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("message", "example"),
    [(name, each) for name, message in MESSAGES.items() for each in message.get("examples", ())],
)
def test_examples_fit_their_schemas(message: str, example: dict[str, Any]) -> None:
    """An example is what people copy."""
    PAYLOADS[message].validate(example["payload"])
    if "headers" in example:
        HEADERS[message].validate(example["headers"])


@pytest.mark.parametrize(
    "value",
    [
        {"approval_id": "faf6703e-aba3-8201-b3a3-5057f251dd62"},
        {"status": "resolved"},
        {"status": "maybe", "approval_id": "faf6703e-aba3-8201-b3a3-5057f251dd62"},
        {"status": "resolved", "source": "s", "thread_id": "t", "run_id": "r"},
        {"status": "resolved", "approval_id": "faf6703e-aba3-8201-b3a3-5057f251dd62", "who": "me"},
        {"status": "resolved", "approval_id": "faf6703e-aba3-8201-b3a3-5057f251dd62", "comment": 1},
    ],
)
def test_what_the_document_refuses_is_malformed(value: dict[str, Any]) -> None:
    """A sender that validates by the document and the bridge agree on what is wrong."""
    assert not PAYLOADS["Answer"].is_valid(value)
    assert isinstance(read_answer(sent(value), Limits()), BadAnswer)


def test_examples_of_inputs_are_read() -> None:
    """What the document shows for sending is not malformed."""
    for example in MESSAGES["Answer"]["examples"]:
        assert not isinstance(read_answer(sent(example["payload"]), Limits()), BadAnswer)
    for example in MESSAGES["Operation"]["examples"]:
        assert not isinstance(read_operation(sent(example["payload"]), Limits()), BadAnswer)


def sent(value: Any) -> Record:
    """A record as another team's producer writes it."""
    return Record(json.dumps(value).encode(), None, (), Origin("bridge.answers", 0, 0, 0))


# --- The topics ---------------------------------------------------------------------------------


def test_every_public_topic_has_a_channel() -> None:
    """Under the names of the default configuration."""
    topics = Topics()
    public = {topics.names()[role] for role in ROLES if role not in PRIVATE_ROLES}
    assert {channel["address"] for channel in CHANNELS.values()} == public


@pytest.mark.parametrize("role", [role for role in ROLES if role not in PRIVATE_ROLES])
def test_topic_settings_are_those_that_are_checked(role: Role) -> None:
    """Cleanup and retention as a worker asks for them."""
    (channel,) = [c for c in CHANNELS.values() if c["address"] == f"bridge.{role}"]
    need = TOPICS[role]
    wanted: dict[str, Any] = {"cleanup.policy": [need.cleanup]}
    if need.retention is not None:
        wanted["retention.ms"] = need.retention
    if need.delete_retention is not None:
        wanted["delete.retention.ms"] = need.delete_retention
    assert channel["bindings"]["kafka"]["topicConfiguration"] == wanted


def test_the_document_is_asyncapi() -> None:
    """By the project's own parser, which needs Node."""
    node = shutil.which("node")
    if node is None or not (NODE / "node_modules").is_dir():
        pytest.skip("needs Node 20 and its parser: npm ci --prefix tests/contract/node")
    command = [node, str(NODE / "validate.mjs"), str(ASYNCAPI)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
