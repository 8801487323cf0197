"""What reference implementations make of the hand-made vectors, asked of them and written down."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tests.peers import sets
from tests.peers.peer import SetName
from tests.peers.program import Program
from tests.peers.record.recording import VECTORS, put


@dataclass(frozen=True, slots=True)
class Reference:
    """A program that judges the cases of some files, by the names of the cases."""

    name: str
    protocol: str  # the folder below tests/vectors
    set: SetName
    program: str
    made: tuple[str, ...]

    @property
    def path(self) -> Path:
        return VECTORS / self.protocol / "verdicts" / f"{self.name}.json"


REFERENCES: Final = (
    Reference(
        name="ag-ui-protocol",
        protocol="ag_ui",
        set="current",
        program="ag_ui_protocol_verdicts.py",
        made=("run_finished",),
    ),
    Reference(
        name="ag-ui-client",
        protocol="ag_ui",
        set="npm",
        program="npm/ag_ui_client_verdicts.mjs",
        made=("run_finished", "resumes", "lifecycles", "expiries"),
    ),
)


async def record(reference: Reference, folder: Path) -> None:
    """Ask and write. Raises Trouble; `folder` takes what the program says besides."""
    cases = VECTORS / reference.protocol / "made"
    made = {name: json.loads((cases / f"{name}.json").read_bytes()) for name in reference.made}
    command = sets.command(reference.set, reference.program)
    async with Program(command, folder / f"{reference.name}.log") as program:
        head = {"reference": reference.name, "versions": await program.hello()}
        put(reference.path, head, "verdicts", await program.judge(made), depth=3)
