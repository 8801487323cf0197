"""What is read past as unknown must hold no question: the search for one."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Any, Final

from bridge.protocols.event import RawEvent, loosely
from bridge.protocols.fields import Unreadable
from bridge.protocols.interface import Reading

Asks = Callable[[dict[str, Any]], bool]
"""Whether an object is, in any spelling, an event of the protocol that asks somebody."""

Hint = Callable[[bytes], bool]
"""What no question can be written without: where it is false of a value, nothing is parsed."""

_MOST_NODES: Final = 20_000  # some 10 ms; a record holds a million bytes at most


def passed_over(event: RawEvent[Any], kind: str, hint: Hint, asks: Asks) -> Reading:
    """The reading of a record that is none of ours: counted, unless a question stands inside.

    Raises Unreadable with `hidden_question`.
    """
    refuse_hidden(event, hint, asks)
    event.seen.add(kind)
    return event.reading()


def refuse_hidden(event: RawEvent[Any], hint: Hint, asks: Asks) -> None:
    """Raises Unreadable with `hidden_question` where a question stands somewhere inside.

    In JSON texts, too, one level deep.
    """
    if not hint(event.value):
        return
    # The outermost come first: a long list beside a question does not use up what is looked at.
    waiting = deque([("", loosely(event.value), False)])
    for _ in range(_MOST_NODES):
        if not waiting:
            return
        pointer, node, in_text = waiting.popleft()
        if isinstance(node, str) and not in_text and node.lstrip()[:1] in {"{", "["}:
            node, in_text = loosely(node.encode("utf-8", "replace")), True
        if isinstance(node, list):
            waiting += [(f"{pointer}/{index}", one, in_text) for index, one in enumerate(node)]
        if not isinstance(node, dict):
            continue
        if pointer and asks(node):
            detail = f'a question stands at {pointer}: event_pointer = "{pointer}" reads it'
            raise Unreadable("hidden_question", "", detail)
        for name, one in node.items():
            token = name.replace("~", "~0").replace("/", "~1")
            waiting.append((f"{pointer}/{token}", one, in_text))


def spells_interrupt(value: bytes) -> bool:
    """The hint of protocols whose questions say so. Lower case first: a search that ignores case
    looks at every letter, and costs ten times as much."""
    return b"interrupt" in value.lower()
