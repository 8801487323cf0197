"""Whether a worker may begin: what it may do is looked up before it does anything.

A right that is missing is waited for, because somebody grants it elsewhere and the worker has
nothing else to do; so nothing is half-written, and nobody has to restart it.
"""

from __future__ import annotations

import asyncio
import logging
from typing import Final

from bridge.errors import NotAuthorized
from bridge.kafka.access import missing
from bridge.kafka.clients import ClientSettings
from bridge.kafka.rights import Access

log = logging.getLogger(__name__)

AGAIN_S: Final = 5.0


class Admission:
    """Asks until all rights are there. `refusal` says what is missing meanwhile."""

    def __init__(self, client: ClientSettings, access: Access) -> None:
        self.refusal: NotAuthorized | None = None
        self._client = client
        self._access = access

    async def granted(self, stopping: asyncio.Event) -> bool:
        """Whether all rights are there; False when it is stopped before.

        Raises Unreachable or ClusterError.
        """
        while lacking := await missing(self._client, self._access.needed):
            refusal = self._access.principal.refusal(lacking)
            if str(refusal) != str(self.refusal):  # said once for as long as it stays so
                for line in str(refusal).splitlines():
                    log.error("worker waits: %s", line, extra={"code": refusal.code})
            self.refusal = refusal
            try:
                async with asyncio.timeout(AGAIN_S):
                    await stopping.wait()
                    return False
            except TimeoutError:
                continue
        self.refusal = None
        return True
