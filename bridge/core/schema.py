"""Response schemas: which can be used, and what is wrong with a payload."""

from __future__ import annotations

from bridge.core.model import JsonText, Problem


class SchemaCache:
    def __init__(self, size: int = 1_024) -> None:
        self._size = size

    def unusable(self, schema: JsonText) -> str | None:
        return None

    def problems(self, schema: JsonText, payload: JsonText | None) -> tuple[Problem, ...]:
        return ()

    def check(self, schema: JsonText, payload: object) -> tuple[Problem, ...]:
        return ()
