"""What each verdict means, in a sentence for the person who typed `answer` or `withdraw`."""

from __future__ import annotations

from collections.abc import Mapping

from bridge.core.model import Verdict

MEANINGS: Mapping[Verdict, str] = {
    "malformed": "the record could not be used, or contradicts itself",
    "forbidden": "whoever is named by --by may not answer this question",
    "unknown": "there is no such question, or it was forgotten after its run had closed",
    "duplicate": "this very answer was accepted before",
    "late": "the run was resumed already",
    "stale": "a newer run of the thread has replaced the question",
    "withdrawn": "the run was taken back, or could not be resumed",
    "expired": "the deadline has passed",
    "out_of_band": "this question is answered elsewhere; see where it sends people",
    "conflict": "another answer was accepted before, and stands",
    "too_large": "a limit of size would be exceeded; the question stays open",
    "invalid_payload": "the question does not take this; it stays open",
    "parked_full": "too many answers wait for their questions; send it again later",
    "accepted": "it counts",
    "probed": "the slot reads and writes",
}


CLOSED = "the run is closed, and will not be resumed"
"""What `accepted` means for an operation."""


def meaning(verdict: str, *, of_operation: bool = False) -> str:
    """ ": …" to stand behind a verdict; empty for one that a later release has added."""
    text = next((text for known, text in MEANINGS.items() if known == verdict), "")
    if of_operation and verdict == "accepted":
        text = CLOSED
    return f": {text}" if text else ""
