"""`demo`: a story on real topics, played by workers of its own."""

from __future__ import annotations

import argparse

from bridge.demo import story


def run(arguments: argparse.Namespace) -> int:
    """Play it; 0 only if its checks held."""
    return story.main(interactive=arguments.interactive, keep=arguments.keep)
