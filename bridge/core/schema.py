"""Response schemas: which can be used, and what is wrong with a payload.

Schemas come from agents and payloads from anyone, so nothing is fetched, patterns match in
linear time, and the work is bounded before it is done. `format` is an annotation.
"""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

import jsonschema_rs

from bridge.core import json_text
from bridge.core.model import JsonText, Problem
from bridge.core.schema_cost import Cost, Unbounded, pattern_positions

# A visit costs 2 to 20 ns in the validator: a tenth of a second, give or take.
MAX_VISITS = 10_000_000
# Collecting errors costs some 30 us for each; so many are worth the pointers.
MAX_VISITS_WITH_ERRORS = 20_000
# Matching costs up to 13 ns for each character and position of a pattern: a quarter of a second.
MAX_MATCHING = 20_000_000
# At the depth that schemas of people have, a path is visited some dozens of times.
MAX_VISITS_A_PATH = 10_000
MAX_PROBLEMS = 16
# Bytes of a compiled pattern: Unicode classes with counts fit, counted counts do not.
_PATTERN_BYTES = 262_144
_POINTER_CHARS = 1_000

_DRAFTS: dict[str, type[jsonschema_rs.Validator]] = {
    "json-schema.org/draft-04/schema": jsonschema_rs.Draft4Validator,
    "json-schema.org/draft-06/schema": jsonschema_rs.Draft6Validator,
    "json-schema.org/draft-07/schema": jsonschema_rs.Draft7Validator,
    "json-schema.org/draft/2019-09/schema": jsonschema_rs.Draft201909Validator,
}


class SchemaCache:
    """Compiled schemas by the hash of their text, the least recently used dropped first."""

    def __init__(self, size: int = 1_024) -> None:
        self._size = size
        self._compiled: OrderedDict[bytes, _Compiled | str] = OrderedDict()

    def __contains__(self, schema: object) -> bool:
        """Whether the schema, a JsonText, is compiled."""
        return isinstance(schema, bytes) and hashlib.sha256(schema).digest() in self._compiled

    def unusable(self, schema: JsonText) -> str | None:
        """Why the schema cannot be enforced; None if it can."""
        compiled = self._get(schema)
        return compiled if isinstance(compiled, str) else None

    def problems(self, schema: JsonText, payload: JsonText | None) -> tuple[Problem, ...]:
        """What is wrong with a payload; none is validated as null. An unusable schema: nothing."""
        compiled = self._get(schema)
        if isinstance(compiled, str):
            return ()
        return compiled.problems(None if payload is None else json_text.exact(payload))

    def _get(self, schema: JsonText) -> _Compiled | str:
        key = hashlib.sha256(schema).digest()
        found = self._compiled.get(key)
        if found is not None:
            self._compiled.move_to_end(key)
            return found
        compiled = self._compiled[key] = _compile(schema)
        if len(self._compiled) > self._size:
            self._compiled.popitem(last=False)
        return compiled


@dataclass(frozen=True, slots=True)
class _Compiled:
    validator: jsonschema_rs.Validator
    cost: Cost
    matching: Cost

    def problems(self, payload: Any) -> tuple[Problem, ...]:
        """Valid, or pointers where they are cheap, or one sentence where they are not."""
        places, depth, chars = _extent(payload)
        visits = places * self.cost.visits(depth)
        if visits > MAX_VISITS or chars * self.matching.visits(depth) > MAX_MATCHING:
            return (Problem("", "too large or too deep for its schema to be checked"),)
        try:
            if self.validator.is_valid(payload):
                return ()
            if visits > MAX_VISITS_WITH_ERRORS:
                return (Problem("", "does not match the schema"),)
            errors = islice(self.validator.iter_errors(payload), MAX_PROBLEMS)
            return tuple([Problem(_pointer(e.instance_path), _message(e.kind)) for e in errors])
        except (ValueError, TypeError, OverflowError, RecursionError):
            return _UNCHECKED
        except BaseException as error:
            if not _is_panic(error):
                raise
            return _UNCHECKED


_UNCHECKED = (Problem("", "cannot be checked against the schema"),)


def _compile(text: JsonText) -> _Compiled | str:
    """The validator, or why the schema is unusable. No text of the schema is repeated."""
    try:
        json_text.read(text)  # for its rules
        schema = json_text.exact(text)
        cost = Cost(schema)
        if cost.visits(4) > MAX_VISITS_A_PATH:
            return "its references multiply beyond any bound"
        return _Compiled(_validator(schema), cost, Cost(schema, pattern_positions))
    except (json_text.JsonError, Unbounded) as error:
        return str(error)
    except (ValueError, TypeError, OverflowError, RecursionError):
        # jsonschema_rs raises its ValidationError and ReferencingError (both ValueError) for what
        # is no schema, names no place in it, or holds a pattern that it does not compile.
        return "not a schema that can be compiled"
    except BaseException as error:
        if not _is_panic(error):
            raise
        return "not a schema that can be compiled"


def _is_panic(error: BaseException) -> bool:
    """Whether Rust code panicked: PyO3's PanicException, a BaseException that is not importable.

    The validator holds no state that a panic could leave half done, so the worker goes on.
    """
    return type(error).__name__ == "PanicException"


def _validator(schema: Any) -> jsonschema_rs.Validator:
    """For 2020-12 unless the schema names one of the four drafts before it."""
    named = schema.get("$schema") if isinstance(schema, dict) else None
    name = named.partition("://")[2].rstrip("#") if isinstance(named, str) else ""
    return _DRAFTS.get(name, jsonschema_rs.Draft202012Validator)(
        schema,
        validate_formats=False,
        offline=True,
        pattern_options=jsonschema_rs.RegexOptions(size_limit=_PATTERN_BYTES),
    )


def _extent(payload: Any) -> tuple[int, int, int]:
    """How many places a payload has, how deep it is, and the characters of its texts and keys."""
    places, depth, chars, level = 0, -1, 0, [payload]
    while level:
        below: list[Any] = []
        places, depth = places + len(level), depth + 1
        for value in level:
            if isinstance(value, dict):
                below += value.values()
                chars += sum(map(len, value))
            elif isinstance(value, list):
                below += value
            elif isinstance(value, str):
                chars += len(value)
        level = below
    return places, depth, chars


def _pointer(path: Sequence[str | int]) -> str:
    """The JSON Pointer to a place, cut after a whole segment where it grows too long."""
    pointer = ""
    for segment in path:
        pointer += "/" + str(segment).replace("~", "~0").replace("/", "~1")
        if len(pointer) > _POINTER_CHARS:
            return pointer[:_POINTER_CHARS].rpartition("/")[0]
    return pointer


def _message(kind: Any) -> str:
    """What the schema demands, in words of the schema: nothing of the payload is repeated."""
    name = kind.name
    if name == "type":
        return f"must be of type {' or '.join(kind.types)}"
    if name == "required":
        return f"the property {kind.property!r} is required"
    if name in _LIMITS:
        return f"{_LIMITS[name]} {kind.limit}"
    return _WORDS.get(name, f"does not satisfy {name!r}")


_LIMITS = {
    "minimum": "must be at least",
    "maximum": "must be at most",
    "exclusiveMinimum": "must be more than",
    "exclusiveMaximum": "must be less than",
    "minLength": "must be at least this long:",
    "maxLength": "must be at most this long:",
    "minItems": "must have at least so many items:",
    "maxItems": "must have at most so many items:",
    "minProperties": "must have at least so many properties:",
    "maxProperties": "must have at most so many properties:",
}
_WORDS = {
    "enum": "must be one of the values that the schema lists",
    "const": "must be the value that the schema names",
    "pattern": "must match the pattern of the schema",
    "multipleOf": "must be a multiple of the number in the schema",
    "uniqueItems": "must have no item twice",
    "additionalProperties": "has properties that the schema does not allow",
    "unevaluatedProperties": "has properties that the schema does not allow",
    "unevaluatedItems": "has items that the schema does not allow",
    "falseSchema": "is not allowed here",
}
