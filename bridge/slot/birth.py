"""Whose a state partition is: the first record of its life, and what every later opening compares.

Written once, under a key of its own for each app_id, before anything else: of two deployments that
begin at the same moment the first in the log has it, for both of them, and compaction keeps the
order. Only a deliberate adoption writes another, and takes all others away.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from bridge.slot import state_schemas as schemas
from bridge.slot.single_object import SingleObject

PREFIX: Final = b"birth/"

_BIRTH = SingleObject("birth", schemas.BIRTH)

ADOPT: Final = "interrupt-bridge deployment adopt"


@dataclass(frozen=True, slots=True)
class Birth:
    """`deployment` is the same in all partitions that were born together; `claim` tells this
    record from every other; `reroute` is the topic where records are on their way home.
    """

    deployment: str
    app_id: str
    slots: int
    reroute: str
    claim: str


class Births:
    """The births in a partition by app_id, in the order of the log."""

    def __init__(self) -> None:
        self._found: dict[bytes, Birth] = {}

    def fold(self, key: bytes | None, value: bytes | None) -> None:
        """Take over a state record, if it is one of a birth. Raises StateFormatNewer."""
        if key is None or not key.startswith(PREFIX):
            return
        self._found.pop(key, None)  # written again, it stands where it now is
        if value is not None:
            self._found[key] = decode(value)

    @property
    def first(self) -> Birth | None:
        """The one that counts."""
        return next(iter(self._found.values()), None)

    @property
    def keys(self) -> list[bytes]:
        return list(self._found)


def key_of(app_id: str) -> bytes:
    """`birth/<app_id>`."""
    return PREFIX + app_id.encode()


def encode(birth: Birth) -> bytes:
    """The value of a birth record."""
    return _BIRTH.write(
        {
            "deployment": birth.deployment,
            "app_id": birth.app_id,
            "slots": birth.slots,
            "reroute": birth.reroute,
            "claim": birth.claim,
        }
    )


def decode(value: bytes) -> Birth:
    """As it was encoded. Raises StateFormatNewer."""
    return Birth(**_BIRTH.read(value))


def succession(births: Births, new: Birth) -> Iterable[tuple[bytes, bytes | None]]:
    """State records that make `new` the only birth of a partition."""
    yield from ((key, None) for key in births.keys)
    yield key_of(new.app_id), encode(new)


def mismatch(birth: Birth, app_id: str, slots: int, reroute: str) -> str | None:
    """What of the settings is not that of the deployment, and what to do; None where all is."""
    if birth.slots != slots:
        return (
            f"it was begun with {birth.slots} slots and topics.partitions says {slots}. Set "
            f"topics.partitions = {birth.slots}"
        )
    if birth.app_id != app_id:
        return (
            f"it belongs to app_id {birth.app_id} and these settings say {app_id}. Set app_id = "
            f"{birth.app_id}, or give this deployment a topics.prefix of its own. To go on under "
            f"the new app_id, stop every worker of the old one, then: {ADOPT} --yes"
        )
    if birth.reroute != reroute:
        return (
            f"its records are on their way home in {birth.reroute} and topics.reroute says "
            f"{reroute}. Set it back. To change it, let the workers read all that is there, stop "
            f"them, then: {ADOPT} --yes"
        )
    return None
