"""How the records become bytes and back: one seam, behind which each encoding is one object.

The others name records and never bytes: a new encoding is an `Encoding` of its own, one line in
`bridge.records.coding`, and a setting that chooses it.
"""

from __future__ import annotations

from typing import ClassVar, Protocol, TypeVar

from bridge.core.model import Limits
from bridge.core.record import Header
from bridge.errors import BridgeError
from bridge.records.answer import Answer
from bridge.records.approval import Approval
from bridge.records.command import ResumeCommand
from bridge.records.operation import Operation
from bridge.records.verdict import AnswerVerdict

Published = Approval | AnswerVerdict | ResumeCommand
"""What the bridge writes."""
Submitted = Answer | Operation
"""What others write for it."""

AnyRecord = TypeVar("AnyRecord", Approval, AnswerVerdict, ResumeCommand, Answer, Operation)
AnySubmitted = TypeVar("AnySubmitted", Answer, Operation)


class NotARecord(BridgeError):
    """Bytes that hold no record of the kind they were read as.

    The message says what is wrong and where, and never what stood there.
    """

    code: ClassVar[str] = "not_a_record"


class Encoding(Protocol):
    """One encoding. It holds no state of any record; all methods may be called at any time."""

    def headers(
        self, record: Published | Submitted, trace: tuple[Header, ...] = ()
    ) -> tuple[Header, ...]:
        """Content type, CloudEvents attributes of what the bridge publishes, then the trace."""

    def write(self, record: Published | Submitted) -> bytes:
        """The record's value. Free JSON in it keeps its literal text."""

    def read(self, kind: type[AnyRecord], value: bytes) -> AnyRecord:
        """A record, as a reader of any release takes it: what it does not know it skips.

        Raises NotARecord.
        """

    def read_strictly(self, kind: type[AnySubmitted], value: bytes, limits: Limits) -> AnySubmitted:
        """What others sent, as the bridge takes it: known fields and lawful JSON only.

        Raises bridge.records.reading.Unusable, with the ids that could be read.
        """
