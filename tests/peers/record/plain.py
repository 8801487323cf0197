"""Ids and instants of a recording, made the same every time, so that a new one is a small diff.

Equal ones stay equal and later ones later; everything else stays as it came.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from typing import Any, Final

BASE: Final = datetime(2026, 12, 1, tzinfo=UTC)
DEADLINE: Final = datetime(2030, 1, 1, tzinfo=UTC)
"""Stands for every instant that was still to come when it was written."""
OURS: Final = "bridge-"
"""Begins what stands for an id of the bridge's own making."""

_UUID = re.compile(
    r"(?<![0-9a-f])[0-9a-f]{8}-[0-9a-f]{4}-([0-9a-f])[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}"
    r"(?![0-9a-f])"
)
_HEX = re.compile(r"(?<![0-9a-f])[0-9a-f]{32}(?![0-9a-f])")
_PORT = re.compile(r"\b(127\.0\.0\.1|localhost):\d+")
_TEXT = re.compile(r"\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)?")
_PARTS = re.compile(r"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(\.\d+)?(Z|[+-]\d\d:\d\d)?")
_MILLIS = range(1_700_000_000_000, 1_900_000_000_000)
_MICROS = timedelta(microseconds=1)


class Plain:
    """The names of one case, given in the order in which ids are met."""

    def __init__(self) -> None:
        self._names: dict[str, str] = {}
        self._places: dict[datetime, datetime] = {}

    def time(self, value: Any, said_at: float) -> None:
        """Learn the instants of what was said then (epoch seconds); `plain` needs all of them."""
        limit = datetime.fromtimestamp(said_at, UTC) + timedelta(seconds=1)
        for found in _instants(value):
            self._places.setdefault(found, DEADLINE if found > limit else BASE)
        begun = sorted(found for found, place in self._places.items() if place != DEADLINE)
        self._places |= {found: BASE + timedelta(seconds=n) for n, found in enumerate(begun)}

    def plain(self, value: Any) -> Any:
        """The same JSON value with plain ids and instants."""
        return _mapped(value, self._text, self._number)

    def _text(self, text: str) -> str:
        text = _UUID.sub(lambda found: self._uuid(found[0], found[1]), text)
        text = _HEX.sub(lambda found: self._named(found[0], "{:032x}"), text)
        text = _PORT.sub(r"\1:8000", text)
        return _TEXT.sub(lambda found: self._instant(found[0]), text)

    def _uuid(self, text: str, version: str) -> str:
        # Only the bridge makes version 8.
        form = OURS + "{}" if version == "8" else "00000000-0000-4000-8000-{:012d}"
        return self._named(text, form)

    def _named(self, text: str, form: str) -> str:
        number = 1 + sum(1 for name in self._names.values() if _same_form(name, form))
        return self._names.setdefault(text, form.format(number))

    def _instant(self, text: str) -> str:
        place = self._places[_read(text)]
        _, fraction, zone = _PARTS.fullmatch(text).groups()  # type: ignore[union-attr]  # it is one
        zeros = re.sub(r"\d", "0", fraction or "")
        return f"{place:%Y-%m-%dT%H:%M:%S}{zeros}{zone or ''}"

    def _number(self, number: float) -> float:
        if isinstance(number, int) and number in _MILLIS:
            return round(self._places[_of_millis(number)].timestamp() * 1_000)
        return number


def _same_form(name: str, form: str) -> bool:
    return name.startswith(OURS) if form.startswith(OURS) else len(name) == len(form.format(0))


def _instants(value: Any) -> Iterator[datetime]:
    found: list[datetime] = []

    def text(each: str) -> str:
        found.extend(_read(one) for one in _TEXT.findall(each))
        return each

    def number(each: float) -> float:
        found.extend([_of_millis(each)] if isinstance(each, int) and each in _MILLIS else [])
        return each

    _mapped(value, text, number)
    yield from found


def _read(text: str) -> datetime:
    read = datetime.fromisoformat(text)
    return read if read.tzinfo else read.replace(tzinfo=UTC)


def _of_millis(number: int) -> datetime:
    return datetime.fromtimestamp(0, UTC) + number * 1_000 * _MICROS


def _mapped(value: Any, text: Callable[[str], str], number: Callable[[float], float]) -> Any:
    """The same value, its texts and numbers by these; member names are texts too."""
    if isinstance(value, str):
        return text(value)
    if isinstance(value, dict):
        return {text(name): _mapped(one, text, number) for name, one in value.items()}
    if isinstance(value, list):
        return [_mapped(one, text, number) for one in value]
    if isinstance(value, int | float) and not isinstance(value, bool):
        return number(value)
    return value
