"""I6 and I9: outputs and inputs match one to one, and bad records are set aside unchanged."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from hashlib import sha256

from bridge.audit import ids
from bridge.audit.answers import Given
from bridge.audit.log import LogRecord, Violation, text_of
from bridge.audit.readings import Asked, Bad, Kept, Reading, Went
from bridge.audit.story import Story, header_origin

_JUDGED_AT_HOME = frozenset({b"run_conflict", b"run_reused", b"too_old", b"no_timestamp"})
_ABOUT_A_RUN = frozenset({b"command_too_large", b"no_refusal_configured"})


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
    originals = {event.record.place: event.record for event in story.events}
    originals |= {place: given.record for place, given in story.given.items()}
    told = Counter(event.record.place for event in story.events)
    told.update(list(story.given))
    for place, hops in story.hops_of.items():
        if len({hop.partition for hop in hops}) < len(hops) or len(hops) > told[place]:
            yield Violation("I6", "a record was rerouted twice", (text_of(place),))
        original = originals.get(place)
        if original is not None and any(not _unchanged(original, hop) for hop in hops):
            yield Violation("I6", "a record changed on the way home", (text_of(place),))
        if original is not None and any(not _says_what_it_is(story, original, h) for h in hops):
            yield Violation("I6", "a hop says that it is something else", (text_of(place),))
    if not story.setup.slots:
        return
    for record, home in _homes(story, story.setup.slots):
        found = [hop.partition for hop in story.hops_of.get(record.place, [])]
        wanted = [] if record.partition % story.setup.slots == home else [home]
        if found and found != wanted:
            yield Violation("I6", "a record was rerouted astray", (text_of(record.place),))
        if wanted and not found and story.settled(record.place) and not _refused(story, record):
            yield Violation("I6", "a record never went home", (text_of(record.place),))


def bad_records_are_set_aside(story: Story) -> Iterator[Violation]:
    """I9: exactly one dead letter for each bad record, its bytes unchanged, none for good ones."""
    originals = {event.record.place: event.record for event in story.events}
    originals |= {place: given.record for place, given in story.given.items()}
    told = Counter(event.record.place for event in story.events)
    for place, letters in story.letters_of.items():
        if len(letters) > max(1, told[place]):  # a page of tasks has one for each
            yield Violation("I9", f"{len(letters)} dead letters for one record", (text_of(place),))
        original = originals.get(place)
        if original is None:
            continue  # I6 names it
        for letter in letters:
            if not _is_copy(original, letter):
                yield Violation("I9", "a dead letter is not the record", (text_of(place),))
            if not letter.header("bridge-reason"):
                yield Violation("I9", "a dead letter without a reason", (text_of(place),))
    for record, bad in _good_or_bad(story):
        letters = story.letters_of.get(record.place, [])
        if bad and not letters and story.settled(record.place):
            yield Violation("I9", "a bad record was dropped silently", (text_of(record.place),))
        if not bad and letters:
            yield Violation("I9", "a good record was set aside", (text_of(record.place),))


def _good_or_bad(story: Story) -> Iterator[tuple[LogRecord, bool]]:
    """Bad records, and good answers; good events may be refused for reasons that I4 judges."""
    for event in story.events:
        if isinstance(event.reading, Bad):
            yield event.record, True
    for place, given in story.given.items():
        said = {verdict.body.get("verdict") for verdict in story.verdicts_of.get(place, [])}
        if given.sound is False or "malformed" in said:
            yield given.record, True
        elif given.sound:
            yield given.record, False


def _homes(story: Story, slots: int) -> Iterator[tuple[LogRecord, int]]:
    """The records whose thread is beyond doubt, with its home slot."""
    told = Counter(event.record.place for event in story.events)
    for event in story.events:
        thread = _sure_thread(event.reading)
        if thread is not None and told[event.record.place] == 1:
            yield event.record, ids.home(thread, slots)
    for given in story.given.values():
        home = given.slot if given.slot is not None else _home_of_run(given, slots)
        if given.sound and home is not None:
            yield given.record, home


def _home_of_run(given: Given, slots: int) -> int | None:
    if given.thread:
        return ids.home(given.thread, slots)
    return ids.home_of_id(given.approval_id or "", slots)


def _sure_thread(reading: Reading) -> str | None:
    """The thread of a record that becomes an input, whether it asks or not."""
    if isinstance(reading, Went):
        return reading.thread if reading.surely else None
    return reading.thread if isinstance(reading, Asked | Kept) else None


def _refused(story: Story, record: LogRecord) -> bool:
    """A record can be refused where it stands, unless its thread had to be known for that."""
    letters = story.letters_of.get(record.place, [])
    at_home = _JUDGED_AT_HOME | _ABOUT_A_RUN
    return any(letter.header("bridge-reason") not in at_home for letter in letters)


def _is_copy(original: LogRecord, letter: LogRecord) -> bool:
    """Whether the letter is the record; one about a run that cannot go on tells of the run."""
    if letter.header("bridge-reason") in _ABOUT_A_RUN:
        return True
    cut = letter.header("bridge-sha256") is not None
    return (cut or letter.key == original.key) and _unchanged(original, letter)


def _unchanged(original: LogRecord, copy: LogRecord) -> bool:
    """Headers and value are as they came; a cut value is proved by its size and hash.

    A hop is keyed by its thread, so the key it came with is looked for in the headers.
    """
    if copy.header("bridge-origin-timestamp") != str(original.timestamp).encode():
        return False
    if copy.header("bridge-sha256") is not None:
        return _cut_from(original, copy)
    return (
        copy.value == original.value
        and copy.header("bridge-origin-key") == original.key
        and copy.headers[: len(original.headers)] == original.headers
    )


def _says_what_it_is(story: Story, original: LogRecord, hop: LogRecord) -> bool:
    """Its kind, and of an event the source: by the role and topic that the record came from."""
    kinds = {"input": b"event", "answers": b"answer", "operations": b"operation"}
    source = story.setup.sources.get(original.topic)
    named = source.name.encode() if source else None
    return (hop.header("bridge-hop"), hop.header("bridge-hop-source")) == (
        kinds.get(original.role),
        named,
    )


def _cut_from(original: LogRecord, copy: LogRecord) -> bool:
    value, key = original.value or b"", original.key or b""
    return (
        copy.header("bridge-sha256") == sha256(value).hexdigest().encode()
        and copy.header("bridge-size") == str(len(value)).encode()
        and value.startswith(copy.value or b"")
        and key.startswith(copy.key or b"")
    )
