"""Whether a payload fits the schema its question came with, asked of the validator directly."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import jsonschema_rs

from bridge.audit import text


def fits(approval: dict[str, Any], answer: dict[str, Any]) -> bool | None:
    """True where the question has no schema, None where it is one that is flagged as unusable."""
    metadata = approval.get("metadata")
    of_genkit = metadata if approval.get("protocol") == "genkit" else None
    action, offered = answer.get("action"), approval.get("actions") or []
    more: dict[str, Any] = of_genkit if isinstance(of_genkit, dict) else {}
    if action is not None and action not in offered:
        return False
    if answer.get("revised_input") is not None and more.get("revisable") is not True:
        return False
    default = offered[0] if offered else None
    schema = (more.get("action_schemas") or {}).get(action or default)
    schema = approval.get("response_schema") if schema is None else schema
    if schema is None:
        return True
    if "schema_unusable" in (approval.get("flags") or []):
        return None
    validator = _validator(text.written(schema))
    payload = text.plain(answer.get("payload"))
    return None if validator is None else bool(validator.is_valid(payload))


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
