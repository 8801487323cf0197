"""What pydantic refuses, said in lines that name the key and what is allowed there."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Mapping
from typing import Any, Final, get_args

from pydantic import BaseModel, SecretStr, ValidationError

from bridge.config.values import DURATION
from bridge.core.durations import format_duration

Location = tuple[int | str, ...]


def lines(
    error: ValidationError, root: type[BaseModel], variables: Mapping[Location, str]
) -> list[str]:
    """One line for each problem. `variables`: which keys came from the environment."""
    said: dict[Location, list[str]] = {}
    for each in error.errors():
        where = _field(each["loc"], root)
        kind = "json_list" if each["type"] == "tuple_type" and where in variables else each["type"]
        text = _text(where, kind, each["msg"], each.get("ctx", {}), root)
        said.setdefault(where, []).append(text)
    found = []
    for where, texts in said.items():
        key = path(where) + (f" (from {variables[where]})" if where in variables else "")
        # What a key may be in several ways has a line for each of them, which are one to a reader.
        text = " or ".join(texts)
        found.append(f"{key}: {text}" if key else text)
    return found


def path(location: Location) -> str:
    """`sources[0].topic` of ("sources", 0, "topic")."""
    text = ""
    for part in location:
        text += f"[{part}]" if isinstance(part, int) else f".{part}"
    return text.lstrip(".")


def allowed(names: Iterable[str], given: str) -> str:
    """ "did you mean …" where one is near, and all that is allowed."""
    known = list(names)
    return f"{near(known, given)}allowed: {', '.join(known)}"


def near(names: Iterable[str], given: str) -> str:
    """ "did you mean …? " where one is near, else nothing."""
    found = difflib.get_close_matches(given, list(names), n=1)
    return f"did you mean {found[0]}? " if found else ""


def nested(annotation: Any) -> type[BaseModel] | None:
    """The section that a field holds, directly, optionally or in a tuple."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    return next((found for arg in get_args(annotation) if (found := nested(arg))), None)


def is_secret(annotation: Any) -> bool:
    """Whether a field holds what must not stand in a settings file."""
    return annotation is SecretStr or any(is_secret(arg) for arg in get_args(annotation))


def _text(
    location: Location, kind: str, message: str, context: Mapping[str, Any], root: type[BaseModel]
) -> str:
    """What is wrong, as what to write; pydantic's own words where they say it."""
    if kind == "extra_forbidden":
        section = _section(root, location[:-1])
        return f"unknown key; {allowed(section.model_fields, str(location[-1]))}"
    if kind == "tuple_type" and location == ("sources",):
        return "there can be several, so write [[sources]], with two brackets, above each"
    if kind in ("model_type", "model_attributes_type"):
        return f"is a section: write [{location[-1]}] on a line and its keys below it"
    if kind == "literal_error":
        return f"must be {context['expected']}"
    if kind.startswith("datetime_") or kind.startswith("timezone_"):
        return "an instant with its zone, such as 2026-11-29T12:00:00Z"
    said = re.sub("^(Input|String) should", "must", message.removeprefix("Value error, "))
    said = _WORDS.get(kind, said)
    field = _section(root, location[:-1]).model_fields.get(str(location[-1])) if location else None
    if kind in _BOUNDS and field is not None and DURATION in field.metadata:
        # As people write it: pydantic counts milliseconds.
        word, bound = _BOUNDS[kind]
        said = f"must be {word} {format_duration(context[bound])}"
    return said


_BOUNDS: Final = {
    "greater_than": ("longer than", "gt"),
    "greater_than_equal": ("at least", "ge"),
    "less_than_equal": ("at most", "le"),
}


_WORDS: Final = {
    "bool_parsing": "must be true or false",
    "bool_type": "must be true or false",
    "dict_type": 'is a table: write its keys in braces, such as { key = "value" }',
    "int_parsing": "must be a whole number",
    "int_type": "must be a whole number",
    "json_list": "must be a JSON list, in square brackets",
    "missing": "is required",
    "string_pattern_mismatch": "takes A-Z, a-z, 0-9, dot, underscore and hyphen, nothing else",
    "string_too_short": "must not be empty",
    "string_type": "must be one text in quotes",
    "tuple_type": 'must be a list, such as ["one", "two"]',
}


def _field(location: Location, root: type[BaseModel]) -> Location:
    """The key that is meant; behind one that may be several things pydantic names which."""
    section: type[BaseModel] | None = root
    for number, part in enumerate(location):
        if isinstance(part, int) or section is None:
            continue
        field = section.model_fields.get(part)
        if field is None:
            return location[: number + 1]
        section = nested(field.annotation)
        if section is None:
            inside = location[number + 1 :][:1]
            return location[: number + 1] + tuple(p for p in inside if isinstance(p, int))
    return location


def _section(root: type[BaseModel], location: Location) -> type[BaseModel]:
    for part in location:
        if isinstance(part, str):
            root = nested(root.model_fields[part].annotation) or root
    return root
