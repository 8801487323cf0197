"""Logs: one line a record whatever it holds, and no floods."""

from __future__ import annotations

import io
import json
import logging
import sys
from collections.abc import Iterator

import pytest

from bridge.observe import logs

HOSTILE = 'x"\n{"level":"info"}\r\x1b[31mred\u202eevil\u2028\u0000'


def record(
    message: str = "moved", name: str = "bridge.x", level: int = logging.INFO, **extra: object
) -> logging.LogRecord:
    made = logging.LogRecord(name, level, "f.py", 1, message, (), None)
    vars(made).update(extra)
    return made


def test_a_json_line_has_its_extras_as_members() -> None:
    line = json.loads(logs.JsonFormatter().format(record(slot=3)))
    assert line["message"] == "moved"
    assert (line["level"], line["logger"], line["slot"]) == ("info", "bridge.x", 3)
    assert line["time"].endswith("Z")


def test_hostile_text_stays_one_ascii_line() -> None:
    text = logs.JsonFormatter().format(record(HOSTILE, thread=HOSTILE))
    assert text.isascii()
    assert text.isprintable()
    assert json.loads(text)["message"] == HOSTILE


@pytest.mark.parametrize("colour", [True, False])
def test_a_persons_line_escapes_what_could_deceive(colour: bool) -> None:
    text = logs.TextFormatter(colour).format(record(HOSTILE, thread_id=HOSTILE))
    body = text.split("x", 1)[1]
    assert "\\u001b[31mred\\u202eevil\\u2028" in body
    assert "\n" not in body
    assert "\x1b" not in body


def test_ordinary_text_of_any_language_is_left_alone() -> None:
    assert logs.escape("Grüße, タスク 🚀") == "Grüße, タスク 🚀"


def test_an_exception_is_part_of_its_line() -> None:
    try:
        raise ValueError("broken")
    except ValueError:
        made = record()
        made.exc_info = sys.exc_info()
    line = logs.JsonFormatter().format(made)
    assert "\n" not in line
    assert "ValueError: broken" in json.loads(line)["exception"]


def test_a_clients_repeats_are_counted_not_logged() -> None:
    now = 0.0
    repeats = logs.Repeats(now=lambda: now)
    client = [record("no %s", "aiokafka.conn", logging.WARNING) for _ in range(5)]
    assert [repeats.filter(each) for each in client[:4]] == [True, False, False, False]
    now = logs.REPEAT_SECONDS
    assert repeats.filter(client[4])
    assert vars(client[4])["repeated"] == 3


def test_our_own_lines_are_kept_back_where_they_are_the_same_word_for_word() -> None:
    """Other numbers, another slot or an information are news; the same again is one a minute."""
    now = 0.0
    repeats = logs.Repeats(now=lambda: now)

    def passes(
        text: str, level: int = logging.WARNING, slot: int = 0, error: Exception | None = None
    ) -> bool:
        each = record(text, "bridge.kafka.slot", level, slot=slot)
        each.exc_info = None if error is None else (type(error), error, None)
        return repeats.filter(each)

    assert passes("opens again: no broker")
    assert not passes("opens again: no broker")
    assert passes("opens again: no broker", slot=1)
    assert passes("opens again: fenced")
    assert passes("opens again: no broker", error=ValueError("first"))
    assert passes("opens again: no broker", error=ValueError("second"))
    assert not passes("opens again: no broker", error=ValueError("second"))
    assert all(passes("slot opened", logging.INFO) for _ in range(3))
    now = logs.REPEAT_SECONDS
    assert not passes("opens again: no broker")
    now = logs.OWN_REPEAT_SECONDS
    assert passes("opens again: no broker")


@pytest.mark.parametrize("name", ["asyncio", "bridge.kafka"])
def test_what_is_remembered_of_warnings_is_bounded(name: str) -> None:
    """Some texts differ every time; what is said again and again is remembered all the same."""
    now = 0.0
    repeats = logs.Repeats(now=lambda: now)
    for number in range(10_000):
        now += 1
        repeats.filter(record(f"task {number} was never awaited", name, logging.WARNING))
        again = repeats.filter(record("no broker", name, logging.WARNING))
        assert again == (number % (60 if name == "bridge.kafka" else 10) == 0)
    assert repeats.remembered <= logs.MOST_REPEATS


@pytest.fixture
def out(monkeypatch: pytest.MonkeyPatch) -> Iterator[io.StringIO]:
    """A stream to configure; the suite's own logging is as before afterwards."""
    loggers = [logging.getLogger(name) for name in (None, logs.OWN, logs.CLIENT)]
    levels = [logger.level for logger in loggers]
    monkeypatch.setattr(logging.getLogger(), "handlers", [])
    yield io.StringIO()
    for logger, level in zip(loggers, levels, strict=True):
        logger.setLevel(level)


def test_configure_sends_everything_to_one_stream(out: io.StringIO) -> None:
    logs.configure("warning", stream=out)
    logging.getLogger("bridge.t").warning("seen", extra={"slot": 1})
    logging.getLogger("bridge.t").info("unseen")
    (line,) = out.getvalue().splitlines()
    assert json.loads(line)["slot"] == 1


def test_a_clients_small_talk_is_for_debugging(out: io.StringIO) -> None:
    client = logging.getLogger("aiokafka.consumer")
    logs.configure("info", stream=out)
    client.info("unseen")
    client.warning("seen")
    logs.configure("debug", stream=out)
    client.info("seen too")
    messages = [json.loads(line)["message"] for line in out.getvalue().splitlines()]
    assert messages == ["seen", "seen too"]


def test_no_level_opens_what_a_library_carries(out: io.StringIO) -> None:
    """The client's own debug lines hold requests: passwords and records. So may any library's."""
    logs.configure("debug", stream=out)
    for name in ("aiokafka.conn", "aiokafka.consumer.fetcher", "asyncio", "some.library"):
        assert not logging.getLogger(name).isEnabledFor(logging.DEBUG), name
    assert logging.getLogger("bridge.kafka.slot").isEnabledFor(logging.DEBUG)
