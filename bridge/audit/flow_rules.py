"""I6 and I9: outputs and inputs match one to one, and bad records are set aside unchanged."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from hashlib import sha256

from bridge.audit import ids
from bridge.audit.log import LogRecord, Place, Violation, text_of
from bridge.audit.readings import Asked, Bad, Kept, Went
from bridge.audit.story import Story, header_origin

_JUDGED_AT_HOME = frozenset({"run_conflict", "run_reused", "too_old", "no_timestamp"})
_ABOUT_A_RUN = frozenset({"command_too_large", "no_refusal_configured"})


def outputs_have_their_input(story: Story) -> Iterator[Violation]:
    """I6: nothing is published about a record that is not there, or was not yet passed."""
    events = {event.record.place for event in story.events}
    given = set(story.given)
    known = events | given
    named = [(verdict.record, verdict.origin, given) for verdict in story.verdicts]
    named += [(record, header_origin(record), known) for record in story.letters + story.hops]
    for lives in story.lives.values():
        for life in lives:
            named += [(revision.record, revision.origin, events) for revision in life.revisions]
    positions = story.setup.positions_after or story.setup.positions or {}
    for record, origin, possible in named:
        if origin not in possible:
            yield Violation("I6", f"{record.role} without its input", (text_of(record.place),))
        elif positions and positions.get(origin[:2], 0) <= origin[2]:
            yield Violation("I6", f"{record.role} ahead of its position", (text_of(origin),))
    for record in story.garbled:
        yield Violation("I6", f"{record.role} is no JSON object", (text_of(record.place),))


def outputs_stand_at_home(story: Story) -> Iterator[Violation]:
    """I6: approvals and commands of a thread are on the partition of its slot."""
    slots = story.setup.slots
    outputs = list(story.commands)
    for lives in story.lives.values():
        outputs += [revision for life in lives for revision in life.revisions]
    homes: dict[str, int] = {}
    for output in outputs:
        thread = output.run_key[2]
        wanted = ids.home(thread, slots) if slots else output.record.partition
        if homes.setdefault(thread, wanted) != output.record.partition:
            yield Violation("I6", f"{output.record.role} of another slot", output.run_key)


def hops_lead_home_once(story: Story) -> Iterator[Violation]:
    """I6: a record off its home partition goes there once, as it came; one at home stays."""
    originals, meanings = _inputs(story)
    kinds = {"input": b"event", "answers": b"answer", "operations": b"operation"}
    for place, hops in story.hops_of.items():
        if len({hop.partition for hop in hops}) < len(hops) or len(hops) > meanings[place]:
            yield Violation("I6", "a record was rerouted twice", (text_of(place),))
        original = originals.get(place)
        if original is None:
            continue  # named above
        if any(not _unchanged(original, hop) for hop in hops):
            yield Violation("I6", "a record changed on the way home", (text_of(place),))
        source = story.setup.sources.get(original.topic)
        meant = (kinds.get(original.role), source.name.encode() if source else None)
        if any(
            (hop.header("bridge-hop"), hop.header("bridge-hop-source")) != meant for hop in hops
        ):
            yield Violation("I6", "a hop says that it is something else", (text_of(place),))
    slots = story.setup.slots
    for record, home in _homes(story, slots) if slots else ():
        found = [hop.partition for hop in story.hops_of.get(record.place, [])]
        wanted = [] if slots is None or record.partition % slots == home else [home]
        # What is refused stays where it stands, unless its thread had to be known for that.
        refused = set(story.reasons_of(record.place)) - _JUDGED_AT_HOME - _ABOUT_A_RUN
        if found and found != wanted:
            yield Violation("I6", "a record was rerouted astray", (text_of(record.place),))
        if wanted and not found and story.settled(record.place) and not refused:
            yield Violation("I6", "a record never went home", (text_of(record.place),))


def bad_records_are_set_aside(story: Story) -> Iterator[Violation]:
    """I9: exactly one dead letter for each bad record, its bytes unchanged, none for good ones."""
    originals, meanings = _inputs(story)
    for place, letters in story.letters_of.items():
        if len(letters) > max(1, meanings[place]):  # a page of tasks has one for each
            yield Violation("I9", f"{len(letters)} dead letters for one record", (text_of(place),))
        original = originals.get(place)
        if original is None:
            continue  # I6 names it
        for letter, reason in zip(letters, story.reasons_of(place), strict=True):
            # One about a run that cannot go on tells of the run.
            cut = letter.header("bridge-sha256") is not None
            same_key = cut or letter.key == original.key
            if reason not in _ABOUT_A_RUN and not (same_key and _unchanged(original, letter)):
                yield Violation("I9", "a dead letter is not the record", (text_of(place),))
            if not reason:
                yield Violation("I9", "a dead letter without a reason", (text_of(place),))
    for record, bad in _good_or_bad(story):
        set_aside = record.place in story.letters_of
        if bad and not set_aside and story.settled(record.place):
            yield Violation("I9", "a bad record was dropped silently", (text_of(record.place),))
        if not bad and set_aside:
            yield Violation("I9", "a good record was set aside", (text_of(record.place),))


def _good_or_bad(story: Story) -> Iterator[tuple[LogRecord, bool]]:
    """Bad records, and good answers; good events may be refused for reasons that I4 judges."""
    for event in story.events:
        if isinstance(event.reading, Bad):
            yield event.record, True
    for place, given in story.given.items():
        said = {verdict.body.get("verdict") for verdict in story.verdicts_of.get(place, [])}
        if given.sound is not None or "malformed" in said:
            yield given.record, given.sound is False or "malformed" in said


def _inputs(story: Story) -> tuple[dict[Place, LogRecord], Counter[Place]]:
    """Every input record by its place, and how many things each of them tells."""
    originals = {event.record.place: event.record for event in story.events}
    originals |= {place: given.record for place, given in story.given.items()}
    meanings = Counter(event.record.place for event in story.events)
    meanings.update(list(story.given))
    return originals, meanings


def _homes(story: Story, slots: int) -> Iterator[tuple[LogRecord, int]]:
    """The records that become an input of a thread beyond doubt, with its home slot."""
    _, meanings = _inputs(story)
    for record, _, reading in story.events:
        sure = isinstance(reading, Asked | Kept) or (isinstance(reading, Went) and reading.surely)
        if sure and meanings[record.place] == 1:
            yield record, ids.home(reading.thread, slots)  # type: ignore[union-attr]  # has one
    for given in story.given.values():
        home = given.slot
        if home is None and given.thread:
            home = ids.home(given.thread, slots)
        elif home is None:
            home = ids.home_of_id(given.approval_id or "", slots)
        if given.sound and home is not None:
            yield given.record, home


def _unchanged(original: LogRecord, copy: LogRecord) -> bool:
    """Headers and value are as they came; a cut value is proved by its size and hash.

    A hop is keyed by its thread, so the key it came with is looked for in the headers.
    """
    value, key = original.value or b"", original.key or b""
    if copy.header("bridge-origin-timestamp") != str(original.timestamp).encode():
        return False
    if copy.header("bridge-sha256") is not None:
        return (
            copy.header("bridge-sha256") == sha256(value).hexdigest().encode()
            and copy.header("bridge-size") == str(len(value)).encode()
            and value.startswith(copy.value or b"")
            and key.startswith(copy.key or b"")
        )
    return (
        copy.value == original.value
        and copy.header("bridge-origin-key") == original.key
        and copy.headers[: len(original.headers)] == original.headers
    )
