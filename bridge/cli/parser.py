"""What can be typed, as a parser: the table of commands, and the help that teaches them."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from bridge.cli.commands import COMMANDS, EXIT_CODES, GROUPS, Command

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
    groups: dict[str, Any] = {}
    for command in COMMANDS:
        group, _, name = command.name.rpartition(" ")
        if group and group not in groups:
            inner = commands.add_parser(group, help=GROUPS[group])
            groups[group] = inner.add_subparsers(metavar="COMMAND", required=True)
        add(groups[group] if group else commands, name, command)
    return parser


def add(commands: Any, name: str, command: Command) -> None:
    """Let the command be typed, by that name among `commands`."""
    text = command.help
    example = f"example:\n  interrupt-bridge {command.example}\n" if command.example else ""
    parser = commands.add_parser(
        name,
        help=text,
        description=command.description or f"{text[0].upper()}{text[1:]}.",
        epilog=command.more + example + command.after or None,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    if command.reads_settings:
        parser.add_argument("--config", type=Path, metavar="FILE", help="settings in TOML")
        parser.add_argument("--verbose", action="store_true", help="log what the client says, too")
    if command.either:
        one = parser.add_mutually_exclusive_group(required=True)
        for option in command.either:
            one.add_argument(option.name, **option.how)
    for option in command.options:
        parser.add_argument(option.name, **option.how)
    # A command without settings has what the entry point asks every command for.
    none = {} if command.reads_settings else {"config": None, "verbose": False}
    parser.set_defaults(handler=command.handler, **none)
