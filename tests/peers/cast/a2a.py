"""The A2A peers: the SDK's own server in each version and binding, and frameworks behind it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from tests.peers.peer import ALL_CANCELLED, NO_SCHEMA, ONE_EXPIRED, WRONG_THEN_RIGHT, Peer

_NO_SCHEMA = {WRONG_THEN_RIGHT: "a question of A2A itself is words; nothing says what fits"}

_ONE_OF_TWO = (
    "its stream shows one of two interrupts raised at once, and the other once that is answered; "
    "a response has both"
)
_SHOWS_ONE = {ALL_CANCELLED: _ONE_OF_TWO, ONE_EXPIRED: _ONE_OF_TWO}


def _sdk(name: str, title: str, *arguments: str, **options: str) -> Peer:
    return Peer(
        name=name,
        title=title,
        protocol="a2a",
        set="current",
        program="a2a_sdk_peer.py",
        arguments=arguments,
        source={"options": options} if options else {},
        answer="DE-42",
        proof="refunded to DE-42",
        wrong=NO_SCHEMA,
        cancelled_end="cancelled",
        expired_end="cancelled",
        cannot=_NO_SCHEMA,
    )


def _adk(name: str, title: str, *arguments: str) -> Peer:
    return Peer(
        name=name,
        title=title,
        protocol="a2a",
        set="current",
        program="a2a_adk_peer.py",
        arguments=arguments,
        answer={"confirmed": True},
        proof="paid back 4711",
        wrong={"confirmed": "yes"},
        cancelled_end="cancelled",
        expired_end="cancelled",
    )


_ELSEWHERE = {
    WRONG_THEN_RIGHT: "an authorization takes no payload, right or wrong",
    ONE_EXPIRED: "a status asks for one authorization",
}


def _sign_in(name: str, title: str, program: str, *arguments: str) -> Peer:
    return Peer(
        name=name,
        title=title,
        protocol="a2a",
        set="current",
        program=program,
        arguments=arguments,
        answer={"token": "none of the bridge's"},
        proof="paid back 4711",
        wrong=NO_SCHEMA,
        elsewhere=True,
        cancelled_end="cancelled",
        expired_end="cancelled",
        cannot=_ELSEWHERE,
        note="asks for an authorization: answered `out_of_band`, it closes once somebody signed in",
    )


def _strands(name: str, title: str, *arguments: str) -> Peer:
    return Peer(
        name=name,
        title=title,
        protocol="a2a",
        set="earlier",
        program="a2a_strands_peer.py",
        arguments=arguments,
        answer="DE-42",
        proof="paid back 4711 to DE-42",
        wrong=None,
        cancelled_end="cancelled",
        expired_end="cancelled",
    )


def _langgraph(
    name: str, title: str, *arguments: str, cannot: Mapping[str, str] | None = None
) -> Peer:
    return Peer(
        name=name,
        title=title,
        protocol="a2a",
        set="current",
        program="a2a_langgraph_peer.py",
        arguments=arguments,
        answer="DE-42",
        proof="paid back to DE-42",
        wrong=42,
        cancelled_end="cancelled",
        expired_end="cancelled",
        cannot=cannot or {},
    )


PEERS: Final[tuple[Peer, ...]] = (
    _sdk("a2a-sdk", "a2a-sdk, 1.0 JSON-RPC, pushed", "--source=push"),
    _sdk("a2a-sdk-rest", "a2a-sdk, 1.0 REST, streamed", "--binding=rest", binding="rest"),
    _sdk("a2a-sdk-0.3", "a2a-sdk, 0.3 JSON-RPC, streamed", "--version=0.3"),
    _sdk(
        "a2a-sdk-0.3-rest",
        "a2a-sdk, 0.3 REST, responses",
        *("--version=0.3", "--binding=rest", "--source=bodies"),
    ),
    _sign_in(
        "a2a-sdk-auth",
        "a2a-sdk, AUTH_REQUIRED, pushed",
        "a2a_sdk_auth_peer.py",
    ),
    _adk("a2a-adk", "google-adk (A2A), responses", "--source=bodies"),
    _adk("a2a-adk-new-executor", "google-adk (A2A, new executor), streamed", "--new-executor"),
    Peer(
        name="a2a-adk-input",
        title="google-adk (A2A), its request_input, streamed",
        protocol="a2a",
        set="current",
        program="a2a_adk_peer.py",
        arguments=("--asks=input",),
        answer="DE-42",
        proof="Done: [{'result': 'DE-42'}",
        wrong=42,
        cancelled_end="cancelled",
        expired_end="cancelled",
    ),
    _sign_in("a2a-adk-auth", "google-adk (A2A), its request_credential", "a2a_adk_auth_peer.py"),
    _langgraph("a2a-langgraph", "LangGraph server (A2A), responses", "--source=bodies"),
    _langgraph(
        "a2a-langgraph-0.3",
        "LangGraph server (A2A 0.3), responses",
        *("--version=0.3", "--source=bodies"),
    ),
    _langgraph("a2a-langgraph-streamed", "LangGraph server (A2A), streamed", cannot=_SHOWS_ONE),
    _strands("a2a-strands", "Strands (A2A), streamed"),
    _strands(
        "a2a-strands-compliant",
        "Strands (A2A, compliant streaming), responses",
        *("--compliant-streaming", "--source=bodies"),
    ),
    Peer(
        name="a2a-js-sdk",
        title="@a2a-js/sdk, 1.0 JSON-RPC, streamed",
        protocol="a2a",
        set="npm",
        program="npm/a2a_js_peer.mjs",
        answer="DE-42",
        proof="refunded to DE-42",
        wrong=NO_SCHEMA,
        cancelled_end="cancelled",
        expired_end="cancelled",
        cannot=_NO_SCHEMA,
    ),
)
