"""What pydantic refuses, said in lines that name the key and what is allowed there."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from typing import Any, get_args

from pydantic import BaseModel, SecretStr, ValidationError

Location = tuple[int | str, ...]


def lines(
    error: ValidationError, root: type[BaseModel], variables: Mapping[Location, str]
) -> list[str]:
    """One line for each problem. `variables` tells which keys came from the environment."""
    return [
        _line(each["loc"], each["type"], each["msg"], root, variables) for each in error.errors()
    ]


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


def _line(
    location: Location,
    kind: str,
    message: str,
    root: type[BaseModel],
    variables: Mapping[Location, str],
) -> str:
    where = path(location)
    if location in variables:
        where += f" (from {variables[location]})"
    if kind == "extra_forbidden":
        section = _section(root, location[:-1])
        return f"{where}: unknown key; {allowed(section.model_fields, str(location[-1]))}"
    if kind == "missing":
        return f"{where}: is required"
    text = message.removeprefix("Value error, ")
    return f"{where}: {text}" if where else text


def _section(root: type[BaseModel], location: Location) -> type[BaseModel]:
    for part in location:
        if isinstance(part, str):
            root = nested(root.model_fields[part].annotation) or root
    return root
