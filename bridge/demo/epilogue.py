"""The epilogue: reads the topics back, checks them, and says in figures what happened.

Nothing here trusts what was seen during the story: invariants and outcomes are those of the log.
"""

from __future__ import annotations

import asyncio
import statistics
from collections.abc import Iterator, Mapping

from bridge.audit.checker import check
from bridge.audit.log import JUDGED, LogRecord, Role, Setup, Source
from bridge.audit.outside import Recovery
from bridge.audit.reader import read_topics
from bridge.audit.report import Report
from bridge.demo.outcomes import outcomes
from bridge.demo.scene import TAKEOVER_SECONDS, Scene
from bridge.demo.stage import SLOTS, command_line

_SERIES = (
    'interrupt_bridge_slots{state="serving"}',
    'interrupt_bridge_answers_total{verdict="accepted"}',
    'interrupt_bridge_expired_total{source="ops-runner"}',
    "interrupt_bridge_restored_records_total",
    "interrupt_bridge_resume_unconfirmed",
)
"""What a newcomer may want to see of a scrape."""


async def tell(scene: Scene, *, keep: bool) -> bool:
    """Check and sum up; whether all is as it must be. `keep`: then wait until Ctrl-C."""
    scene.screen.chapter("What the topics say")
    with scene.screen.busy("reading all topics back …"):
        own: dict[str, Role] = {scene.stage.topics[role]: role for role in JUDGED}
        inputs: dict[str, Role] = dict.fromkeys(scene.stage.sources.values(), "input")
        records, trace = await asyncio.gather(
            read_topics(own | inputs, **scene.stage.client), _trace(scene)
        )
    report = _checked(scene, records)
    due = list(outcomes(scene.replies, scene.endings, scene.passings, records))
    missed = [outcome.text for outcome in due if not outcome.happened]
    for line in _figures(scene, report):
        scene.screen.say(line)
    _judge(scene, report, missed, records=len(records), expected=len(due))
    await _look_further(scene, trace, keep=keep)
    if keep:
        try:  # Ctrl-C is how this is meant to end: no interruption of the story
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            task = asyncio.current_task()
            if task is not None:
                task.uncancel()
    return report.ok and not missed


def _checked(scene: Scene, records: list[LogRecord]) -> Report:
    """Every input was worked on: the story waits for each verdict and each command."""
    sources = {
        source.topic_names[0]: Source(source.name, source.protocol, source.options)
        for source in scene.stage.config.sources
    }
    recoveries = []
    if (crash := scene.crash) is not None:
        fault = f"SIGKILL of {crash.victim.name}"
        recoveries.append(Recovery(fault, crash.at, crash.over, TAKEOVER_SECONDS))
    return check(records, Setup(sources, slots=SLOTS, final=True), recoveries=recoveries)


# --- What is said about it ----------------------------------------------------------------------


def _figures(scene: Scene, report: Report) -> Iterator[str]:
    counts = report.figures
    runs = f"{counts['runs']} ended with {counts['interrupts']} questions"
    yield f"runs       {runs}: {_listed(report.outcomes)}"
    yield f"answers    {counts['answers']}: {_listed(report.verdicts)}"
    yield f"commands   {counts['commands']}, one for each resumed run"
    if counts["hops"]:
        yield f"hops       {counts['hops']} answers under other keys went home to their slot first"
    crash = scene.crash
    if crash is not None and crash.seconds is not None:
        slots = " and ".join(map(str, crash.slots))
        text = f"{crash.seconds:.1f} s from SIGKILL of {crash.victim.name}"
        yield f"takeover   {text} to the first commit of slots {slots}"
    # From handing the event to the producer until a read_committed consumer has its approvals.
    seen = scene.witness.asked_at
    latencies = sorted(seen[run] - at for run, at in scene.asked_at.items() if run in seen)
    if latencies:
        middle, most = statistics.median(latencies) * 1_000, latencies[-1] * 1_000
        yield f"latency    event to visible approval: median {middle:.0f} ms, slowest {most:.0f} ms"


def _judge(scene: Scene, report: Report, missed: list[str], *, records: int, expected: int) -> None:
    if report.ok:
        checked = f"an independent checker read {records} records"
        text = f"all invariants hold: {checked} and found nothing lost, doubled or misplaced"
        scene.screen.say(text, "good")
    for violation in report.violations:
        scene.screen.say(f"invariant broken: {violation}", "bad")
    for text in missed:
        scene.screen.say(text, "bad")
    if not missed:
        text = f"all {expected} outcomes that had to come about stand on the topics"
        scene.screen.say(text, "good")


def _listed(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{count} {name}" for name, count in sorted(counts.items())) or "none"


# --- How to look further ------------------------------------------------------------------------


async def _look_further(scene: Scene, trace: str, *, keep: bool) -> None:
    say, thread = scene.screen.say, scene.cast.ops.thread_id
    scene.screen.chapter("How to look further")
    say(f"interrupt-bridge trace {thread}", "person")
    say(trace, "quiet")
    worker = next(worker for worker in scene.stage.workers if worker.running)
    series = await worker.metrics()
    say(f"{worker.url}/metrics", "person")
    for name in _SERIES:
        say(f"{name} {series.get(name, 0.0):g}", "quiet")
    if not keep:
        say("make demo ARGS=--keep leaves all of it running; INTERACTIVE=1 lets you answer")
        return
    say("all of it runs until Ctrl-C; try in another terminal:")
    for command in (f"trace {thread}", "pending", "topics check"):
        say(f"interrupt-bridge {command} --config {scene.stage.config_file}", "person")


async def _trace(scene: Scene) -> str:
    """What the command prints for the thread whose deadline passed."""
    words = ["trace", scene.cast.ops.thread_id, "--config", str(scene.stage.config_file)]
    process = await asyncio.create_subprocess_exec(
        *command_line(*words),
        env=dict(scene.stage.environ),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    try:
        printed, _ = await process.communicate()
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    return printed.decode(errors="replace")
