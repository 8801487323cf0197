"""Keeping credentials out of what is published: withheld by the name of a member or by their look.

Everything else of a value stays as it was written, and nothing here decides what a question means.
"""

from __future__ import annotations

import re
from typing import Final

import msgspec

from bridge.core.model import JsonText
from bridge.protocols import slices
from bridge.protocols.fields import spelling

WITHHELD: Final = "[withheld]"

# The end of a member's name, lower case, without separators. Demands ("secret_demands") and
# counts ("max_tokens") are none.
_NAMES = re.compile(
    r"(?:token|secret|password|passwd|passphrase|passcode|^pin|^otp|apikey|accesskey|secretkey"
    r"|privatekey|signingkey|encryptionkey|accesskeyid|credentials?|authorization|authcode"
    r"|authorizationcode|authresponseuri|codeverifier|cookies?|clientassertion|samlassertion"
    r"|jwt|bearer|sessionkey)$"
)
# What may hold several of them under names of its own.
_HOLDERS = re.compile(r"(?:tokens?|secrets?|passwords?|credentials?|keys)$")
# One of them is in every name that either knows.
_WORDS: Final = (
    *("token", "secret", "pass", "pin", "otp", "key", "credential", "authorization", "authcode"),
    *("authresponseuri", "codeverifier", "cookie", "assertion", "jwt", "bearer"),
)

# Every alternative has to give up on a text in linear time: agents write these texts.
_LOOKS = re.compile(
    r"""
      (?i:\b(?:bearer|basic)[ ]+)[A-Za-z0-9._~+/-]{16,}=*    # an Authorization header
    | \b(?:gh[oprsu]_|github_pat_|glpat-|xox[abeprs]-|xapp-|npm_|pypi-|hf_|sk-|sk_live_|sk_test_
         |rk_live_|whsec_|ya29\.|AIza|AKIA|ASIA|SG\.|1//0)[\w./-]{12,}
    | -----BEGIN[ ][A-Z ]*PRIVATE[ ]KEY-----(?:.*?-----END[ ][A-Z ]*PRIVATE[ ]KEY-----|.*)
    | (?<=://)[^\s/?\#@]+@                                   # user and password of an address
    | (?i:(?<=[?&\#;])(?:access_?token|refresh_?token|id_?token|token|client_?secret|secret
         |password|passwd|api_?key|code|sig|signature|x-amz-[a-z-]+)=)[^\s&\#"']+
    | (?i:\b(?:password|passwd|passphrase|secret|token|api[ _-]?key|access[ _-]?key|pin|otp)
         \s*(?:=|:|[ ]is[ ])\s*)(?=[^\s\d]{0,128}+\d)[^\s,;"']{4,}
    """,
    re.VERBOSE | re.DOTALL,
)
# A JSON web token. Each run of its letters is gone through once, from where it first says eyJ.
_WEB_TOKEN = re.compile(
    r"(?<![\w-])(?P<before>(?>[\w-]*?(?=eyJ)))eyJ[\w-]{6,}+\.[\w-]{4,}(?:\.[\w-]*)*"
)

# One of them is in whatever looks so; most texts have none and are not looked at closer.
_HINTS: Final = (
    *("eyj", "bearer", "basic", "gho_", "ghp_", "ghr_", "ghs_", "ghu_", "github_pat_", "glpat-"),
    *("xox", "xapp-", "npm_", "pypi-", "hf_", "sk-", "sk_", "rk_", "whsec_", "ya29.", "aiza"),
    *("akia", "asia", "sg.", "1//0", "private key", "@", "=", "pass", "secret", "token", "key"),
    *("pin", "otp"),
)

_STRING = msgspec.json.Decoder(str)
_ARRAY = msgspec.json.Decoder(list[msgspec.Raw])


def text_without(text: str) -> str:
    """The text with whatever looks like a credential withheld."""
    lower = text.lower()
    if not any([hint in lower for hint in _HINTS]):
        return text
    return _WEB_TOKEN.sub(rf"\g<before>{WITHHELD}", _LOOKS.sub(WITHHELD, text))


def json_without(value: JsonText, strictly: bool = False) -> JsonText:
    """The JSON value likewise, also by the names of members.

    `strictly` is for requests for authorization, where an object under such a name holds nothing
    that has to be seen. Elsewhere it may be a schema or a tool's arguments, and only texts that
    stand directly under the name are withheld.
    """
    value = value.strip()
    text = value.decode()
    lower, letters = text.lower(), spelling(text)
    # Most values spell none of it anywhere and stay as they are; an escape could spell anything.
    may_hold = "\\" in text or any([word in letters for word in _WORDS])
    if may_hold or any([hint in lower for hint in _HINTS]):
        return _without(value, strictly, named=False)
    return value


def _without(value: JsonText, strictly: bool, named: bool) -> JsonText:
    """`named`: it stands under the name of a credential."""
    value = value.strip()
    match value[:1]:
        case b"{":
            members = slices.members_of(value).items()
            all_named = strictly and named
            return slices.object_of(
                {
                    text_without(name): _without(
                        member, strictly, all_named or _is_credential(name, member, strictly)
                    )
                    for name, member in members
                }
            )
        case b"[":
            items = _ARRAY.decode(value)
            return slices.array_of(_without(bytes(item), strictly, named) for item in items)
        case b'"':
            text = _STRING.decode(value)
            clean = WITHHELD if named and text else text_without(text)
            return value if clean == text else slices.text(clean)
        case _:
            is_number = value not in {b"true", b"false", b"null"}
            return slices.text(WITHHELD) if strictly and named and is_number else value


def _is_credential(name: str, member: JsonText, strictly: bool) -> bool:
    plain = spelling(name)
    holds = strictly and _HOLDERS.search(plain) is not None
    # An OAuth flow is called authorizationCode: only what holds credentials is withheld whole.
    if member.startswith(b"{"):
        return holds
    return _NAMES.search(plain) is not None or (holds and member.startswith((b"[", b'"')))
