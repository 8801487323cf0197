"""Which commands there are: their names, options and examples, as one table.

A new command is a row here, and a function for it: `handler` is "module:function".
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from bridge.audit.invariants import INVARIANTS
from bridge.cli import typed

EXIT_CODES: Final = """\
exit codes:
  0 done                      3 cluster or topics
  1 unexpected                4 answer not accepted (the verdict is printed), or
                                a promise that audit found broken
  2 usage or configuration    5 no verdict in time
                              6 shutdown deadline missed
"""


class Option(NamedTuple):
    """What `add_argument` takes."""

    name: str
    how: dict[str, Any]


def option(name: str, **how: Any) -> Option:
    """An option, or without hyphens an argument."""
    return Option(name, how)


def flag(name: str, text: str) -> Option:
    """An option that is there or not."""
    return Option(name, {"action": "store_true", "help": text})


@dataclass(frozen=True, slots=True)
class Command:
    """One that can be typed. `name` may be two words: the first is a group of `GROUPS`."""

    name: str
    handler: str
    help: str
    options: tuple[Option, ...] = ()
    either: tuple[Option, ...] = ()
    """Exactly one of these is needed."""
    example: str = ""
    description: str = ""
    """Else the help text is also that."""
    more: str = ""
    """What help says before the example."""
    after: str = ""
    """And behind it."""
    reads_settings: bool = True
    """Whether it takes --config and --verbose."""


GROUPS: Final = {
    "topics": "create the bridge's topics, or check them",
    "config": "check or show the settings",
    "positions": "show where slots read, or move one on",
    "deployment": "whose the state is, or make it this one's",
}

APPROVAL_ID: Final = option("approval_id", type=typed.uuid, metavar="APPROVAL_ID")
YES: Final = flag("--yes", "without it nothing is changed")
WAIT: Final = option(
    "--wait",
    type=typed.duration,
    default=typed.duration("30s"),
    metavar="TIME",
    help="for the verdict; 0s: do not wait (default: 30s)",
)

PROMISES: Final = "\n".join(f"  {each.name:4}{each.promise}" for each in INVARIANTS)

COMMANDS: Final = (
    Command(
        "run",
        "bridge.cli.run:run",
        "run a worker until SIGTERM or Ctrl-C",
        example="run --config bridge.toml",
    ),
    Command(
        "topics create",
        "bridge.cli.topics:create",
        "create the bridge's topics that are missing; what exists is left alone",
        (
            option(
                "--partitions", type=typed.count, metavar="N", help="instead of topics.partitions"
            ),
            option(
                "--replication-factor",
                type=typed.count,
                metavar="R",
                help="default: 3, or as many as brokers",
            ),
        ),
        example="topics create --replication-factor 3",
    ),
    Command(
        "topics check",
        "bridge.cli.topics:check",
        "compare the cluster's topics with what a worker needs, and say what mends them",
    ),
    Command("config check", "bridge.cli.settings:check", "refuse or accept the settings"),
    Command(
        "config show", "bridge.cli.settings:show", "print all settings as JSON, secrets masked"
    ),
    Command("config path", "bridge.cli.settings:path", "print which file and variables are read"),
    Command(
        "pending",
        "bridge.cli.pending:run",
        "show the questions that wait for an answer, oldest first",
        (
            flag("--json", "one Approval a line"),
            flag("--watch", "stay and follow; with --json every change"),
            option("--source", metavar="NAME", help="only of this source"),
        ),
        example="pending --json --source support-agents | jq .message",
    ),
    Command(
        "answer",
        "bridge.cli.answer:answer",
        "answer a pending question and wait for the verdict",
        (
            APPROVAL_ID,
            option("--by", metavar="WHO", help="who answers"),
            option("--comment", metavar="TEXT", help="for people, beside the answer"),
            option("--answer-id", metavar="ID", help="your key for sending it twice safely"),
            option("--action", choices=("restart", "respond"), help="for Genkit tools"),
            WAIT,
        ),
        either=(
            option("--payload", metavar="JSON", help="the answer, as the question's schema asks"),
            option("--payload-file", metavar="FILE", help="the same from a file; - is stdin"),
            flag("--cancel", "decline: the agent gets `cancelled`"),
        ),
        example="""answer 6b1f6f2e-… --payload '{"approved": true}' --by ann@example.org""",
    ),
    Command(
        "withdraw",
        "bridge.cli.answer:withdraw",
        "close the whole run of a question without resuming it",
        (
            APPROVAL_ID,
            option("--reason", required=True, metavar="TEXT"),
            option("--by", metavar="WHO", help="who withdraws it"),
            WAIT,
        ),
        example='withdraw 6b1f6f2e-… --reason "asked by mistake"',
    ),
    Command(
        "trace",
        "bridge.cli.trace:run",
        "tell the whole story of a thread from the topics, in order of time",
        (
            option("thread", metavar="THREAD", help="its id, or the id of one of its approvals"),
            option("--source", metavar="NAME", help="only as this source knows it"),
            flag("--json", "one record a line, payloads included"),
        ),
        example="trace thread-1 --source support-agents",
    ),
    Command(
        "audit",
        "bridge.cli.audit:run",
        "judge the log by what the bridge promises, and say which promise it breaks",
        (
            option(
                "--since",
                type=typed.since,
                metavar="WHEN",
                help="an instant, or so long ago (1d): what began before is not judged",
            ),
            option("--thread", metavar="THREAD", help="only this one, by its id"),
            flag("--json", "as one JSON object"),
            option(
                "--settle",
                type=typed.duration,
                default=typed.duration("10s"),
                metavar="TIME",
                help="what is younger is in flight, and not judged (default: 10s)",
            ),
            option(
                "--max-records",
                type=typed.count,
                default=250_000,
                metavar="N",
                help="refuse to hold more in memory (default: 250000)",
            ),
        ),
        example="audit --since 1d --json | jq '.invariants[].violations[]'",
        more=f"promises:\n{PROMISES}\n\n",
        after=f"\n{EXIT_CODES}",
    ),
    Command(
        "positions show",
        "bridge.cli.positions:show",
        "show every input partition with its stored position, what it holds, and the lag",
        (flag("--json", "one partition a line"),),
    ),
    Command(
        "positions skip",
        "bridge.cli.positions:skip",
        "move stored positions of a slot: those that are lost, or the one that is named",
        (
            option("--slot", type=typed.number, required=True, metavar="N"),
            option("--topic", metavar="NAME", help="also where its position is not lost"),
            option(
                "--partition", type=typed.number, metavar="P", help="only this one of the topic"
            ),
            option(
                "--to",
                type=typed.target,
                required=True,
                metavar="WHERE",
                help="earliest, latest or an offset",
            ),
            YES,
        ),
        example="positions skip --slot 3 --to earliest --yes",
    ),
    Command(
        "deployment show",
        "bridge.cli.deployment:show",
        "show to which deployment each slot belongs, and who is in the workers' group",
        (flag("--json", "as one JSON object"),),
    ),
    Command(
        "deployment adopt",
        "bridge.cli.deployment:adopt",
        "take over slots of another app_id or reroute topic, or whose state is lost",
        (
            option(
                "--inputs",
                type=typed.start,
                metavar="WHERE",
                help="where a slot without its state reads on: earliest, latest or an instant",
            ),
            YES,
        ),
        example="deployment adopt --yes",
    ),
    Command(
        "doctor",
        "bridge.cli.doctor:run",
        "say whether all is well: cluster, rights, topics, workers, state, clock, every slot",
        (flag("--json", "one finding a line"),),
        example="doctor --json | jq 'select(.grade != \"ok\")'",
    ),
    Command(
        "schemas",
        "bridge.cli.schemas:run",
        "list the records' schemas, or print one",
        (option("name", nargs="?", metavar="NAME", help="such as approval"),),
        reads_settings=False,
    ),
    Command(
        "demo",
        "bridge.cli.demo:run",
        "play a story on real topics",
        (
            flag("--interactive", "you give the answers"),
            flag("--keep", "leave all running until Ctrl-C"),
        ),
        description="Play a story on real topics: agents ask, people answer, a worker is killed.\n"
        "Starts a Kafka node and two workers of its own, and stops them. With\n"
        "BRIDGE_KAFKA__BOOTSTRAP_SERVERS set it plays on that cluster, on topics of its\nown.",
        reads_settings=False,
    ),
)
