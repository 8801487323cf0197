"""Reading members of a parsed JSON object leniently, with a JSON Pointer for what can't be read.

Shared by the protocols whose producers write both camelCase and snake_case, and null for absent.
"""

from __future__ import annotations

import re
from decimal import Decimal, InvalidOperation
from functools import lru_cache
from typing import Any, Final

from bridge.core.model import Reason, Refusal

MAX_SAFE_INTEGER: Final = 2**53 - 1  # beyond it JavaScript would change the number


class Unreadable(Exception):
    """Carries the refusal of a record up to the reader's one exit; never leaves the module tree."""

    def __init__(self, reason: Reason, pointer: str, detail: str) -> None:
        super().__init__(detail)
        self.refusal = Refusal(reason, detail, pointer)


class Fields:
    """The members of one JSON object. Null is absent; both are noted in `seen` where forgiven."""

    __slots__ = ("_members", "_pointer", "_seen")

    def __init__(self, value: Any, pointer: str, seen: set[str]) -> None:
        if not isinstance(value, dict):
            raise Unreadable("malformed", pointer, "must be an object")
        self._members: dict[str, Any] = value
        self._pointer = pointer
        self._seen = seen

    def find(self, name: str) -> tuple[str, Any]:
        """(JSON Pointer, value or None) of a member by its camelCase name, or its snake_case one.

        Where an object holds both, the camelCase one counts, as in the Python SDK.
        """
        value = self._members.get(name)
        if value is not None:
            return f"{self._pointer}/{name}", value
        written = name
        if name not in self._members and (snake := snake_case(name)) in self._members:
            written = snake
            self._seen.add("snake_case")
        value = self._members.get(written)
        if value is None and written in self._members:
            self._seen.add("null_field")
        return f"{self._pointer}/{written}", value

    def text(self, name: str) -> str | None:
        value = self._members.get(name)
        if isinstance(value, str):
            return value
        pointer, value = self.find(name)
        if value is None or isinstance(value, str):
            return value
        raise Unreadable("malformed", pointer, "must be a string")

    def required_text(self, name: str) -> str:
        value = self.text(name)
        if value is None:
            raise Unreadable("malformed", f"{self._pointer}/{name}", "must be a string")
        return value

    def object(self, name: str) -> dict[str, Any] | None:
        pointer, value = self.find(name)
        if value is None or isinstance(value, dict):
            return value
        raise Unreadable("malformed", pointer, "must be an object")

    def array(self, name: str) -> tuple[str, list[Any]]:
        """(JSON Pointer, items); absent reads as empty."""
        pointer, value = self.find(name)
        if value is None:
            return pointer, []
        if not isinstance(value, list):
            raise Unreadable("malformed", pointer, "must be an array")
        return pointer, value

    def texts(self, name: str) -> list[str]:
        """An array of strings; absent reads as empty."""
        pointer, values = self.array(name)
        for index, value in enumerate(values):
            if not isinstance(value, str):
                raise Unreadable("malformed", f"{pointer}/{index}", "must be a string")
        return values

    def check_integer(self, name: str, minimum: int = -MAX_SAFE_INTEGER) -> None:
        """A whole number a double can hold; 5.0 is one, and "5" is forgiven as one."""
        pointer, value = self.find(name)
        if value is None or (type(value) is int and minimum <= value <= MAX_SAFE_INTEGER):
            return
        number: Decimal | None = None
        try:  # the Python SDK takes texts and booleans for numbers, too
            if isinstance(value, str | int | Decimal):
                number = Decimal(value)
        except InvalidOperation:
            pass
        if number is None or not number.is_finite() or not minimum <= number <= MAX_SAFE_INTEGER:
            raise Unreadable("malformed", pointer, f"must be an integer from {minimum}")
        if number != number.to_integral_value():
            raise Unreadable("malformed", pointer, "must be an integer")
        if isinstance(value, str | bool):
            self._seen.add("loose_number")


def spelling(name: str) -> str:
    """The name's letters and digits alone, in one case: equal for a name written in two ways."""
    return _SEPARATORS.sub("", name).casefold()


_SEPARATORS: Final = re.compile(r"[\W_]")


@lru_cache(maxsize=256)  # names come from the protocols' code, never from a record
def snake_case(name: str) -> str:
    return re.sub(r"(?<=[a-z0-9])([A-Z])", lambda match: f"_{match[0].lower()}", name)
