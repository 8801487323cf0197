"""The bridge's records for Python programs beside it: read approvals, answer them, run commands.

Nothing here connects to Kafka: any client will do. Read the bridge's topics with
`read_committed`, and keep the highest revision of each approval.

>>> approval = decode(Approval, record)          # None: forget what you know under record.key
>>> approval.status, approval.message
('pending', 'Refund 50.0 EUR to order 4711?')
>>> bytes(approval.response_schema)
b'{"type":"object"}'
>>> approval.expires_at > approval.published_at  # instants are datetimes in UTC
True
>>> sent = encode(answer_for(approval, payload={"approved": True}, answered_by="ann@example.org"))
>>> sent.key                                     # for your producer, with sent.value, sent.headers
b'thread-1'

Whether the answer counts, its verdict says: `decode(AnswerVerdict, record)`, whose `origin` is the
place of what you sent. What an executor sends to an agent, `decode(ResumeCommand, record)` has.
"""

from bridge.records.answer import Answer, answer_for
from bridge.records.approval import Approval
from bridge.records.coding import Encoded, KafkaRecord, decode, encode
from bridge.records.command import Entry, Native, ResumeCommand
from bridge.records.dead_letter import DeadLetter
from bridge.records.encoding import Encoding, NotARecord
from bridge.records.instants import Instant
from bridge.records.json_encoding import JSON
from bridge.records.operation import Operation
from bridge.records.shape import FreeJson, Origin
from bridge.records.verdict import AnswerVerdict, Problem

__all__ = [
    "JSON",
    "Answer",
    "AnswerVerdict",
    "Approval",
    "DeadLetter",
    "Encoded",
    "Encoding",
    "Entry",
    "FreeJson",
    "Instant",
    "KafkaRecord",
    "Native",
    "NotARecord",
    "Operation",
    "Origin",
    "Problem",
    "ResumeCommand",
    "answer_for",
    "decode",
    "encode",
]
