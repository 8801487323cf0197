"""The life of a question as one table: every status under every move, staying included.

Time, content and order are not looked at here; who may make a move is decided elsewhere.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from bridge.core.model import RunOutcome, Status, Verdict

Move = Literal["answer", "cancel", "expire", "supersede", "withdraw"]

MOVES: Mapping[Status, Mapping[Move, Status]] = {
    "pending": {
        "answer": "answered",
        "cancel": "cancelled",
        "expire": "expired",
        "supersede": "superseded",
        "withdraw": "withdrawn",
    },
    # The first answer stands; only its own deadline undoes it while the run is still open.
    "answered": {
        "answer": "answered",
        "cancel": "answered",
        "expire": "expired",
        "supersede": "answered",
        "withdraw": "answered",
    },
    "cancelled": {
        "answer": "cancelled",
        "cancel": "cancelled",
        "expire": "cancelled",
        "supersede": "cancelled",
        "withdraw": "cancelled",
    },
    "expired": {
        "answer": "expired",
        "cancel": "expired",
        "expire": "expired",
        "supersede": "expired",
        "withdraw": "expired",
    },
    "superseded": {
        "answer": "superseded",
        "cancel": "superseded",
        "expire": "superseded",
        "supersede": "superseded",
        "withdraw": "superseded",
    },
    "withdrawn": {
        "answer": "withdrawn",
        "cancel": "withdrawn",
        "expire": "withdrawn",
        "supersede": "withdrawn",
        "withdraw": "withdrawn",
    },
}

CLOSED_VERDICT: Mapping[RunOutcome, Verdict] = {
    "resumed": "late",
    "superseded": "stale",
    "withdrawn": "withdrawn",
    # Given up by the bridge itself: for a sender it is a question that was taken back.
    "unresumable": "withdrawn",
}
