"""Response schemas: validated offline and exactly, and never a way to stall a worker."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest

from bridge.core.schema import MAX_PROBLEMS, SchemaCache
from bridge.core.schema_cost import Cost, pattern_positions

# Generous: what is bounded takes milliseconds, what is not takes minutes.
BOUND_SECONDS = 5


def text(value: Any) -> bytes:
    return json.dumps(value).encode()


def chain(keyword: str, length: int) -> dict[str, Any]:
    """References that double at each step: 2^length ways to the end."""
    definitions: dict[str, Any] = {
        f"s{n}": {keyword: [{"$ref": f"#/$defs/s{n + 1}"}] * 2} for n in range(length)
    }
    return {"$defs": {**definitions, f"s{length}": {"type": "string"}}, "$ref": "#/$defs/s0"}


def nested(depth: int) -> dict[str, Any]:
    value: dict[str, Any] = {}
    for _ in range(depth):
        value = {"c": value}
    return value


@pytest.mark.parametrize(
    ("schema", "payload", "valid"),
    [
        ({"type": "integer"}, b"50.0", True),
        ({"type": "integer"}, b"1e2", True),
        ({"type": "integer"}, b"1.5", False),
        ({"type": "integer"}, b"18446744073709551617", True),
        ({"maximum": 18446744073709551616}, b"18446744073709551617", False),
        ({"const": 50}, b"50.0", True),
        ({"multipleOf": 0.1}, b"0.3", True),
        ({"type": "string", "format": "date"}, b'"soon"', True),  # format is an annotation
        ({"type": "null"}, None, True),
        ({"type": "object"}, None, False),
        ({"type": "object"}, b"null", False),
        (True, b"1", True),
        (False, b"1", False),
        ({"pattern": "^\\p{L}+$"}, '"é"'.encode(), True),
        (
            {"items": [{"type": "string"}], "$schema": "http://json-schema.org/draft-07/schema#"},
            b"[1]",
            False,
        ),
        (
            {"dependencies": {"a": ["b"]}, "$schema": "http://json-schema.org/draft-04/schema#"},
            b'{"a":1}',
            False,
        ),
        ({"$ref": "#/$defs/a", "$defs": {"a": {"type": "null"}}}, b"1", False),
        ({"$ref": "#a", "$defs": {"x": {"$anchor": "a", "type": "null"}}}, b"1", False),
        ({"properties": {"c": {"$ref": "#"}}, "type": "object"}, b'{"c":{"c":3}}', False),
        ({"properties": {"$ref": {"type": "string"}}}, b'{"$ref":1}', False),
    ],
)
def test_validation(schema: Any, payload: bytes | None, valid: bool) -> None:
    """By the draft that the schema names, numbers by value, none as null."""
    schemas = SchemaCache()
    assert schemas.unusable(text(schema)) is None
    assert (schemas.problems(text(schema), payload) == ()) is valid


def test_an_ordinary_recursive_schema_is_usable() -> None:
    """A tree that branches over different members visits each place once."""
    node = {
        "type": "object",
        "properties": {"l": {"$ref": "#/$defs/n"}, "r": {"$ref": "#/$defs/n"}},
    }
    schemas, schema = SchemaCache(), text({"$defs": {"n": node}, "$ref": "#/$defs/n"})
    assert schemas.unusable(schema) is None
    [problem] = schemas.problems(schema, b'{"l":{"r":{"l":3}}}')
    assert (problem.path, problem.message) == ("/l/r/l", "must be of type object")


@pytest.mark.parametrize(
    "schema",
    [
        b"{",
        b"[]",
        b"3",
        text({"type": "no"}),
        text({"$ref": "https://example.test/s"}),
        text({"properties": {"a": {"$ref": "file:///etc/hostname"}}}),
        text({"$dynamicRef": "other#x"}),
        text({"$ref": "#"}),
        text({"allOf": [{"$ref": "#/$defs/a"}], "$defs": {"a": {"not": {"$ref": "#/$defs/a"}}}}),
        text({"$ref": "#/nowhere"}),
        text({"$defs": {"a": {"$id": "http://example.test/a"}}, "$ref": "#/$defs/a"}),
        text(chain("allOf", 30)),
        text(chain("anyOf", 30)),
        text({"pattern": "(?=a)b"}),
        text({"pattern": "(?:(?:a{100}){100}){100}"}),
        text({"minLength": -1}),
    ],
)
def test_an_unusable_schema_says_why_and_enforces_nothing(schema: bytes) -> None:
    """Refused before it is run; nothing is fetched."""
    schemas, started = SchemaCache(), time.monotonic()
    assert schemas.unusable(schema)
    assert schemas.problems(schema, b"1") == ()
    assert time.monotonic() - started < BOUND_SECONDS


DOUBLING = {"properties": {"c": {"allOf": [{"$ref": "#"}, {"$ref": "#"}]}}}


@pytest.mark.parametrize(
    ("schema", "payload"),
    [
        (DOUBLING, nested(60)),
        ({"pattern": "^(a+)+$"}, "a" * 250_000 + "!"),
        ({"pattern": "(?:a|b)*a(?:a|b){900}[cd]x?y"}, "ab" * 125_000 + "c"),
        ({"patternProperties": {"(?:a|b)*a(?:a|b){900}c": {}}}, {"ab" * 100_000: 1}),
        ({"allOf": [{"items": {"type": "string"}}] * 400}, [1] * 100_000),
        ({"items": {"type": "string"}}, [1] * 100_000),
        ({"uniqueItems": True}, [{"a": [n]} for n in range(20_000)] + [{"a": [0]}]),
        ({"items": {"uniqueItems": True}}, [[n, n] for n in range(20_000)]),
    ],
)
def test_attacks_take_bounded_time(schema: Any, payload: Any) -> None:
    """Invalid, or too much to check: either way an answer that can be given again, and soon."""
    schemas, started = SchemaCache(), time.monotonic()
    assert schemas.unusable(text(schema)) is None
    found = schemas.problems(text(schema), text(payload))
    assert 1 <= len(found) <= MAX_PROBLEMS
    assert time.monotonic() - started < BOUND_SECONDS


def test_doubling_recursion_is_checked_while_it_is_shallow() -> None:
    """What ordinary payloads need stays exact; only depth makes it too much."""
    assert SchemaCache().problems(text(DOUBLING), text(nested(6))) == ()


def test_problems_have_pointers_and_no_payload() -> None:
    """Words of the schema only, in a bounded number."""
    schema = text(
        {
            "properties": {"a/~": {"enum": ["x"]}, "n": {"maximum": 3}, "s": {"pattern": "^x"}},
            "required": ["z"],
            "additionalProperties": False,
        }
    )
    payload = text({"a/~": "s3cret", "n": 7, "s": "s3cret", "s3cret": 1})
    found = {p.path: p.message for p in SchemaCache().problems(schema, payload)}
    assert set(found) == {"", "/a~1~0", "/n", "/s"}
    assert found["/n"] == "must be at most 3"
    assert "s3cret" not in repr(found)


def test_pointers_and_problems_are_bounded() -> None:
    """A long key or many errors make no long verdict."""
    schema = text({"additionalProperties": {"additionalProperties": {"type": "null"}}})
    [problem] = SchemaCache().problems(schema, text({"k": {"x" * 5_000: 1}}))
    assert problem.path == "/k"
    many = text({f"k{n}": {"m": 1} for n in range(100)})
    assert len(SchemaCache().problems(schema, many)) == MAX_PROBLEMS


def test_the_cache_is_bounded_and_drops_the_least_recently_used() -> None:
    """Agents that write a new schema for each question do not fill the memory."""
    schemas = SchemaCache(2)
    one, two, three = (text({"const": n}) for n in range(3))
    for schema in (one, two, one, three):
        schemas.unusable(schema)
    assert [schema in schemas for schema in (one, two, three)] == [True, False, True]


@pytest.mark.parametrize(
    ("schema", "visits"),
    [
        ({}, [1, 1, 1]),
        ({"allOf": [{}, {}], "not": {}}, [4, 4, 4]),
        ({"properties": {"a": {}, "b": {"not": {}}}}, [1, 3, 3]),
        ({"items": {}, "contains": {}}, [1, 3, 3]),
        ({"items": {"$ref": "#"}}, [1, 3, 5]),
        (DOUBLING, [1, 6, 16]),
        ({"anyOf": [{}], "unevaluatedProperties": False}, [3, 3, 3]),
    ],
)
def test_the_bound_counts_visits_along_a_path(schema: Any, visits: list[int]) -> None:
    """Small enough to count by hand."""
    cost = Cost(schema)
    assert [cost.visits(depth) for depth in range(3)] == visits


@pytest.mark.parametrize(
    ("pattern", "positions"),
    [
        ("abc", 3),
        ("a{10}", 10),
        ("(ab){5}", 10),
        ("((a{3}){4}){5}", 60),
        ("[a-z]{2,7}x", 8),
        ("\\d{2,}", 3),
        ("a*", 2),
    ],
)
def test_counted_repetitions_are_written_out(pattern: str, positions: int) -> None:
    """Groups multiply; a class or an escape is one position."""
    assert pattern_positions({"pattern": pattern}) == positions
