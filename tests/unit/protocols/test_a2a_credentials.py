"""Nothing that looks like a credential leaves the bridge in a record of its own."""

from __future__ import annotations

import json
from typing import Any

import pytest

from bridge.protocols.a2a.credentials import json_without, text_without
from tests.unit.protocols.a2a_bench import Agents
from tests.unit.protocols.a2a_events import adk_call, status, text

CANARY = "c4n4ry-5ecret-value-0123456789"
TOKEN = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJjNG40cnkifQ.c4n4rysignature"
OAUTH = {
    "authType": "oauth2",
    "oauth2": {
        "clientId": "client-1",
        "clientSecret": CANARY,
        "authUri": "https://login.example/authorize?client_id=client-1&response_type=code",
        "accessToken": CANARY,
    },
}
ADK = adk_call(
    "c-1",
    "adk_request_credential",
    authConfig={"exchangedAuthCredential": OAUTH, "rawAuthCredential": OAUTH},
)


@pytest.mark.parametrize("state", ["AUTH_REQUIRED", "INPUT_REQUIRED"])
@pytest.mark.parametrize(
    "message",
    [
        {"parts": [text(f"Use password: {CANARY}")]},
        {"parts": [text(f"Authorization: Bearer {CANARY}")]},
        {"parts": [text(f"Go to https://user:{CANARY}@host.example/")]},
        {"parts": [text(f"Go to https://host.example/cb?code={CANARY}&x=1")]},
        {"parts": [ADK]},
        {"parts": [{"data": {"deep": [{"api_key": CANARY}]}}]},
        {"parts": [{"data": {"passwords": [CANARY], "apiKey": [CANARY]}}]},
        {"parts": [text()], "metadata": {"https://x.example/v1": {"refresh_token": CANARY}}},
        {"parts": [{"url": f"https://host.example/f?sig={CANARY}"}]},
    ],
    ids=range(9),
)
def test_no_canary_comes_out(state: str, message: dict[str, Any]) -> None:
    """Through a whole cycle: approvals, verdicts and commands, also of the answers that close."""
    if state == "INPUT_REQUIRED" and "passwords" in json.dumps(message):
        message = {"parts": [{"data": {"apiKey": [CANARY]}}]}  # a list of words elsewhere
    event = status(state)
    event["statusUpdate"]["metadata"] = {"session": {"idToken": CANARY}}
    event["statusUpdate"]["status"]["message"] = {"messageId": "q1", "role": "x", **message}
    agents = Agents()
    agents.tells(event)
    agents.answers(agents.pending()[0], status="cancelled")
    assert [one["native"]["method"] for one in agents.commands()] == ["CancelTask"]
    for out in agents.out:
        assert CANARY.encode() not in (out.value or b"")


def test_an_answer_to_an_authorization_goes_nowhere() -> None:
    """Somebody who sends a credential all the same finds it in no record."""
    agents = Agents()
    agents.tells(status("AUTH_REQUIRED", text("Sign in")))
    assert agents.answers(agents.pending()[0], {"accessToken": CANARY}) == "out_of_band"
    agents.tells(status("COMPLETED"))
    assert all(CANARY.encode() not in (out.value or b"") for out in agents.out)
    assert all(CANARY.encode() not in (value or b"") for value in agents.bench.log.values())


@pytest.mark.parametrize("scheme_first", [True, False])
def test_where_to_go_is_still_told(scheme_first: bool) -> None:
    """The address of an OAuth request is no credential; that of its scheme leads nowhere.

    ADK writes both, in an order that changes from task to task.
    """
    scheme = {"flows": {"authorizationCode": {"authorizationUrl": "https://login.example/bare"}}}
    both = [("authScheme", scheme), ("exchangedAuthCredential", OAUTH)]
    asked = dict(both if scheme_first else reversed(both))
    agents = Agents()
    agents.tells(status("AUTH_REQUIRED", adk_call("c", "adk_request_credential", authConfig=asked)))
    (approval,) = agents.pending()
    assert approval["authorize_at"] == OAUTH["oauth2"]["authUri"]  # type: ignore[index]
    assert approval["reason"] == "adk_request_credential"


@pytest.mark.parametrize(
    "value",
    [
        {"client_id": "c", "request_uri": "openid4vp://x?request_uri=y"},
        {"secret_demands": {"OPENAI": {"name": "OpenAI key", "description": "for the model"}}},
        {"flows": {"authorizationCode": {"authorizationUrl": "https://x.example/a"}}},
        {"max_tokens": 1024, "token": None, "password_required": True},
        [{"title": "Which token symbol?", "id": "task-12"}],
    ],
)
def test_requests_for_authorization_pass_as_they_came(value: Any) -> None:
    """What an extension asks for is not what it would get."""
    raw = json.dumps(value, separators=(",", ":")).encode()
    assert json_without(raw, strictly=True) == raw


@pytest.mark.parametrize(
    "name", ["token", "to-ken", "PASS_WORD", "api.key", "C o o k i e", "refre\\u0073h_token", "jwt"]
)
def test_a_name_is_found_in_any_spelling_and_depth(name: str) -> None:
    """A value that spells no such name is not taken apart; these are seen all the same."""
    raw = b'{"a":[{"b":{"%b":"x"}}]}' % name.encode()
    (found,) = json.loads(json_without(raw))["a"][0]["b"].values()
    assert found == "[withheld]"


def test_a_value_that_spells_no_credential_stays_as_it_was_written() -> None:
    """White space too: it is passed on whole."""
    raw = b'{"a" : [1.0, {"b": "c"}]}'
    assert json_without(raw, strictly=True) == raw


def test_numbers_and_order_stay() -> None:
    """Only what is withheld changes."""
    raw = b'{"z":12345678901234567890,"secret":"x","a":1e2,"n":[50.0,null]}'
    kept = b'{"z":12345678901234567890,"secret":"[withheld]","a":1e2,"n":[50.0,null]}'
    assert json_without(raw) == kept


@pytest.mark.parametrize(
    "words",
    [
        "Which base branch should I compare this diff against?",
        "Send me a token via the negotiated extension",
        "An operator must approve at https://auth.example.com/approve/15fd9548",
        "The secret is out: who told you?",
        "Basic setup or advanced?",
        "Pass it on, the key is under the mat",
    ],
)
def test_words_about_credentials_are_none(words: str) -> None:
    """People must be able to read what they are asked."""
    assert text_without(words) == words


@pytest.mark.parametrize(
    "look",
    [
        TOKEN,
        "ghp_" + "a1" * 18,
        "sk-" + "a1" * 20,
        "AKIA" + "A1" * 8,
        "-----BEGIN PRIVATE KEY-----\nMIIE\n-----END PRIVATE KEY-----",
    ],
)
def test_known_looks_are_withheld_in_words(look: str) -> None:
    """Wherever they stand."""
    assert text_without(f"before {look} after") == "before [withheld] after"
