"""Kinds of values that settings are made of: durations, names, addresses."""

from __future__ import annotations

import re
from typing import Annotated

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, PlainSerializer

from bridge.core.durations import format_duration, parse_duration

_TOPIC = re.compile(r"[A-Za-z0-9._-]{1,249}")


class Model(BaseModel):
    """A section of the settings: frozen, and an unknown key is an error."""

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)


DURATION = BeforeValidator(parse_duration)
"""By which a field is known to hold one."""

Duration = Annotated[
    int,
    DURATION,
    Field(gt=0),
    PlainSerializer(format_duration, return_type=str),
]
"""Milliseconds, longer than zero; text in files, environment and `config show`."""

Count = Annotated[int, Field(strict=True, gt=0)]
Flag = Annotated[bool, Field(strict=True)]
Name = Annotated[str, Field(min_length=1, max_length=100, pattern=r"^[A-Za-z0-9._-]+$")]


def _topic_name(value: str) -> str:
    if not _TOPIC.fullmatch(value) or value in (".", ".."):
        raise ValueError("a topic name is 1 to 249 of A-Z, a-z, 0-9, dot, underscore and hyphen")
    return value


TopicName = Annotated[str, AfterValidator(_topic_name)]
