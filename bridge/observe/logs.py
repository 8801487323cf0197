"""Logs: one JSON object a line, or plain coloured lines where a person looks on.

Whatever a message holds stays on its line: controls, ANSI sequences and bidirectional marks are
escaped. Payloads never come here; what is said about a record is its place.
"""

from __future__ import annotations

import json
import logging
import sys
import time
import unicodedata
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any, Literal, TextIO

Format = Literal["auto", "json", "text"]

OWN = "bridge"
CLIENT = "aiokafka"
"""The loggers that a level opens. Every other library tells its warnings and nothing else."""

REPEAT_SECONDS = 10.0
"""The same warning of a library, whatever its numbers, is only counted within this time."""
OWN_REPEAT_SECONDS = 60.0
"""So is a warning of our own that is the same word for word, slot and all."""
MOST_REPEATS = 256
"""So many warnings are remembered: libraries also log texts that differ every time."""

_STANDARD = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime", "taskName"}
_COLOURS = {"DEBUG": "2", "INFO": "36", "WARNING": "33", "ERROR": "31", "CRITICAL": "41"}


def configure(
    level: str,
    form: Format = "auto",
    stream: TextIO | None = None,
) -> None:
    """Make this process log to `stream` (stderr by default); call it once, in a command."""
    out = stream or sys.stderr
    plain = form == "text" or (form == "auto" and out.isatty())
    handler = logging.StreamHandler(out)
    handler.setFormatter(TextFormatter(colour=out.isatty()) if plain else JsonFormatter())
    handler.addFilter(Repeats())
    # Whatever is not named below: what a library thinks worth debugging may be what it carries.
    logging.basicConfig(level="WARNING", handlers=[handler], force=True)
    logging.getLogger(OWN).setLevel(level.upper())
    # Never DEBUG: there the client logs each request as it goes out, the SASL PLAIN password and
    # whole records with it. Never above WARNING: why a start failed stands there, and only there.
    logging.getLogger(CLIENT).setLevel("INFO" if level == "debug" else "WARNING")


class JsonFormatter(logging.Formatter):
    """time, level, logger, message, then the record's extras, then `exception`."""

    def format(self, record: logging.LogRecord) -> str:
        line: dict[str, Any] = {
            "time": _instant(record.created),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
            **_extras(record),
        }
        if record.exc_info:
            line["exception"] = self.formatException(record.exc_info)
        # ASCII only, so every control, ANSI or bidirectional character leaves as \u escape.
        return json.dumps(line, ensure_ascii=True, default=str)


class TextFormatter(logging.Formatter):
    """A line for a person: time, level, message, extras; a traceback follows on its own lines."""

    def __init__(self, colour: bool) -> None:
        super().__init__()
        self._colour = colour

    def format(self, record: logging.LogRecord) -> str:
        extras = " ".join(f"{key}={value}" for key, value in _extras(record).items())
        level = f"{record.levelname:<7}"
        if self._colour:
            level = f"\x1b[{_COLOURS.get(record.levelname, '0')}m{level}\x1b[0m"
        text = escape(f"{record.getMessage()} {extras}".rstrip())
        line = f"{_instant(record.created)[11:23]} {level} {text}"
        if record.exc_info:
            trace = self.formatException(record.exc_info).splitlines()
            line += "".join(f"\n  {escape(part)}" for part in trace)
        return line


class Repeats(logging.Filter):
    """Lets the same warning through once in a while, then tells how often it came.

    While a broker is away aiokafka logs every attempt to reach it, ten times a second, and a slot
    each of its openings: for as long as it takes, with a disk that is finite.
    """

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        super().__init__()
        self._now = now
        # The one that was let through longest ago comes first.
        self._seen: dict[tuple[str, ...], tuple[float, int]] = {}

    @property
    def remembered(self) -> int:
        """How many warnings are remembered."""
        return len(self._seen)

    def filter(self, record: logging.LogRecord) -> bool:
        if record.levelno < logging.WARNING:
            return True
        own = record.name.split(".", 1)[0] == OWN
        pause = OWN_REPEAT_SECONDS if own else REPEAT_SECONDS
        key = _words(record) if own else (record.name, str(record.msg))
        since, held_back = self._seen.get(key, (-pause, 0))
        if self._now() - since < pause:
            self._seen[key] = (since, held_back + 1)
            return False
        self._seen.pop(key, None)
        if len(self._seen) >= MOST_REPEATS:
            del self._seen[next(iter(self._seen))]
        self._seen[key] = (self._now(), 0)
        if held_back:
            record.repeated = held_back
        return True


def _words(record: logging.LogRecord) -> tuple[str, ...]:
    error = record.exc_info[1] if record.exc_info else None
    return (record.name, record.getMessage(), str(_extras(record)), repr(error))


def escape(text: str) -> str:
    """The text with every control, format and bidirectional character as an escape."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(
        char if char.isprintable() and unicodedata.category(char) != "Cf" else _escaped(char)
        for char in text
    )


def _escaped(char: str) -> str:
    code = ord(char)
    return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"


def _extras(record: logging.LogRecord) -> dict[str, Any]:
    return {key: value for key, value in vars(record).items() if key not in _STANDARD}


def _instant(seconds: float) -> str:
    moment = datetime.fromtimestamp(seconds, UTC)
    return moment.strftime("%Y-%m-%dT%H:%M:%S.") + f"{moment.microsecond // 1000:03d}Z"
