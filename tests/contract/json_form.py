"""The JSON form of the Avro schemas, as JSON Schema: what asyncapi.yaml says on the wire.

    python -m tests.contract.json_form        prints the schemas for asyncapi.yaml

Records of the bridge leave out what is absent; in records for the bridge null says the same.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

SCHEMAS = Path(__file__).parents[2] / "schemas"
ASYNCAPI = SCHEMAS / "asyncapi.yaml"
INBOUND = ("answer", "operation")
OUTBOUND = ("approval", "answer_verdict", "resume_command")

_FREE_JSON = "JSON text; nested JSON in the JSON encoding."
_CLOSED_SET = re.compile(r"([\w-]+(?: \| [\w-]+)+)\. The set may grow\.$")

Schema = dict[str, Any]


def avro(name: str) -> Schema:
    """The contract as it stands in the repository."""
    read: Schema = json.loads((SCHEMAS / f"{name}.avsc").read_text())
    return read


def component_schemas() -> dict[str, Schema]:
    """Every record of the contract by its name, nested ones included."""
    found: dict[str, Schema] = {}
    for name in (*OUTBOUND, *INBOUND):
        for record in _records(avro(name)):
            found.setdefault(record["name"], _object(record, inbound=name in INBOUND))
    return found


def _records(kind: Any) -> Iterator[Schema]:
    if isinstance(kind, list):
        for branch in kind:
            yield from _records(branch)
    elif isinstance(kind, dict) and kind["type"] == "record":
        yield kind
        for field in kind["fields"]:
            yield from _records(field["type"])
    elif isinstance(kind, dict) and kind["type"] == "array":
        yield from _records(kind["items"])


def _object(record: Schema, *, inbound: bool) -> Schema:
    fields = record["fields"]
    schema: Schema = {
        "type": "object",
        "description": record["doc"],
        "required": [f["name"] for f in fields if not isinstance(f["type"], list)],
        "properties": {f["name"]: _field(f, inbound=inbound) for f in fields},
    }
    return {**schema, "additionalProperties": False} if inbound else schema


def _field(field: Schema, *, inbound: bool) -> Schema:
    kind, doc = field["type"], field["doc"]
    optional = isinstance(kind, list)
    if doc.endswith(_FREE_JSON):
        return {"description": f"{doc.removesuffix(_FREE_JSON)}Any JSON."}
    schema = _type(kind[1] if optional else kind)
    if inbound and optional:
        schema = {**schema, "type": [schema["type"], "null"]}
    symbols = _CLOSED_SET.search(doc)
    if symbols is not None:
        values: list[str | None] = [*symbols[1].split(" | ")]
        # What the bridge reads is closed; what it writes may grow, so a reader must not insist.
        closed = "enum" if inbound else "examples"
        named = schema["items"] if schema["type"] == "array" else schema
        named[closed] = [*values, None] if inbound and optional else values
    return {**schema, "description": doc}


def _type(kind: Any) -> Schema:
    if isinstance(kind, str):
        primitive = {"int": "integer", "long": "integer", "string": "string"}.get(kind)
        return _reference(kind) if primitive is None else {"type": primitive}
    if kind["type"] == "record":
        return _reference(kind["name"])
    if kind["type"] == "array":
        return {"type": "array", "items": _type(kind["items"])}
    if kind["type"] == "map":
        return {"type": "object", "additionalProperties": _type(kind["values"])}
    assert kind["logicalType"] == "timestamp-millis"
    return {"type": "string", "format": "date-time"}


def _reference(name: str) -> Schema:
    # allOf, because members beside $ref are ignored by draft 7, which AsyncAPI's dialect is.
    return {"allOf": [{"$ref": f"#/components/schemas/{name}"}]}


if __name__ == "__main__":
    print(yaml.safe_dump(component_schemas(), sort_keys=False, width=100, allow_unicode=True))
