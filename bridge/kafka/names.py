"""The names by which the brokers know a deployment: its consumer group, its transactional ids.

Both hold the name of the state topic as well as `app_id`: two deployments that share the one or
the other are two. Neither a topic's name nor an app_id can hold a colon.
"""

from __future__ import annotations


def group_id(app_id: str, state_topic: str) -> str:
    """The consumer group of the workers."""
    return f"{app_id}:{state_topic}"


def transactional_id(app_id: str, state_topic: str, owner: int | str) -> str:
    """The transactional id of a slot, by its number, or of a tool, by its name."""
    return f"{app_id}:{state_topic}:{owner}"
