"""The ten promises in words, and of what each is judged."""

from __future__ import annotations

from typing import Final, Literal, NamedTuple

Noun = Literal["events", "runs", "answers", "operations", "commands", "outputs"]


class Invariant(NamedTuple):
    """One promise. `judged_of` is empty where topics alone do not show whether it is held."""

    name: str
    promise: str
    judged_of: tuple[Noun, ...]
    unseen: str = ""


INVARIANTS: Final = (
    Invariant("I1", "a run gets at most one resume command", ("runs", "commands")),
    Invariant(
        "I2",
        "a run has its command if, and only if, it was resumed; any other end shows its reason",
        ("runs", "commands"),
    ),
    Invariant(
        "I3",
        "what a command carries was given for that very question, and fits its schema",
        ("commands", "answers"),
    ),
    Invariant(
        "I4",
        "every question is published once, as it was asked, each revision once",
        ("events", "runs"),
    ),
    Invariant(
        "I5",
        "the state is what its own log says, byte for byte",
        (),
        "needs a restore to compare with; topics alone do not show it",
    ),
    Invariant(
        "I6",
        "what is published has its input, and stands where its thread is at home",
        ("outputs",),
    ),
    Invariant(
        "I7",
        "after a fault work goes on within its bound",
        (),
        "needs the hour of a fault; `doctor` says whether work goes on now",
    ),
    Invariant(
        "I8",
        "every answer and operation gets exactly one verdict, and the right one; the first good "
        "answer wins",
        ("answers", "operations"),
    ),
    Invariant(
        "I9",
        "bad records are set aside unchanged, good ones never",
        ("events", "answers", "operations"),
    ),
    Invariant(
        "I10",
        "what answers resumed never expires, and what expired is never answered",
        ("runs", "answers"),
    ),
)
