"""Avro single-object encoding: marker, schema fingerprint, body.

A value is read with the schema that it names, so one topic may hold several formats side by side.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from io import BytesIO
from typing import Any

from fastavro import schemaless_reader, schemaless_writer
from fastavro.schema import fingerprint, to_parsing_canonical_form

from bridge.errors import StateFormatNewer

MARK = b"\xc3\x01"
HEADER_SIZE = 10

Form = dict[str, Any]
Older = tuple[Any, Callable[[Form], Form]]
"""A schema of before, and how a form read with it becomes one of the present schema."""


def header_of(schema: Any) -> bytes:
    """The ten bytes that a value written with this schema begins with."""
    rabin = fingerprint(to_parsing_canonical_form(schema), "CRC-64-AVRO")
    return MARK + bytes.fromhex(rabin)  # fastavro gives the little-endian bytes already


class SingleObject:
    """One kind of value: written with the present schema, read with any that is known."""

    def __init__(self, kind: str, schema: Any, older: tuple[Older, ...] = ()) -> None:
        self.kind = kind
        self.header = header_of(schema)
        self._schema = schema
        self._older: Mapping[bytes, Older] = {header_of(each[0]): each for each in older}

    def write(self, form: Form) -> bytes:
        """The encoded value."""
        buffer = BytesIO()
        buffer.write(self.header)
        schemaless_writer(buffer, self._schema, form)
        return buffer.getvalue()

    def read(self, value: bytes) -> Form:
        """The form in the present schema. Raises StateFormatNewer for a schema not known."""
        buffer = BytesIO(value)
        header = buffer.read(HEADER_SIZE)
        if header == self.header:
            return self._form(buffer, self._schema)
        if header not in self._older:
            raise self.unreadable(value)
        schema, raise_to_present = self._older[header]
        return raise_to_present(self._form(buffer, schema))

    def unreadable(self, value: bytes) -> StateFormatNewer:
        """The error for a value whose schema is not known here; names the schema, no content."""
        return StateFormatNewer(
            f"a {self.kind} record of the state topic has the unknown schema "
            f"{value[:HEADER_SIZE].hex()}: a later release wrote it; start that release "
            "instead of this one"
        )

    @staticmethod
    def _form(buffer: BytesIO, schema: Any) -> Form:
        form: Form = schemaless_reader(buffer, schema, None)  # type: ignore[assignment]
        return form
