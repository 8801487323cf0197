"""What can be typed: commands, options, and the help that teaches them."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any, TypeAlias

from bridge.audit.invariants import INVARIANTS
from bridge.cli import typed

EXIT_CODES = """\
exit codes:
  0 done                      3 cluster or topics
  1 unexpected                4 answer not accepted (the verdict is printed), or
                                a promise that audit found broken
  2 usage or configuration    5 no verdict in time
                              6 shutdown deadline missed
"""

EXAMPLES = f"""\
examples:
  interrupt-bridge config check                      are the settings good?
  interrupt-bridge topics create                     make the bridge's topics
  interrupt-bridge run --config bridge.toml          start a worker; run as many as you like
  interrupt-bridge pending                           who waits for an answer?
  interrupt-bridge answer ID --payload '{{"approved": true}}' --by ann@example.org
  interrupt-bridge trace thread-1                    everything that happened on a thread
  interrupt-bridge audit                             does the log keep what the bridge promises?
  interrupt-bridge doctor                            what is wrong, and what to do about it

Settings come from --config, else $BRIDGE_CONFIG, else ./bridge.toml; every key also from the
environment, which wins: BRIDGE_KAFKA__BOOTSTRAP_SERVERS=127.0.0.1:9092

{EXIT_CODES}"""

Commands: TypeAlias = "argparse._SubParsersAction[argparse.ArgumentParser]"


class _Parser(argparse.ArgumentParser):
    """Its subparsers are of its kind. What one does not know it tells itself, with its usage.

    Else the outermost would, and its usage names no option of the command.
    """

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        known, left = super().parse_known_args(args, namespace)
        if left:
            self.error(f"unrecognized arguments: {' '.join(left)}")
        return known, left


def build() -> argparse.ArgumentParser:
    """The parser. A chosen command leaves `handler`: "module:function" to call with the rest."""
    parser: argparse.ArgumentParser = _Parser(
        prog="interrupt-bridge",
        description="Pending interrupts of agents on Kafka: approvals out, answers in, exactly one "
        "validated resume command.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="store_true", help="print the version")
    commands = parser.add_subparsers(metavar="COMMAND")
    _run(commands)
    _topics(commands)
    _config(commands)
    _pending(commands)
    _answer(commands)
    _withdraw(commands)
    _trace(commands)
    _audit(commands)
    _positions(commands)
    _deployment(commands)
    _doctor(commands)
    _schemas(commands)
    _demo(commands)
    return parser


def _command(
    commands: Commands, name: str, handler: str, text: str, example: str = ""
) -> argparse.ArgumentParser:
    epilog = f"example:\n  interrupt-bridge {example}\n" if example else None
    parser = commands.add_parser(
        name,
        help=text,
        description=text[0].upper() + text[1:] + ".",
        epilog=epilog,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--config", type=Path, metavar="FILE", help="settings in TOML")
    parser.add_argument("--verbose", action="store_true", help="log what the client says, too")
    parser.set_defaults(handler=handler)
    return parser


def _run(commands: Commands) -> None:
    text = "run a worker until SIGTERM or Ctrl-C"
    _command(commands, "run", "bridge.cli.run:run", text, "run --config bridge.toml")


def _topics(commands: Commands) -> None:
    topics = commands.add_parser("topics", help="create the bridge's topics, or check them")
    inner = topics.add_subparsers(metavar="COMMAND", required=True)
    create = _command(
        inner,
        "create",
        "bridge.cli.topics:create",
        "create the bridge's topics that are missing; what exists is left alone",
        "topics create --replication-factor 3",
    )
    create.add_argument(
        "--partitions", type=typed.count, metavar="N", help="instead of topics.partitions"
    )
    create.add_argument(
        "--replication-factor",
        type=typed.count,
        metavar="R",
        help="default: 3, or as many as brokers",
    )
    _command(
        inner,
        "check",
        "bridge.cli.topics:check",
        "compare the cluster's topics with what a worker needs, and say what mends them",
    )


def _config(commands: Commands) -> None:
    config = commands.add_parser("config", help="check or show the settings")
    inner = config.add_subparsers(metavar="COMMAND", required=True)
    _command(inner, "check", "bridge.cli.settings:check", "refuse or accept the settings")
    text = "print all settings as JSON, secrets masked"
    _command(inner, "show", "bridge.cli.settings:show", text)
    _command(inner, "path", "bridge.cli.settings:path", "print which file and variables are read")


def _pending(commands: Commands) -> None:
    parser = _command(
        commands,
        "pending",
        "bridge.cli.pending:run",
        "show the questions that wait for an answer, oldest first",
        "pending --json --source support-agents | jq .message",
    )
    parser.add_argument("--json", action="store_true", help="one Approval a line")
    parser.add_argument(
        "--watch", action="store_true", help="stay and follow; with --json every change"
    )
    parser.add_argument("--source", metavar="NAME", help="only of this source")


def _answer(commands: Commands) -> None:
    parser = _command(
        commands,
        "answer",
        "bridge.cli.answer:answer",
        "answer a pending question and wait for the verdict",
        """answer 6b1f6f2e-… --payload '{"approved": true}' --by ann@example.org""",
    )
    parser.add_argument("approval_id", type=typed.uuid, metavar="APPROVAL_ID")
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--payload", metavar="JSON", help="the answer, as the question's schema asks")
    what.add_argument("--payload-file", metavar="FILE", help="the same from a file; - is stdin")
    what.add_argument("--cancel", action="store_true", help="decline: the agent gets `cancelled`")
    parser.add_argument("--by", metavar="WHO", help="who answers")
    parser.add_argument("--comment", metavar="TEXT", help="kept beside the answer")
    parser.add_argument("--answer-id", metavar="ID", help="your key for sending it twice safely")
    parser.add_argument("--action", choices=("restart", "respond"), help="for Genkit tools")
    _wait(parser)


def _withdraw(commands: Commands) -> None:
    parser = _command(
        commands,
        "withdraw",
        "bridge.cli.answer:withdraw",
        "close the whole run of a question without resuming it",
        'withdraw 6b1f6f2e-… --reason "asked by mistake"',
    )
    parser.add_argument("approval_id", type=typed.uuid, metavar="APPROVAL_ID")
    parser.add_argument("--reason", required=True, metavar="TEXT")
    parser.add_argument("--by", metavar="WHO", help="who withdraws it")
    _wait(parser)


def _trace(commands: Commands) -> None:
    parser = _command(
        commands,
        "trace",
        "bridge.cli.trace:run",
        "tell the whole story of a thread from the topics, in order of time",
        "trace thread-1 --source support-agents",
    )
    parser.add_argument(
        "thread", metavar="THREAD", help="its id, or the id of one of its approvals"
    )
    parser.add_argument("--source", metavar="NAME", help="only as this source knows it")
    parser.add_argument("--json", action="store_true", help="one record a line, payloads included")


def _audit(commands: Commands) -> None:
    parser = _command(
        commands,
        "audit",
        "bridge.cli.audit:run",
        "judge the log by what the bridge promises, and say which promise it breaks",
        "audit --since 1d --json | jq '.invariants[].violations[]'",
    )
    promises = "\n".join(f"  {each.name:4}{each.promise}" for each in INVARIANTS)
    parser.epilog = f"promises:\n{promises}\n\n{parser.epilog}\n{EXIT_CODES}"
    parser.add_argument(
        "--since",
        type=typed.since,
        metavar="WHEN",
        help="an instant, or so long ago (1d): what began before is not judged",
    )
    parser.add_argument("--thread", metavar="THREAD", help="only this one, by its id")
    parser.add_argument("--json", action="store_true", help="as one JSON object")
    parser.add_argument(
        "--settle",
        type=typed.duration,
        default=typed.duration("10s"),
        metavar="TIME",
        help="what is younger is in flight, and not judged (default: 10s)",
    )
    parser.add_argument(
        "--max-records",
        type=typed.count,
        default=250_000,
        metavar="N",
        help="refuse to hold more in memory (default: 250000)",
    )


def _positions(commands: Commands) -> None:
    positions = commands.add_parser("positions", help="show where slots read, or move one on")
    inner = positions.add_subparsers(metavar="COMMAND", required=True)
    show = _command(
        inner,
        "show",
        "bridge.cli.positions:show",
        "show every input partition with its stored position, what it holds, and the lag",
    )
    show.add_argument("--json", action="store_true", help="one partition a line")
    skip = _command(
        inner,
        "skip",
        "bridge.cli.positions:skip",
        "move stored positions of a slot: those that are lost, or the one that is named",
        "positions skip --slot 3 --to earliest --yes",
    )
    skip.add_argument("--slot", type=typed.number, required=True, metavar="N")
    skip.add_argument("--topic", metavar="NAME", help="also where its position is not lost")
    skip.add_argument(
        "--partition", type=typed.number, metavar="P", help="only this one of the topic"
    )
    skip.add_argument(
        "--to",
        type=typed.target,
        required=True,
        metavar="WHERE",
        help="earliest, latest or an offset",
    )
    skip.add_argument("--yes", action="store_true", help="without it nothing is changed")


def _deployment(commands: Commands) -> None:
    deployment = commands.add_parser("deployment", help="whose the state is, or make it this one's")
    inner = deployment.add_subparsers(metavar="COMMAND", required=True)
    show = _command(
        inner,
        "show",
        "bridge.cli.deployment:show",
        "show to which deployment each slot belongs, and who is in the workers' group",
    )
    show.add_argument("--json", action="store_true", help="as one JSON object")
    adopt = _command(
        inner,
        "adopt",
        "bridge.cli.deployment:adopt",
        "take over slots of another app_id or reroute topic, or whose state is lost",
        "deployment adopt --yes",
    )
    adopt.add_argument(
        "--inputs",
        type=typed.start,
        metavar="WHERE",
        help="where a slot without its state reads on: earliest, latest or an instant",
    )
    adopt.add_argument("--yes", action="store_true", help="without it nothing is changed")


def _doctor(commands: Commands) -> None:
    parser = _command(
        commands,
        "doctor",
        "bridge.cli.doctor:run",
        "say whether all is well: cluster, rights, topics, workers, state, clock, every slot",
        "doctor --json | jq 'select(.grade != \"ok\")'",
    )
    parser.add_argument("--json", action="store_true", help="one finding a line")


def _schemas(commands: Commands) -> None:
    parser = commands.add_parser("schemas", help="list the records' schemas, or print one")
    parser.add_argument("name", nargs="?", metavar="NAME", help="such as approval")
    parser.set_defaults(handler="bridge.cli.schemas:run", verbose=False)


def _demo(commands: Commands) -> None:
    parser = commands.add_parser(
        "demo",
        help="play a story on real topics",
        description="Play a story on real topics: agents ask, people answer, a worker is killed. "
        "Starts a Kafka node and two workers of its own, and stops them. With "
        "BRIDGE_KAFKA__BOOTSTRAP_SERVERS set it plays on that cluster, on topics of its own.",
    )
    parser.add_argument("--interactive", action="store_true", help="you give the answers")
    parser.add_argument("--keep", action="store_true", help="leave all running until Ctrl-C")
    parser.set_defaults(handler="bridge.cli.demo:run", config=None, verbose=False)


def _wait(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--wait",
        type=typed.duration,
        default=typed.duration("30s"),
        metavar="TIME",
        help="for the verdict; 0s: do not wait (default: 30s)",
    )
