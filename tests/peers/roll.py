"""Everybody who is called up: the peers of all protocols, in the order of the table."""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Sequence

from tests.peers.peer import Peer

PROTOCOLS = ("ag_ui", "a2a", "genkit")


def everybody() -> tuple[Peer, ...]:
    """All peers. Raises ValueError when two have one name."""
    peers: list[Peer] = []
    for protocol in PROTOCOLS:
        name = f"tests.peers.cast.{protocol}"
        if importlib.util.find_spec(name) is not None:
            peers += importlib.import_module(name).PEERS
    names = [peer.name for peer in peers]
    twice = {name for name in names if names.count(name) > 1}
    if twice:
        raise ValueError(f"two peers are named {', '.join(sorted(twice))}")
    return tuple(peers)


def called(names: Sequence[str]) -> tuple[Peer, ...]:
    """The peers of these names; all where none is given. Raises ValueError with those there are."""
    known = {peer.name: peer for peer in everybody()}
    unknown = [name for name in names if name not in known]
    if unknown:
        raise ValueError(f"no peer {', '.join(unknown)}; there are {', '.join(known)}")
    return tuple(known[name] for name in names) if names else tuple(known.values())
