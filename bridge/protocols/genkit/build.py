"""A closed run to the one whole resume that continues its turn.

Exactly one entry for each question, none of an earlier turn, no key that a runtime does not know:
a part that is missing runs the others and fails, a part too much may answer another question.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
from msgspec import Raw

from bridge.core.model import Entry, JsonText, Native, Run
from bridge.protocols.genkit.offer import Kept
from bridge.protocols.genkit.parts import respond_part, restart_part, verbatim
from bridge.protocols.genkit.paused import Continuation
from bridge.protocols.slices import array_of, members_of, not_null, object_of, text

CHECK_LEAF = "check_leaf"
"""Before sending: getSnapshot of init.sessionId names init.snapshotId, finishReason interrupted,
or a failed child of it. Otherwise the session went on, and the resume would fork it."""


class _Asked(msgspec.Struct):
    """The request as the question's metadata has it."""

    name: Raw
    ref: Raw = Raw()
    input: Raw = Raw()


_ASKED = msgspec.json.Decoder(_Asked)
_KEPT = msgspec.json.Decoder(Kept)
_CONTINUATION = msgspec.json.Decoder(Continuation)


def build(run: Run, entries: Sequence[Entry]) -> Native:
    """The body of an agent's POST: `data.resume` and `init`."""
    turn = _CONTINUATION.decode(run.native or b"{}")
    resume = _Resume()
    for entry in entries:
        resume.add(entry)
    if turn.server:
        resume.notes.append(CHECK_LEAF)
    resume.responds.extend(bytes(sibling) for sibling in turn.siblings)
    body = object_of({"data": object_of({"resume": resume.text()}), "init": bytes(turn.init)})
    return Native("resume", body, notes=tuple(dict.fromkeys(resume.notes)))


class _Resume:
    """The two lists, in the order of the run."""

    def __init__(self) -> None:
        self.restarts: list[JsonText] = []
        self.responds: list[JsonText] = []
        self.notes: list[str] = []

    def text(self) -> JsonText:
        """An empty list is left out: Python would take one for an answer to everything."""
        return object_of(
            {
                "restart": array_of(self.restarts) if self.restarts else None,
                "respond": array_of(self.responds) if self.responds else None,
            }
        )

    def add(self, entry: Entry) -> None:
        asked = _ASKED.decode(entry.question.metadata or b"{}")
        kept = _KEPT.decode(entry.question.native or b"{}")
        if not_null(entry.metadata):
            self.notes.append("metadata_omitted")
        if entry.status == "cancelled":
            self._refuse(asked, kept, entry.closed_reason)
        elif (entry.action or entry.question.actions[0]) == "respond":
            if entry.revised_input is not None:
                self.notes.append("revised_input_omitted")
            self._add_output(asked, entry.payload or b"null")
        elif kept.hold == "approve" and (
            members_of(entry.payload or b"").get("toolApproved") != b"true"
        ):  # only the boolean lets a held call run: Python would take "no" for a yes
            self._refuse(asked, kept, "not_approved")
        else:
            resumed = not_null(entry.payload) or b"true"
            self._add_restart(asked, resumed, entry.revised_input)

    def _refuse(self, asked: _Asked, kept: Kept, why: str) -> None:
        """The configured refusal, else the middleware's own no. There is no third: a run that has
        neither is given up, and no schema takes its no.
        """
        if kept.refusal:
            self._add_output(asked, bytes(kept.refusal))
        else:
            assert kept.hold == "decide"
            self._add_restart(asked, object_of({"toolApproved": b"false", "reason": text(why)}))

    def _add_output(self, asked: _Asked, output: JsonText) -> None:
        self.responds.append(respond_part(bytes(asked.name), verbatim(asked.ref), output))

    def _add_restart(
        self, asked: _Asked, resumed: JsonText, revised: JsonText | None = None
    ) -> None:
        name, ref, input_ = bytes(asked.name), verbatim(asked.ref), verbatim(asked.input)
        self.restarts.append(restart_part(name, ref, input_, resumed, revised))
