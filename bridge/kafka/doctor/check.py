"""What a look at one thing has found, and looks that fail themselves."""

from __future__ import annotations

from collections.abc import Awaitable
from dataclasses import dataclass
from typing import Literal

from aiokafka.errors import KafkaError

from bridge.errors import BridgeError

Grade = Literal["ok", "warn", "fail"]
"""`fail`: not all is well, or nobody can tell. `warn`: it works, and may not for ever."""


@dataclass(frozen=True, slots=True)
class Check:
    """One thing that was looked at; `advice` says what to do where it is not ok."""

    grade: Grade
    subject: str
    found: str
    advice: str = ""

    def __str__(self) -> str:
        advice = f"; {self.advice}" if self.advice else ""
        return f"{self.grade:<4}  {self.subject}: {self.found}{advice}"


async def tried(subject: str, looking: Awaitable[list[Check]]) -> list[Check]:
    """What a look finds, or that it was of no use: a finding of its own, one line each."""
    try:
        return await looking
    except BridgeError as error:
        return [Check("fail", subject, line) for line in str(error).splitlines()]
    except KafkaError as error:
        return [Check("fail", subject, f"{error!r}", "the broker's log tells more")]
    except TimeoutError:
        advice = "are all brokers up, and have all partitions a leader?"
        return [Check("fail", subject, "no answer in time", advice)]
