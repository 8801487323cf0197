"""A closed run to the request that moves its task on: one SendMessage, or CancelTask.

Ready to send in the agent's own version and binding; nothing is left to fill in but credentials.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from urllib.parse import quote

from msgspec.structs import replace

from bridge.core.ids import key_of
from bridge.core.model import Entry, JsonText, Native, Run
from bridge.protocols import slices
from bridge.protocols.a2a import answer
from bridge.protocols.a2a.asked import Asked, asked_of

_SEND = {"1.0": "SendMessage", "0.3": "message/send"}
_CANCEL = {"1.0": "CancelTask", "0.3": "tasks/cancel"}


# An extension that the agent calls otherwise would add another header, or another extension.
_HEADER_URI = re.compile(r"[!#-+\--;=?-~]+")


def build(run: Run, entries: Sequence[Entry]) -> Native:
    """An answer to every item in one message; or, where one was given up, the task's end.

    Not where the agent's dialect has a no for it.
    """
    asked = asked_of(run.native)
    headers = _headers(entries, asked)
    if all(entry.status == "resolved" or answer.takes_a_no(entry) for entry in entries):
        params = _message_params(run, entries, asked)
        return _native(run, asked, _SEND, "/message:send", params, headers)
    path = f"/tasks/{quote(run.thread.thread_id, safe='')}:cancel"
    given_up = (entry.closed_reason for entry in entries if entry.status == "cancelled")
    reason = slices.text(", ".join(dict.fromkeys(given_up)))
    params = slices.object_of(
        {
            "tenant": _tenant(asked),
            "id": slices.text(run.thread.thread_id),
            "metadata": slices.object_of({"reason": reason}),
        }
    )
    native = _native(run, asked, _CANCEL, path, params, headers)
    return replace(native, abandons_siblings=True)


def _native(
    run: Run,
    asked: Asked,
    methods: dict[str, str],
    path: str,
    params: JsonText,
    headers: dict[str, str],
) -> Native:
    method = methods[asked.version]
    if asked.binding == "rest":
        base = asked.endpoint or ""
        endpoint = f"{base}/v1{path}" if asked.version == "0.3" else f"{base}{path}"
        body = params
    else:
        endpoint = asked.endpoint or ""
        # By the resume's id an error that comes back on a topic is known for this one's.
        body = slices.object_of(
            {
                "jsonrpc": b'"2.0"',
                "id": slices.text(key_of(run).resume_run_id),
                "method": slices.text(method),
                "params": params,
            }
        )
    return Native(method, body, endpoint or None, headers)


def _headers(entries: Sequence[Entry], asked: Asked) -> dict[str, str]:
    """0.3 has no version header; to a 1.0 agent its absence means 0.3."""
    rest_1_0 = asked.binding == "rest" and asked.version == "1.0"
    headers = {"Content-Type": "application/a2a+json" if rest_1_0 else "application/json"}
    if asked.version == "1.0":
        headers["A2A-Version"] = "1.0"
    used = {*asked.extensions, *answer.extensions(entries)}
    sendable = sorted(uri for uri in used if _HEADER_URI.fullmatch(uri))
    if sendable:
        headers["A2A-Extensions" if asked.version == "1.0" else "X-A2A-Extensions"] = ", ".join(
            sendable
        )
    return headers


def _message_params(run: Run, entries: Sequence[Entry], asked: Asked) -> JsonText:
    """Never waits for the agent to work on; `ifGenerationMatch` refuses a stale answer."""
    is_proto = asked.version == "1.0" or asked.binding == "rest"
    parts = answer.parts(entries, asked)
    used = answer.extensions(entries)
    is_0_3 = asked.version == "0.3"
    expected = slices.text(str(asked.generation)) if asked.generation else None
    configuration = {
        "blocking": b"false" if is_0_3 else None,
        "returnImmediately": None if is_0_3 else b"true",
        "historyLength": None if is_0_3 else b"0",
        "ifGenerationMatch": None if is_0_3 else expected,
    }
    message = {
        "kind": None if is_proto else slices.text("message"),
        "messageId": slices.text(key_of(run).resume_run_id),
        "taskId": slices.text(run.thread.thread_id),
        "contextId": None if asked.context is None else slices.text(asked.context),
        "role": slices.text("ROLE_USER" if is_proto else "user"),
        "content" if is_proto and is_0_3 else "parts": parts,
        "metadata": answer.metadata(entries),
        "extensions": slices.array_of(map(slices.text, used)) if used else None,
    }
    return slices.object_of(
        {
            "tenant": _tenant(asked),
            "message": slices.object_of(message),
            "configuration": slices.object_of(configuration),
        }
    )


def _tenant(asked: Asked) -> JsonText | None:
    """0.3 knows no tenants."""
    if asked.tenant is None or asked.version == "0.3":
        return None
    return slices.text(asked.tenant)
