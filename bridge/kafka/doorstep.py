"""Why brokers let nobody in, said as what to do: the client only logs it, in the words of TLS.

Pure text, from what the client logged while it tried to connect.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from bridge.errors import LoginFailed, Unreachable

_SIGNS: Final = (
    (
        ("SaslAuthenticationFailed",),
        "The brokers refuse this user or password: check kafka.sasl_plain_username, its password "
        "and kafka.sasl_mechanism",
    ),
    (
        ("UnsupportedSaslMechanism",),
        "The brokers do not offer this way to log in: set kafka.sasl_mechanism to one of theirs",
    ),
    (
        ("IllegalSaslState",),
        "The brokers want no login at this port: check kafka.security_protocol and the port",
    ),
    (
        ("certificate has expired",),
        "The brokers' certificate has expired: renew it on the brokers",
    ),
    (
        ("not yet valid",),
        "The brokers' certificate is not valid yet: compare their clock with this machine's",
    ),
    (
        ("Hostname mismatch", "IP address mismatch"),
        "The brokers' certificate is for another host: name brokers as it does in "
        "kafka.bootstrap_servers, and in their advertised.listeners",
    ),
    (
        ("CERTIFICATE_VERIFY_FAILED",),
        "The brokers' certificate is of an authority that is not trusted here: put that "
        "authority's certificate into kafka.ssl_cafile",
    ),
    (
        ("ALERT_", "alert "),
        "The brokers refuse the certificate of this side: check kafka.ssl_certfile, whether it has "
        "expired, and whether they trust who issued it",
    ),
    (
        ("WRONG_VERSION_NUMBER", "RECORD_LAYER_FAILURE"),
        "The brokers speak no TLS at this port: check kafka.security_protocol and the port",
    ),
)
"""What the client's text holds, and what it means; the first that is found counts."""

_HUNG_UP: Final = (
    "The brokers close the connection without a word. Where they are up, they want another "
    "kafka.security_protocol at this port, or a certificate in kafka.ssl_certfile that they trust "
    "and that has not expired"
)
_NOBODY_THERE: Final = ("Connect call failed", "Connection refused", "Name or service", "resolve")
_UNREACHED: Final = (
    "No broker can be reached: check that one is up at kafka.bootstrap_servers, and the network"
)
_SILENT: Final = (
    "No broker answers in time: check kafka.bootstrap_servers, the network, and whether "
    "kafka.security_protocol is the one of this port"
)


def turned_away(reasons: Iterable[str]) -> LoginFailed | Unreachable:
    """One sentence on what to do, then the client's own reason."""
    reason = "; ".join(dict.fromkeys(reasons)).strip().rstrip(":")
    for signs, meaning in _SIGNS:
        if any(sign in reason for sign in signs):
            return LoginFailed(f"{meaning} ({reason})")
    if reason.endswith(" closed"):
        return Unreachable(f"{_HUNG_UP} ({reason})")
    if any(sign in reason for sign in _NOBODY_THERE):
        return Unreachable(f"{_UNREACHED} ({reason})")
    return Unreachable(f"{_SILENT} ({reason or 'the client logged no reason'})")
