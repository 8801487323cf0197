"""A peer's recording: its versions, and what was said in each case, as a file."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from tests.peers.peer import Peer
from tests.peers.record.plain import Plain
from tests.peers.record.tape import Exchange

VECTORS: Final = Path(__file__).parents[2] / "vectors"
_LINE_UP_TO: Final = 88  # characters; what is longer goes to a line a member, down to the records


def path_of(peer: Peer) -> Path:
    return VECTORS / peer.protocol.replace("-", "_") / "recorded" / f"{peer.name}.json"


def write(peer: Peer, versions: Mapping[str, str], cases: Mapping[str, Sequence[Exchange]]) -> None:
    """Write it anew."""
    said = {case: list(_plain(exchanges)) for case, exchanges in cases.items()}
    put(path_of(peer), {"peer": peer.name, "versions": dict(versions)}, "cases", said, depth=6)


def put(path: Path, head: Mapping[str, Any], name: str, found: Any, depth: int) -> None:
    """A vector file; its date stays where nothing else has changed."""
    told = {**head, "recorded": f"{datetime.now(UTC):%Y-%m-%d}", name: found}
    if path.is_file():
        before = json.loads(path.read_bytes())
        if {**before, "recorded": ""} == {**told, "recorded": ""}:
            told = before
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"{laid_out(told, depth)}\n", "utf-8")


def _plain(exchanges: Iterable[Exchange]) -> Iterator[dict[str, Any]]:
    said = [(_read(exchange), exchange.at) for exchange in exchanges]
    names = Plain()
    for value, at in said:
        names.time(value, at)
    for value, _ in said:
        yield names.plain(value)


def _read(exchange: Exchange) -> dict[str, Any]:
    """The exchange as JSON; what a stream repeats of a framework's own events is left out."""
    about = json.loads(exchange.about) if exchange.op == "resume" else exchange.about
    records = [_record(each) for each in exchange.reply["records"]]
    kept = [each for each in records if each["value"].get("type") != "RAW"]
    more = {name: exchange.reply[name] for name in _ENDS if name in exchange.reply}
    return {"op": exchange.op, "about": about, "records": kept, **more}


_ENDS = ("end", "result", "problem")


def _record(record: Mapping[str, Any]) -> dict[str, Any]:
    headers = {"headers": record["headers"]} if record.get("headers") else {}
    return {"key": record["key"], "value": json.loads(record["value"]), **headers}


def laid_out(value: Any, depth: int, level: int = 0) -> str:
    """JSON with lines down to that depth, so that two recordings can be compared by lines."""
    short = json.dumps(value, ensure_ascii=False)
    if level == depth or not isinstance(value, dict | list) or len(short) <= _LINE_UP_TO:
        return short
    if isinstance(value, dict):
        parts = [f"{json.dumps(k)}: {laid_out(v, depth, level + 1)}" for k, v in value.items()]
        opened, closed = "{}"
    else:
        parts = [laid_out(each, depth, level + 1) for each in value]
        opened, closed = "[]"
    lines = ",\n".join(f"{' ' * (level + 1)}{part}" for part in parts)
    return f"{opened}\n{lines}\n{' ' * level}{closed}"
