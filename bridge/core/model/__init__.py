"""The nouns of the bridge: what comes in, what is remembered, what goes out.

Plain frozen values without behaviour. They are msgspec structs because a cycle makes some twenty
of them, and a frozen dataclass takes ten times as long to make. What state records hold is
array-like: the order of its fields is a format, and new ones go to the end, with a default.
"""

from bridge.core.model.effects import (
    Counted,
    DeadLetter,
    Decision,
    Effect,
    Forget,
    Judged,
    Native,
    Publish,
    Resume,
)
from bridge.core.model.inputs import (
    Answer,
    Carry,
    Input,
    Interrupted,
    MovedOn,
    Operation,
    Question,
    Refusal,
    RunFailed,
    Tick,
)
from bridge.core.model.policy import (
    BuildNative,
    Limits,
    SourcePolicy,
)
from bridge.core.model.state import (
    AcceptedAnswer,
    Carried,
    Item,
    Parked,
    Run,
    RunPolicy,
    Thread,
)
from bridge.core.model.words import (
    AnswerStatus,
    ClosedReason,
    JsonText,
    Kind,
    Millis,
    Origin,
    Problem,
    Reason,
    RunOutcome,
    Status,
    ThreadKey,
    Verdict,
)

__all__ = [
    "AcceptedAnswer",
    "Answer",
    "AnswerStatus",
    "BuildNative",
    "Carried",
    "Carry",
    "ClosedReason",
    "Counted",
    "DeadLetter",
    "Decision",
    "Effect",
    "Forget",
    "Input",
    "Interrupted",
    "Item",
    "JsonText",
    "Judged",
    "Kind",
    "Limits",
    "Millis",
    "MovedOn",
    "Native",
    "Operation",
    "Origin",
    "Parked",
    "Problem",
    "Publish",
    "Question",
    "Reason",
    "Refusal",
    "Resume",
    "Run",
    "RunFailed",
    "RunOutcome",
    "RunPolicy",
    "SourcePolicy",
    "Status",
    "Thread",
    "ThreadKey",
    "Tick",
    "Verdict",
]
