"""`answer` and `withdraw`: write the record, wait for its verdict, say what became of it."""

from __future__ import annotations

import argparse
import asyncio
import sys
import time
from pathlib import Path

import msgspec

from bridge.cli.settings import settings
from bridge.cli.verdicts import meaning
from bridge.config import Config
from bridge.core import json_text
from bridge.core.durations import format_duration
from bridge.core.ids import home_of_id
from bridge.core.model import Origin
from bridge.errors import ConfigError
from bridge.kafka.post import post
from bridge.kafka.reader import Reader, partition_counts, reading
from bridge.observe.logs import escape
from bridge.records import Answer, AnswerVerdict, NotARecord, Operation, decode, encode
from bridge.records.topics import Role

NOT_ACCEPTED = 4
NO_VERDICT = 5

# `duplicate` says that this very answer was accepted before: whoever sends it again is done.
_DONE = frozenset({"accepted", "duplicate"})


def answer(arguments: argparse.Namespace) -> int:
    """Send an answer. 0 accepted (or accepted before), 4 not accepted, 5 no verdict in time."""
    made = Answer(
        approval_id=str(arguments.approval_id),
        status="cancelled" if arguments.cancel else "resolved",
        payload=None if arguments.cancel else payload(arguments),
        answer_id=arguments.answer_id,
        answered_by=arguments.by,
        comment=arguments.comment,
        action=arguments.action,
    )
    return asyncio.run(send(settings(arguments), "answers", made, arguments.wait))


def withdraw(arguments: argparse.Namespace) -> int:
    """Close the run of a question. Exit codes as of `answer`."""
    made = Operation(
        op="withdraw",
        approval_id=str(arguments.approval_id),
        reason=arguments.reason,
        by=arguments.by,
    )
    return asyncio.run(send(settings(arguments), "operations", made, arguments.wait))


def payload(arguments: argparse.Namespace) -> msgspec.Raw:
    """The payload's own text: parsed to refuse it here, never written anew. Raises ConfigError."""
    option, file = "--payload", arguments.payload_file
    if file is None:
        text = arguments.payload.encode()
    else:
        option = "--payload-file"
        try:
            text = sys.stdin.buffer.read() if file == "-" else Path(file).read_bytes()
        except OSError as error:
            raise ConfigError(f"{option}: {file}: {error.strerror}") from error
    try:
        json_text.read(text)
    except json_text.JsonError as error:
        raise ConfigError(f"{option}: {error}; write JSON, such as '{{\"ok\": true}}'") from None
    return msgspec.Raw(text)


async def send(config: Config, role: Role, made: Answer | Operation, wait: float) -> int:
    """Write the record, and say its verdict. The exit code."""
    client, topic = config.kafka.client_kwargs(), config.topics.names()[role]
    partitions = (await partition_counts(client, topic))[topic]
    assert made.approval_id is not None
    # An approval id begins with its thread's hash: this partition needs no hop to the home slot.
    partition, key = home_of_id(made.approval_id, partitions), made.approval_id.encode()
    text = encode(made).value or b""
    if not wait:
        print(f"sent: {await post(client, topic, key, text, partition)}")
        return 0
    # The verdicts' end is fixed before the answer goes out, so its verdict cannot be missed.
    async with reading(client, config.topics.names()["answer-verdicts"], start="end") as reader:
        sent = await post(client, topic, key, text, partition)
        verdict = await _verdict_on(sent, reader, wait)
    if verdict is None:
        _say_none_came(config, role, sent)
        return NO_VERDICT
    still_open = "" if verdict.open is None else f" ({verdict.open} of the run still open)"
    means = meaning(verdict.verdict, of_operation=role == "operations")
    print(f"{escape(verdict.verdict)}{still_open}{means}")
    for problem in verdict.problems:
        print(f"  {escape(problem.path) or '(payload)'}: {escape(problem.message)}")
    return 0 if verdict.verdict in _DONE else NOT_ACCEPTED


async def _verdict_on(sent: Origin, reader: Reader, wait: float) -> AnswerVerdict | None:
    deadline = time.monotonic() + wait
    while (left := deadline - time.monotonic()) > 0:
        for record in await reader.poll(min(left, 1.0)):
            try:
                verdict = decode(AnswerVerdict, record)
            except NotARecord:
                continue  # a foreign writer's: not the verdict we wait for
            if verdict is not None and str(verdict.origin) == str(sent):
                return verdict
    return None


def _say_none_came(config: Config, role: Role, sent: Origin) -> None:
    print(f"no verdict on {sent} in time. It was written and is not lost.", file=sys.stderr)
    if role == "answers":
        # As workers do with an answer that names no source: the longest of any.
        waits = [source.early_answer_ttl for source in config.sources]
        patience = max(waits, default=config.policy.early_answer_ttl)
        print(
            "Was the question asked yet? If not, the answer waits for it, and gets `unknown` "
            f"after early_answer_ttl ({format_duration(patience)}).",
            file=sys.stderr,
        )
    print("Else: is a worker running? Sending the same again is safe.", file=sys.stderr)
