"""Where a command's words go: a terminal, a pipe, a file, and what each of them cannot take."""

from __future__ import annotations

import errno
import io
import os
import sys
from typing import Final, TextIO

from bridge.errors import BridgeError

_NO_ROOM: Final = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO)


class OutputFailed(BridgeError):
    """What the command had to say found no room; what it did is done."""

    code = "output"


def prepare() -> None:
    """Let every stream take every character: what it has no letter for goes out as an escape."""
    sys.stdout = sys.stdout or _nowhere()  # None: started with the stream closed
    sys.stderr = sys.stderr or _nowhere()
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def failure(error: OSError) -> OutputFailed | None:
    """What an error of writing means; None for one that is not of writing."""
    if error.errno not in _NO_ROOM:
        return None
    return OutputFailed(
        f"the output could not be written ({error.strerror}): make room, or send it elsewhere"
    )


def give_up(stream: TextIO) -> None:
    """Drop what is buffered, so that nothing is tried again at exit."""
    with _nowhere() as nowhere:
        os.dup2(nowhere.fileno(), stream.fileno())


def _nowhere() -> TextIO:
    return os.fdopen(os.open(os.devnull, os.O_WRONLY), "w")
