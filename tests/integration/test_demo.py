"""The demonstration as a newcomer starts it: a process, its exit code, and what it prints.

It plays on the suite's broker, as on any cluster that the environment names.
"""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from bridge.kafka.topic_admin import connected

SECONDS = 120  # about 20 s alone; the suite shares the machine
DEMO = (sys.executable, "-m", "bridge.cli.main", "demo")


@contextmanager
def demo(bootstrap: str, *options: str) -> Iterator[subprocess.Popen[str]]:
    """A running demonstration; killed at the end if it has not ended by itself."""
    environ = {name: value for name, value in os.environ.items() if not name.startswith("BRIDGE_")}
    process = subprocess.Popen(
        [*DEMO, *options],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        encoding="utf-8",
        env={**environ, "BRIDGE_KAFKA__BOOTSTRAP_SERVERS": bootstrap},
    )
    bound = threading.Timer(SECONDS, process.kill)
    bound.start()
    try:
        yield process
    finally:
        bound.cancel()
        process.kill()
        process.wait()


def follow(process: subprocess.Popen[str], react: Callable[[str], None]) -> str:
    """All that it prints; `react` is called with each line as it comes."""
    assert process.stdout is not None
    printed = []
    for line in process.stdout:
        printed.append(line)
        react(line)
    return "".join(printed)


def typing(process: subprocess.Popen[str], *answers: str) -> Callable[[str], None]:
    """Answers the prompts one by one, then ends the conversation."""
    left = list(answers)

    def react(line: str) -> None:
        assert process.stdin is not None
        if "q to end:" in line:
            process.stdin.write(f"{left.pop(0) if left else 'q'}\n")
            process.stdin.flush()

    return react


async def topics_of(bootstrap: str, printed: str) -> list[str]:
    """The topics that are still there of those it said it made."""
    prefix = re.search(r"topics (bridge-demo-[0-9a-f]+\.)", printed)
    assert prefix is not None
    async with connected({"bootstrap_servers": bootstrap}) as admin:
        return [name for name in await admin.list_topics() if name.startswith(prefix[1])]


async def test_the_story_is_played_and_its_outcomes_stand_on_the_topics(bootstrap: str) -> None:
    """All that the demonstration promises happens, on plain lines, and nothing is left behind."""
    with demo(bootstrap) as process:
        printed = follow(process, lambda _line: None)
        assert process.wait() == 0, printed
    assert "\x1b" not in printed
    assert re.search(r"runs +9 ended with 16 questions: 8 resumed, 1 withdrawn\n", printed), printed
    for verdict in ("conflict", "duplicate", "expired", "invalid_payload", "late", "out_of_band"):
        assert re.search(rf"answers +20: .*1 {verdict}\b", printed), printed
    for method in ('"method": "SendMessage"', '"restart": [', '"respond": ['):
        assert method in printed
    assert re.search(r"takeover +\d+\.\d s from SIGKILL of worker [12]", printed), printed
    assert "all invariants hold" in printed
    assert not await topics_of(bootstrap, printed)


def test_a_person_answers_at_the_prompt(bootstrap: str) -> None:
    """Typed answers are judged like any other, and a covered run is resumed."""
    with demo(bootstrap, "--interactive") as process:
        answers = ("no JSON", '{"flight": "BA 1"}', '{"flight": "TP 573"}', "d")
        printed = follow(process, typing(process, *answers))
        assert process.wait() == 0, printed
    assert "not JSON" in printed
    assert "travel-desk, question 1: invalid_payload" in printed
    assert "travel-desk, question 2: accepted" in printed
    assert "resume command for travel-desk" in printed
    assert "all invariants hold" in printed


def test_a_person_is_asked_by_every_protocol(bootstrap: str) -> None:
    """A sign-in is passed and its task then asks; a declined item cancels it; tools are resumed."""
    with demo(bootstrap, "--interactive") as process:
        skipped = ("s",) * 10
        bank = ('{"approved": true}', '{"answer": "giro"}')
        review = ("", '{"confirmed": true}', "d")
        printed = follow(process, typing(process, *skipped, *bank, *review))
        assert process.wait() == 0, printed
    assert "its question has closed by itself" in printed
    assert "resume command for bank" in printed
    assert '"method": "CancelTask"' in printed
    assert "all invariants hold" in printed


async def test_ctrl_c_takes_everything_down(bootstrap: str) -> None:
    """Interrupted in the middle, it stops its workers, removes its topics and exits as asked."""
    workers: list[int] = []

    def interrupt(line: str) -> None:
        workers.extend(int(pid) for pid in re.findall(r"worker \d, pid (\d+)", line))
        if "Six agents" in line:
            process.send_signal(signal.SIGINT)

    with demo(bootstrap) as process:
        printed = follow(process, interrupt)
        assert process.wait() == 130, printed
    assert len(workers) == 2
    assert not [pid for pid in workers if is_running(pid)]
    assert not await topics_of(bootstrap, printed)


def is_running(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True
