"""Looks a deployment over, asks each slot whether it is served, and says what to do.

Harmless to a deployment at work: it reads, asks each slot once by an operation that changes
nothing, and writes one transaction of two tombstones under keys that nobody uses, with a
transactional id that no slot has. Nothing is called good that was not looked at itself.
"""

from __future__ import annotations

from bridge.kafka.doctor.check import Check
from bridge.kafka.doctor.examine import examine

__all__ = ["Check", "examine"]
