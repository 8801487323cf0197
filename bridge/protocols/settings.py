"""What the protocols' options have in common as a person types them. All raise ValueError.

Messages name the key and never its value, which may be a secret.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from typing import Any

from bridge.core.model import JsonText


def refuse_unknown(given: Mapping[Any, object], known: Collection[str], where: str) -> None:
    """Raises for the first key that is none of these."""
    unknown = sorted(str(key) for key in given if key not in known)
    if unknown:
        raise ValueError(f"{where} has no option {unknown[0]}; there are {', '.join(known)}")


def json_of(value: object, key: str) -> JsonText:
    """The value as JSON text, without blanks."""
    try:
        text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
        return text.encode()
    except (TypeError, ValueError) as error:
        raise ValueError(f"{key} must be JSON") from error
