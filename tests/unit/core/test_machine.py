"""Random lives of two threads against a naive model of dicts, with the invariants at every step."""

from __future__ import annotations

import copy
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from typing import Any

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from bridge.core import json_text
from bridge.core.decide import decide
from bridge.core.model import (
    Answer,
    DeadLetter,
    Decision,
    Input,
    Interrupted,
    Judged,
    Millis,
    Operation,
    Order,
    Origin,
    Publish,
    Question,
    Resume,
    Run,
    RunPolicy,
    SourcePolicy,
    Thread,
    ThreadKey,
    Tick,
    WentOn,
)
from tests.unit.core.builders import NEEDS_APPROVED, NOW, approval_of, rules

MINUTE = 60_000
RETENTION = 120 * MINUTE
# The clock may go back by less than this; a replay must be too old even then.
MARGIN = 10 * MINUTE
EARLY = 15 * MINUTE
RULES = rules(
    SourcePolicy(
        max_event_age=RETENTION - MARGIN,
        early_answer_ttl=EARLY,
        run=RunPolicy(closed_retention=RETENTION),
    )
)
THREADS = [ThreadKey("support", "", name) for name in ("thread-1", "thread-2")]
NAMES = ("a", "b", "c")
CLOSED = {"resumed": "late", "superseded": "stale", "withdrawn": "withdrawn"}
Name = tuple[int, str]  # thread, run id: ids recur on the other thread on purpose


@dataclass
class NaiveQuestion:
    expires: Millis | None
    status: str = "pending"
    accepted: Any = None

    def due(self, at: Millis) -> bool:
        return self.expires is not None and self.expires <= at


@dataclass
class NaiveRun:
    at: Millis  # for its place in the thread: a clock ahead counts as now
    written: Millis
    questions: dict[str, NaiveQuestion]
    outcome: str | None = None
    closed: Millis = 0

    def close(self, outcome: str, now: Millis) -> None:
        self.outcome, self.closed = outcome, now
        for question in self.questions.values():
            if question.status == "pending":
                question.status = outcome

    def expire(
        self, at: Millis, spared: NaiveQuestion | None = None, lapse_only: bool = False
    ) -> None:
        for question in self.questions.values():
            open_still = question.status == "answered" or (
                question.status == "pending" and not lapse_only
            )
            if question is not spared and open_still and question.due(at):
                question.status = "expired"

    def settled(self) -> bool:
        return all(question.status != "pending" for question in self.questions.values())


@dataclass
class Naive:
    """One thread as somebody would write it down who has never seen the code."""

    runs: dict[str, NaiveRun] = field(default_factory=dict)
    early: list[tuple[Answer, Millis]] = field(default_factory=list)

    def event(self, event: Interrupted, now: Millis) -> list[str]:
        if event.run_id in self.runs or event.origin.timestamp <= now - RETENTION + MARGIN:
            return []
        questions = {
            q.interrupt_id: NaiveQuestion(
                int(q.metadata or b"0") or None  # the machine writes the instant there, too
            )
            for q in event.questions
        }
        run = NaiveRun(min(event.order.at, now), event.order.at, questions)
        if any(other.at > run.at for other in self.runs.values()):
            run.close("superseded", now)
        else:
            for other in self.runs.values():
                if other.outcome is None:
                    other.close("superseded", now)
        self.runs[event.run_id] = run
        mine = [
            a for a, _ in self.early if a.run_id == event.run_id and a.interrupt_id in questions
        ]
        self.early = [(a, until) for a, until in self.early if a not in mine]
        return [verdict for a in mine for verdict in self.answer(a, now)]

    def answer(self, answer: Answer, now: Millis) -> list[str]:
        run = self.runs.get(answer.run_id or "")
        if run is None:
            self.early.append((answer, now + EARLY))
            return []
        question = run.questions.get(answer.interrupt_id or "")
        if question is None:
            return ["unknown"]
        return [self._verdict(run, question, answer, now)]

    def _verdict(self, run: NaiveRun, question: NaiveQuestion, answer: Answer, now: Millis) -> str:
        content, at = (answer.status, answer.payload), min(answer.origin.timestamp, now)
        if question.accepted == content:
            return "duplicate"
        if run.outcome is not None and question.status != "expired":
            return CLOSED[run.outcome]
        if question.status == "expired" or question.due(at):
            return "expired"
        if question.accepted is not None:
            return "conflict"
        if answer.status == "resolved" and b"approved" not in (answer.payload or b""):
            return "invalid_payload"
        question.accepted = content
        question.status = "answered" if answer.status == "resolved" else "cancelled"
        if run.settled():
            run.expire(at, question, lapse_only=True)
            run.close("resumed", now)
        return "accepted"

    def tick(self, now: Millis) -> list[str]:
        for name, run in list(self.runs.items()):
            if run.outcome is not None:
                if max(run.closed, run.written) + RETENTION <= now:
                    del self.runs[name]
                continue
            run.expire(now)
            if run.settled():
                run.close("resumed", now)
        gone = [pair for pair in self.early if pair[1] <= now]
        self.early = [pair for pair in self.early if pair[1] > now]
        return ["unknown"] * len(gone)

    def operation(self, op: str, run_id: str, now: Millis) -> list[str]:
        run = self.runs.get(run_id)
        if run is None:
            return ["unknown"]
        if run.outcome is not None:
            return [CLOSED[run.outcome]]
        if op == "withdraw":
            run.close("withdrawn", now)
        else:
            for question in run.questions.values():
                if question.status == "pending":
                    question.status = "expired"
            run.close("resumed", now)
        return ["accepted"]

    def went_on(self, now: Millis, at: Millis) -> list[str]:
        for run in self.runs.values():
            if run.outcome is None and at >= run.at:
                run.close("withdrawn", now)
        return []


class Bridge(RuleBasedStateMachine):
    """The core on one side, the naive model on the other, and the log of all that was said."""

    @initialize()
    def start(self) -> None:
        self.now = self.latest = NOW
        self.offset = 0
        self.threads = [Thread(), Thread()]
        self.naive = [Naive(), Naive()]
        self.events: list[list[Interrupted]] = [[], []]
        self.answers: list[Answer] = []
        self.log: list[tuple[int, Input, Millis]] = []
        self.resumes: dict[Name, list[Resume]] = defaultdict(list)
        self.outcomes: dict[Name, Run] = {}
        self.judged: Counter[Origin] = Counter()
        self.revisions: dict[tuple[int, str, str], int] = {}
        self.told: list[Any] = []

    def feed(self, thread: int, given: Input, expected: list[str] | None) -> None:
        before = copy.deepcopy(self.threads[thread])
        decision = decide(self.threads[thread], given, self.now, RULES)
        assert decide(before, given, self.now, RULES) == decision, "the same input, another outcome"
        verdicts = [e.verdict for e in decision.effects if isinstance(e, Judged)]
        assert expected is None or verdicts == expected
        self.log.append((thread, given, self.now))
        self.threads[thread] = decision.thread
        self.note(thread, decision)

    def note(self, thread: int, decision: Decision) -> None:
        for effect in decision.effects:
            if isinstance(effect, Judged):
                self.judged[effect.origin] += 1
            elif isinstance(effect, Resume):
                self.resumes[thread, effect.run.run_id].append(effect)
            elif isinstance(effect, Publish):
                self.note_approval(thread, effect)
            self.told.append(effect)

    def note_approval(self, thread: int, effect: Publish) -> None:
        run, item = effect.run, effect.run.items[effect.index]
        key = (thread, run.run_id, item.question.interrupt_id)
        assert item.revision == self.revisions.get(key, 0) + 1, "a revision was skipped or repeated"
        self.revisions[key] = item.revision
        if run.outcome is not None:
            self.outcomes[thread, run.run_id] = run

    # --- What may happen --------------------------------------------------------------------------

    @rule(
        thread=st.integers(0, 1),
        names=st.lists(st.sampled_from(NAMES), min_size=1, max_size=3, unique=True),
        due=st.lists(st.none() | st.integers(-5, 40), min_size=3, max_size=3),
        shift=st.integers(-15, 2),
    )
    def new_event(self, thread: int, names: list[str], due: list[int | None], shift: int) -> None:
        at = self.now + shift * MINUTE
        questions = tuple(self.question(name, wait) for name, wait in zip(names, due, strict=False))
        run_id = f"run-{len(self.events[thread])}"
        origin = Origin("events", thread, len(self.events[thread]), at)
        digest = json_text.digest(run_id)
        given = Interrupted(THREADS[thread], run_id, "any", questions, digest, Order(at), origin)
        self.events[thread].append(given)
        self.feed(thread, given, self.naive[thread].event(given, self.now))

    def question(self, name: str, wait: int | None) -> Question:
        schema = NEEDS_APPROVED
        if wait is None:
            return Question(name, response_schema=schema)
        at = self.now + wait * MINUTE
        seconds = at // 1_000
        day, rest = divmod(seconds, 86_400)
        clock = f"{rest // 3600:02}:{rest // 60 % 60:02}:{rest % 60:02}"
        # 15 January 2027 is day 20,833 of the epoch; the machine stays within that month.
        text = f"2027-01-{15 + day - 20_833:02}T{clock}Z"
        return Question(name, response_schema=schema, expires_at_raw=text, metadata=b"%d" % at)

    @rule(thread=st.integers(0, 1), pick=st.integers(0, 50))
    def event_again(self, thread: int, pick: int) -> None:
        if self.events[thread]:
            given = self.events[thread][pick % len(self.events[thread])]
            self.feed(thread, given, self.naive[thread].event(given, self.now))

    @rule(
        thread=st.integers(0, 1),
        back=st.sampled_from([0, 0, 0, 0, 1, 2, -1]),
        name=st.sampled_from(NAMES),
        content=st.sampled_from(["yes", "yes", "no", "wrong", "cancel"]),
        shift=st.integers(-5, 2),
        by_approval=st.booleans(),
    )
    def answer(
        self, thread: int, back: int, name: str, content: str, shift: int, by_approval: bool
    ) -> None:
        run_id = f"run-{max(len(self.events[thread]) - 1 - back, 0)}"
        where = f"{thread}/{run_id}/{name}"
        payload = {
            "yes": b'{"approved":true,"for":"%s"}' % where.encode(),
            "no": b'{"approved":false,"for":"%s"}' % where.encode(),
            "wrong": b'{"for":"%s"}' % where.encode(),
            "cancel": None,
        }[content]
        self.offset += 1
        origin = Origin("answers", 0, self.offset, self.now + shift * MINUTE)
        status: Any = "cancelled" if content == "cancel" else "resolved"
        approval = approval_of(name, run_id) if by_approval and thread == 0 else None
        given = Answer(origin, status, approval, THREADS[thread], run_id, name, payload)
        self.answers.append(given)
        self.feed(thread, given, self.naive[thread].answer(given, self.now))

    @rule(minutes=st.integers(-4, 45))
    def clock(self, minutes: int) -> None:
        self.now = max(self.now + minutes * MINUTE, self.latest - MARGIN // 2)
        self.latest = max(self.latest, self.now)

    @rule(thread=st.integers(0, 1))
    def tick(self, thread: int) -> None:
        # Which of several early answers is given up first says nothing, so only the number counts.
        self.feed(thread, Tick(), self.naive[thread].tick(self.now))

    @rule(
        thread=st.integers(0, 1),
        back=st.integers(-1, 2),
        op=st.sampled_from(["withdraw", "expire"]),
    )
    def operate(self, thread: int, back: int, op: Any) -> None:
        run_id = f"run-{max(len(self.events[thread]) - 1 - back, 0)}"
        self.offset += 1
        origin = Origin("operations", 0, self.offset, self.now)
        given = Operation(origin, op, None, THREADS[thread], run_id)
        self.feed(thread, given, self.naive[thread].operation(op, run_id, self.now))

    @rule(thread=st.integers(0, 1), shift=st.integers(-20, 0))
    def go_on(self, thread: int, shift: int) -> None:
        at = self.now + shift * MINUTE
        origin = Origin("events", thread, 1_000, at)
        given = WentOn(THREADS[thread], Order(at), origin)
        self.feed(thread, given, self.naive[thread].went_on(self.now, at))

    @rule()
    def crash_and_replay(self) -> None:
        """A worker that starts from nothing and reads the same log says the same."""
        threads = [Thread(), Thread()]
        told: list[Any] = []
        for thread, given, now in self.log:
            decision = decide(threads[thread], given, now, RULES)
            threads[thread] = decision.thread
            told += decision.effects
        assert threads == self.threads
        assert told == self.told

    # --- What must hold ---------------------------------------------------------------------------

    @invariant()
    def the_model_agrees(self) -> None:
        for thread, naive in zip(self.threads, self.naive, strict=True):
            found = {
                run.run_id: (run.outcome, {i.question.interrupt_id: i.status for i in run.items})
                for run in thread.runs
            }
            expected = {
                name: (run.outcome, {k: q.status for k, q in run.questions.items()})
                for name, run in naive.runs.items()
            }
            assert found == expected
            assert [p.answer for p in thread.parked] == [a for a, _ in naive.early]

    @invariant()
    def one_resume_at_most_and_only_of_resumed_runs(self) -> None:
        """I1, I2, I10."""
        assert all(len(commands) == 1 for commands in self.resumes.values())
        resumed = {name for name, run in self.outcomes.items() if run.outcome == "resumed"}
        assert resumed == set(self.resumes)
        for run in self.outcomes.values():
            assert all(item.status != "pending" and item.closed_reason for item in run.items)

    @invariant()
    def entries_hold_what_was_given_for_them(self) -> None:
        """I3: valid, and for that interrupt of that run of that thread."""
        for (thread, run_id), [command] in self.resumes.items():
            for entry in command.entries:
                if entry.status == "resolved":
                    value = json_text.value(entry.payload or b"null")
                    assert value["for"] == f"{thread}/{run_id}/{entry.question.interrupt_id}"
                    assert isinstance(value["approved"], bool)

    @invariant()
    def every_answer_has_one_verdict_or_is_parked(self) -> None:
        """I8."""
        waiting = Counter(p.answer.origin for t in self.threads for p in t.parked)
        for answer in self.answers:
            assert self.judged[answer.origin] + waiting[answer.origin] == 1

    @invariant()
    def good_events_are_never_refused_for_another_reason(self) -> None:
        """Only age refuses what this machine delivers."""
        letters = {e.refusal.reason for e in self.told if isinstance(e, DeadLetter)}
        assert letters <= {"too_old"}


Bridge.TestCase.settings = settings(max_examples=80, stateful_step_count=40, deadline=None)
TestBridge = Bridge.TestCase
