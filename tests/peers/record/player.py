"""An agent out of a recording: it says again what it said, if it is given what it was given."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any, Final

from tests.peers.program import Trouble
from tests.peers.record.plain import DEADLINE, OURS

_MADE: Final = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}")
_OURS: Final = re.compile(rf"{OURS}\d+")
_DEADLINE: Final = f"{DEADLINE:%Y-%m-%dT%H:%M:%S}"


class Player:
    """Plays one case of a recording. Raises Trouble where it is given something else."""

    def __init__(
        self, exchanges: Sequence[Mapping[str, Any]], deadline: Callable[[int], datetime]
    ) -> None:
        """`deadline`: when a question expires that comes with so many records."""
        self._exchanges = list(exchanges)
        self._deadline = deadline
        self._ids: dict[str, str] = {}  # that the bridge made this time, in their order

    async def ask(self, case: str, expires_in: float | None) -> dict[str, Any]:
        return self._reply("ask", case)

    async def resume(self, native: bytes) -> dict[str, Any]:
        given = _MADE.sub(lambda found: self._ours(found[0]), native.decode())
        return self._reply("resume", json.loads(given))

    async def sign_in(self, thread: str) -> dict[str, Any]:
        return self._reply("sign_in", thread)

    def _ours(self, made: str) -> str:
        return self._ids.setdefault(made, f"{OURS}{len(self._ids) + 1}")

    def _reply(self, op: str, about: Any) -> dict[str, Any]:
        if not self._exchanges:
            raise Trouble(f"the recording is at its end, and there is one more {op}")
        said = self._exchanges.pop(0)
        if (said["op"], said["about"]) != (op, about):
            raise Trouble(f"recorded {said['op']} {said['about']}, got {op} {about}")
        records = [{**each, "value": self._text(each, said)} for each in said["records"]]
        return {**said, "records": records}

    def _text(self, record: Mapping[str, Any], said: Mapping[str, Any]) -> str:
        text = json.dumps(record["value"], ensure_ascii=False)
        made = {ours: made for made, ours in self._ids.items()}
        text = _OURS.sub(lambda found: made.get(found[0], found[0]), text)
        due = self._deadline(len(said["records"]))
        return text.replace(_DEADLINE, f"{due:%Y-%m-%dT%H:%M:%S}")
