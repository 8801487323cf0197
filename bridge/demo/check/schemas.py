"""Whether a payload fits the schema its question came with, asked of the validator directly."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import jsonschema_rs

from bridge.demo.check import text


def fits(approval: dict[str, Any], payload: Any) -> bool | None:
    """None where the question has no schema, or one that is flagged as unusable."""
    schema = approval.get("response_schema")
    if schema is None or "schema_unusable" in (approval.get("flags") or []):
        return None
    validator = _validator(text.written(schema))
    return None if validator is None else bool(validator.is_valid(text.plain(payload)))


@lru_cache(maxsize=1024)
def _validator(schema: str) -> Any:
    """A compiled validator, or None for a schema that cannot be used; never asks the network."""
    try:
        return jsonschema_rs.validator_for(
            text.plain(text.read(schema.encode(), 1_000)),
            offline=True,
            validate_formats=False,
            pattern_options=jsonschema_rs.RegexOptions(),
        )
    except ValueError:
        return None
