"""A measured process: its own interpreter, spoken to in lines of JSON, ended whatever happens.

The parent uses `Child`; the child uses `job`, `hear` and `say`.
"""

from __future__ import annotations

import json
import selectors
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self

ROOT: Final = Path(__file__).resolve().parents[2]
PATIENCE_S: Final = 300.0


class Child:
    """`with Child("slot_process", {...}) as child`: runs tests.bench.<module> with that job."""

    def __init__(self, module: str, job: Mapping[str, Any]) -> None:
        self._name = module
        self._process = subprocess.Popen(
            [sys.executable, "-m", f"tests.bench.{module}", json.dumps(job)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            cwd=ROOT,
            text=True,
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._process.poll() is None:
            self._process.kill()
        self._process.communicate()

    @property
    def pid(self) -> int:
        return self._process.pid

    def tell(self, message: Mapping[str, Any]) -> None:
        """One message to the child."""
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(message) + "\n")
        self._process.stdin.flush()

    def told(self, within: float = PATIENCE_S) -> dict[str, Any]:
        """The child's next message. Raises TimeoutError, or RuntimeError when it has ended."""
        assert self._process.stdout is not None
        with selectors.DefaultSelector() as selector:
            selector.register(self._process.stdout, selectors.EVENT_READ)
            if not selector.select(within):
                raise TimeoutError(f"{self._name} said nothing for {within:.0f} s")
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError(f"{self._name} ended with {self._process.wait()}")
        message: dict[str, Any] = json.loads(line)
        return message


def job() -> dict[str, Any]:
    """What this child was started for."""
    given: dict[str, Any] = json.loads(sys.argv[1])
    return given


def hear() -> dict[str, Any]:
    """The parent's next message; empty when there will be none."""
    line = sys.stdin.readline()
    message: dict[str, Any] = json.loads(line) if line else {}
    return message


def say(message: Mapping[str, Any]) -> None:
    """One message to the parent."""
    print(json.dumps(message), flush=True)
