"""A worker with one thing wrong, for faults that no signal from outside can place exactly.

`python rigged.py RIG[:WHAT] run --config …` is the command line of a worker; the rigs are below.
The worker is the product's own: a rig only steps between two of its actions, where it calls the
client or where one room calls another by a public name.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from aiokafka import AIOKafkaProducer
from aiokafka.conn import AIOKafkaConnection
from aiokafka.protocol.transaction import EndTxnRequest

from bridge.cli import main as cli
from bridge.kafka import lease, slot, tenure, worker
from bridge.slot.ledger import Ledger

ARRIVED_S = 0.5  # a request on the loopback has long been read by then


def die_before_commit(role: str) -> None:
    """SIGKILL when the broker has acknowledged a transaction with this role's records."""
    _between_produce_and_commit(role, signal.SIGKILL)


def stop_before_commit(role: str) -> None:
    """SIGSTOP there, once: whoever continues the worker finds it in mid-transaction."""
    _between_produce_and_commit(role, signal.SIGSTOP)


def die_after_commit(role: str) -> None:
    """SIGKILL when EndTxn of a transaction with this role's records was sent, before its reply."""
    written, send = _written(), AIOKafkaConnection.send

    def dying(self: Any, request: Any, *args: Any, **kwargs: Any) -> Any:
        reply = send(self, request, *args, **kwargs)
        if isinstance(request, EndTxnRequest) and any(name.endswith(role) for name in written):
            time.sleep(ARRIVED_S)
            os.kill(os.getpid(), signal.SIGKILL)
        return reply

    AIOKafkaConnection.send = dying


def die_restoring(_what: str) -> None:
    """SIGKILL when the first batch of state has been folded."""
    fold = Ledger.fold

    def dying(self: Ledger, key: bytes | None, value: bytes | None) -> None:
        fold(self, key, value)
        os.kill(os.getpid(), signal.SIGKILL)

    Ledger.fold = dying  # type: ignore[method-assign]  # a rig


def die_fenced(_what: str) -> None:
    """SIGKILL when the predecessor is fenced and nothing is restored yet."""

    async def dying(*_args: Any, **_kwargs: Any) -> Any:
        os.kill(os.getpid(), signal.SIGKILL)

    tenure.restore = dying  # type: ignore[attr-defined]  # a rig


def group(name: str) -> None:
    """The lease is taken in another group, with the transactional ids of the settings."""

    class Elsewhere(lease.Lease):
        def __init__(self, client: Any, group_id: str, *args: Any, **kwargs: Any) -> None:
            super().__init__(client, f"{group_id}-{name}", *args, **kwargs)

    worker.Lease = Elsewhere  # type: ignore[attr-defined]  # a rig


def dump(directory: str) -> None:
    """What each slot knows is written down when it is restored and when it is closed."""

    class Dumping(tenure.Tenure):
        async def open(self) -> None:
            await super().open()
            _write_down(Path(directory, f"{self.slot}.opened"), self.ledger)

        async def close(self) -> None:
            _write_down(Path(directory, f"{self.slot}.closed"), self.ledger)
            await super().close()

    slot.Tenure = Dumping  # type: ignore[attr-defined]  # a rig


def _write_down(path: Path, ledger: Ledger) -> None:
    """Runs, approval ids, early answers and context, by their keys, in hex."""
    threads, *others = ledger.contents()
    singles = [{key.hex(): [value.hex()] for key, value in each.items()} for each in others]
    known = {
        "threads": {key.hex(): sorted(v.hex() for v in runs) for key, runs in threads.items()},
        **dict(zip(("approvals", "parked", "carried"), singles, strict=True)),
        "counts": {
            "pending": [
                f"{name} {count}" for name, count in sorted(ledger.pending.items()) if count
            ],
            "others": [str(ledger.unconfirmed), str(ledger.parked_count)],
        },
    }
    path.write_text(json.dumps(known, sort_keys=True))


def _between_produce_and_commit(role: str, sign: signal.Signals) -> None:
    done = False
    written, commit = _written(), AIOKafkaProducer.commit_transaction

    async def rigged(self: Any) -> None:
        nonlocal done
        if not done and any(name.endswith(role) for name in written):
            done = True
            os.kill(os.getpid(), sign)
        await commit(self)

    AIOKafkaProducer.commit_transaction = rigged


def _written() -> set[str]:
    """The topics that batches are written to, from now on."""
    written: set[str] = set()
    send_batch = AIOKafkaProducer.send_batch

    async def noting(self: Any, batch: Any, topic: str, *, partition: int) -> Any:
        written.add(topic)
        return await send_batch(self, batch, topic, partition=partition)

    AIOKafkaProducer.send_batch = noting
    return written


RIGS: dict[str, Callable[[str], None]] = {
    "die-before-commit": die_before_commit,
    "stop-before-commit": stop_before_commit,
    "die-after-commit": die_after_commit,
    "die-restoring": die_restoring,
    "die-fenced": die_fenced,
    "group": group,
    "dump": dump,
}


def rigged(rig: str, what: str = "") -> tuple[str, ...]:
    """The command of a worker with this rig."""
    return (sys.executable, "-P", __file__, f"{rig}:{what}")


if __name__ == "__main__":
    name, _, what = sys.argv[1].partition(":")
    RIGS[name](what)
    sys.exit(cli.main(sys.argv[2:]))
