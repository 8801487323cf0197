"""`demo`: a story on real topics, played by workers of its own."""

from __future__ import annotations

import argparse

from bridge.demo import story


def run(_arguments: argparse.Namespace) -> int:
    """Play it; the exit code says whether its checks held."""
    return story.main()
