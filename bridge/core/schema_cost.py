"""An upper bound on the work a schema can cause, found before it is ever run.

A validator visits a subschema once for each way that leads to it. References can double the ways
at each step, in place (chains of allOf) or with each level of the payload (recursion that
branches over the same member), so the bound is a function of the payload's depth.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable
from typing import Any
from urllib.parse import unquote

# Steps of the analysis itself; a 16 KB schema written by people needs a few thousand.
_STEPS = 100_000
# Where counting stops: every caller's limit is far below.
_MANY = 10**9

_ANY = None  # the label of keywords that apply to every member or item
_Label = str | None
_Ways = dict[_Label, Counter[int]]

_REFERENCES = ("$ref", "$dynamicRef", "$recursiveRef")
_IN_PLACE = ("not", "if", "then", "else")
_IN_PLACE_LISTS = ("allOf", "anyOf", "oneOf")
_IN_PLACE_MAPS = ("dependentSchemas", "dependencies")
_OF_ANY_CHILD = (
    "additionalProperties",
    "additionalItems",
    "unevaluatedProperties",
    "unevaluatedItems",
    "contains",
    "propertyNames",
    "items",
)
_REVISITING = ("unevaluatedProperties", "unevaluatedItems")


class Unbounded(ValueError):
    """A schema whose work can't be bounded; the message says why."""


class Cost:
    """The visits of one schema along one path of a payload, by the payload's depth.

    A visit counts as what `weight` makes of the schema visited. Raises Unbounded for references
    that leave the schema, lead nowhere or form a loop in place.
    """

    def __init__(self, schema: Any, weight: Callable[[Any], int] = lambda _: 1) -> None:
        self._root = schema
        self._weight = weight
        self._anchors: dict[str, Any] = {}
        self._steps = 0
        self._nodes: dict[int, Any] = {}
        self._in_place: dict[int, int] = {}
        self._ways: dict[int, _Ways] = {}
        self._by_depth: list[dict[int, int]] = []
        self._find_anchors(schema)
        waiting = [schema]
        while waiting:
            place = waiting.pop()
            if id(place) not in self._ways:
                self._close(place, ())
                targets = {key for ways in self._ways[id(place)].values() for key in ways}
                waiting.extend(self._nodes[key] for key in targets)

    def visits(self, depth: int) -> int:
        """At most so much on the way from the root to one place at this depth."""
        while len(self._by_depth) <= depth:
            below = self._by_depth[-1] if self._by_depth else {}
            self._by_depth.append(
                {
                    key: min(_MANY, own + self._worst(key, below))
                    for key, own in self._in_place.items()
                }
            )
        return self._by_depth[depth][id(self._root)]

    # --- What a schema leads to -----------------------------------------------------------------

    def _close(self, schema: Any, above: tuple[int, ...]) -> None:
        """Count what is visited at this place of the payload, and what at its children."""
        key = id(schema)
        if key in self._ways:
            return
        if key in above:
            raise Unbounded("a reference leads back to itself without a step into the payload")
        self._nodes[key] = schema
        visits, ways = min(self._weight(schema), _MANY), self._own_children(schema)
        for target, times in self._own_in_place(schema):
            self._close(target, (*above, key))
            visits = min(visits + times * self._in_place[id(target)], _MANY)
            for label, counts in self._ways[id(target)].items():
                self._step(len(counts))
                for child, count in counts.items():
                    ways[label][child] = min(ways[label][child] + times * count, _MANY)
        self._in_place[key], self._ways[key] = visits, ways

    def _own_in_place(self, schema: Any) -> list[tuple[Any, int]]:
        if not isinstance(schema, dict):
            return []
        targets = [self._resolve(schema[name]) for name in _REFERENCES if name in schema]
        targets += [schema[name] for name in _IN_PLACE if name in schema]
        for name in _IN_PLACE_LISTS:
            targets += _as_list(schema.get(name))
        for name in _IN_PLACE_MAPS:
            targets += _as_dict(schema.get(name)).values()
        # To know what was evaluated, everything in place is visited again.
        times = 1 + sum(name in schema for name in _REVISITING)
        self._step(len(targets))
        return [(target, times) for target in targets if isinstance(target, dict)]

    def _own_children(self, schema: Any) -> _Ways:
        ways: _Ways = defaultdict(Counter)
        if not isinstance(schema, dict):
            return ways
        for name, target in _as_dict(schema.get("properties")).items():
            self._lead(ways, name, target)
        for target in _as_dict(schema.get("patternProperties")).values():
            self._lead(ways, _ANY, target)
        for name in _OF_ANY_CHILD:
            self._lead(ways, _ANY, schema.get(name))
        for name in ("prefixItems", "items"):
            for index, target in enumerate(_as_list(schema.get(name))):
                self._lead(ways, str(index), target)
        return ways

    def _lead(self, ways: _Ways, label: _Label, target: Any) -> None:
        if isinstance(target, dict):
            self._step(1)
            self._nodes[id(target)] = target
            ways[label][id(target)] += 1

    # --- References -----------------------------------------------------------------------------

    def _find_anchors(self, schema: Any) -> None:
        """Names that `#name` may mean; a nested base URI would change what `#` is."""
        waiting = [schema]
        while waiting:
            value = waiting.pop()
            self._step(1)
            if isinstance(value, list):
                waiting.extend(value)
            elif isinstance(value, dict):
                waiting.extend(value.values())
                for name in ("$anchor", "$dynamicAnchor", "$id", "id"):
                    own = value.get(name)
                    if not isinstance(own, str):
                        continue
                    if name in ("$anchor", "$dynamicAnchor"):
                        self._anchors[own] = value
                    elif own.startswith("#"):
                        self._anchors[own[1:]] = value
                    elif name == "$id" and value is not self._root:
                        raise Unbounded("a nested $id changes what its references mean")

    def _resolve(self, reference: Any) -> Any:
        if not isinstance(reference, str) or not reference.startswith("#"):
            raise Unbounded("a reference leaves the schema")
        name = unquote(reference[1:])
        if name and not name.startswith("/"):
            if name not in self._anchors:
                raise Unbounded("a reference leads nowhere")
            return self._anchors[name]
        target = self._root
        for token in name.split("/")[1:]:
            member = token.replace("~1", "/").replace("~0", "~")
            if isinstance(target, dict) and member in target:
                target = target[member]
            elif isinstance(target, list) and member.isdecimal() and int(member) < len(target):
                target = target[int(member)]
            else:
                raise Unbounded("a reference leads nowhere")
        return target

    # --- Depth ----------------------------------------------------------------------------------

    def _worst(self, key: int, below: dict[int, int]) -> int:
        """The most visits that any one member or item of this place can cause."""
        if not below:
            return 0
        sums = {
            label: sum(count * below[child] for child, count in counts.items())
            for label, counts in self._ways[key].items()
        }
        of_any = sums.pop(_ANY, 0)
        return of_any + max(sums.values(), default=0)

    def _step(self, steps: int) -> None:
        self._steps += steps
        if self._steps > _STEPS:
            raise Unbounded("the schema is too intricate to bound its work")


_REGEX_PARTS = re.compile(r"\\.|\[(?:\\.|[^\]\\])*\]|\{(\d+)(?:,(\d*))?\}|.", re.DOTALL)


def pattern_positions(schema: Any) -> int:
    """How many positions a matcher may have to follow at once in the schema's own patterns.

    The engine's time is at most this times the length of the text.
    """
    patterns = [*_as_dict(_as_dict(schema).get("patternProperties"))]
    own = _as_dict(schema).get("pattern")
    return sum(map(_positions, [*patterns, own] if isinstance(own, str) else patterns))


def _positions(pattern: str) -> int:
    """The length of a pattern with its counted repetitions written out."""
    groups, last = [0], 0
    for part in _REGEX_PARTS.finditer(pattern):
        if part[0] == "(":
            groups.append(0)
        elif part[0] == ")" and len(groups) > 1:
            last = groups.pop()
            groups[-1] += last
        elif part[1] is not None:
            times = min(int(part[2] or part[1]), _MANY) + (part[2] == "")
            groups[-1] += last * (max(times, 1) - 1)
            last *= max(times, 1)
        else:
            last = 1
            groups[-1] += last
    return min(sum(groups), _MANY)


def _as_dict(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _as_list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []
