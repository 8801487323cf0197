"""What the README says is there: commands, settings, metrics, verdicts, records, files."""

from __future__ import annotations

import argparse
import json
import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import get_args

import pytest
from prometheus_client.parser import text_string_to_metric_families

from bridge import errors
from bridge.cli import parser
from bridge.config import ROLES, Topics, load
from bridge.core.model import Answer, Interrupted, Limits, Origin, Reason, Verdict
from bridge.core.record import Record
from bridge.kafka.rights import of_worker
from bridge.kafka.topics import NEEDS
from bridge.observe.metrics import Metrics
from bridge.protocols import PROTOCOLS
from bridge.records.answers import read_answer
from tests.unit.readme_tables import config_keys

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text("utf-8")
RUNBOOKS = sorted((ROOT / "deploy" / "runbooks").glob("*.md"))
RULES = (ROOT / "deploy" / "prometheus" / "rules.yml").read_text("utf-8")
PAGES = {"README.md": README} | {page.name: page.read_text("utf-8") for page in RUNBOOKS}
METRIC = re.compile(r"\binterrupt_bridge_[a-z_]+\b")


def section(title: str) -> str:
    """The text under a heading of any level, to the next one of the same or a higher level."""
    found = re.search(
        rf"^(#+) {re.escape(title)}\n(.*?)(?=^#{{1,3}} [A-Z]|\Z)", README, re.M | re.S
    )
    assert found, title
    return found[2]


def blocks(text: str, language: str) -> list[str]:
    """Fenced blocks of a language."""
    return re.findall(rf"^```{language}\n(.*?)^```", text, re.M | re.S)


def rows(text: str) -> list[list[str]]:
    """The cells of a table's rows, its heading left out."""
    lines = [line for line in text.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[2:]]


def code(cell: str) -> str:
    """The text of a cell that is code."""
    return cell.strip("`")


# --- Settings ----------------------------------------------------------------------------------


def test_every_setting_is_in_the_table_with_its_default() -> None:
    """And nothing that is none."""
    table = {code(key): default for key, default, _ in rows(section("Configuration"))}
    assert table == config_keys()


def test_every_protocol_is_named() -> None:
    """A release that reads another one must say so, there and in what it does not do."""
    (told,) = [row[2] for row in rows(section("Configuration")) if row[0] == "`sources[].protocol`"]
    assert set(re.findall(r"`([^`]+)`", told)) == set(PROTOCOLS)


@pytest.mark.parametrize("text", blocks(README, "toml"))
def test_settings_shown_are_accepted(text: str, tmp_path: Path) -> None:
    """What people copy must load."""
    file = tmp_path / "bridge.toml"
    file.write_text(text)
    load(file, {}).require_sources()


# --- Commands ----------------------------------------------------------------------------------


def commands(tree: argparse.ArgumentParser) -> dict[str, argparse.ArgumentParser]:
    """The subcommands of a parser by name."""
    (action,) = [a for a in tree._actions if isinstance(a, argparse._SubParsersAction)]
    return dict(action.choices)


def shown() -> Iterator[str]:
    """The command lines in blocks and running text."""
    for text in PAGES.values():
        for block in blocks(text, "sh"):
            yield from (line for line in block.splitlines() if line.startswith("interrupt-bridge"))
        yield from re.findall(r"`(interrupt-bridge [^`]+)`", re.sub(r"\s+", " ", text))


@pytest.mark.parametrize("line", sorted(set(shown())))
def test_command_lines_can_be_typed(line: str) -> None:
    """Options included; an id stands for ID, any word for another placeholder."""
    words = shlex.split(line.replace("…", "why"), comments=True)[1:]
    if len(words) == 1 and words[0] in {"answer", "withdraw"}:
        assert words[0] in commands(parser.build())
        return
    uuid = "faf6703e-aba3-8201-b3a3-5057f251dd62"
    parser.build().parse_args([uuid if word == "ID" else word for word in words])


def test_every_command_is_shown() -> None:
    """Nothing is left for people to find out."""
    for name, command in commands(parser.build()).items():
        nested = [a for a in command._actions if isinstance(a, argparse._SubParsersAction)]
        for path in [f"{name} {inner}" for inner in nested[0].choices] if nested else [name]:
            asked = f"make {path}" if path == "demo" else f"interrupt-bridge {path}"
            assert asked in README, path


def test_make_targets_exist() -> None:
    """Those that are named."""
    makefile = (ROOT / "Makefile").read_text("utf-8")
    for target in re.findall(r"\bmake ([a-z]+)\b", "\n".join(blocks(README, "sh"))):
        assert re.search(rf"^{target}:", makefile, re.M), target


def test_exit_codes_are_those_of_the_commands() -> None:
    """The same as `--help` tells, and as the errors have."""
    table = {int(number) for number, _ in rows(section("Exit codes"))}
    told = {int(number) for number in re.findall(r"\b(\d) [a-z]", parser.EXIT_CODES)}
    kinds = [kind for kind in vars(errors).values() if isinstance(kind, type)]
    raised = {kind.exit_code for kind in kinds if issubclass(kind, errors.BridgeError)}
    assert table == told
    assert raised <= table


# --- Metrics and alerts --------------------------------------------------------------------------


def metrics() -> set[str]:
    """The names that a scrape shows, without what a histogram or counter adds to its name."""
    families = text_string_to_metric_families(Metrics("0").exposition().decode())
    names = {f"{f.name}_total" if f.type == "counter" else f.name for f in families}
    return {name for name in names if not name.endswith("_created")}


def test_the_table_has_every_metric_and_no_other() -> None:
    """By the name that Prometheus stores."""
    table = {code(name) for name, _, _ in rows(section("Metrics and alerts"))}
    assert table == metrics()


@pytest.mark.parametrize("page", [*PAGES, "rules.yml"])
def test_metrics_that_are_named_exist(page: str) -> None:
    """A misspelt metric raises no alert, ever."""
    text = RULES if page == "rules.yml" else PAGES[page]
    assert set(METRIC.findall(text)) <= metrics()


def test_every_alert_has_its_runbook() -> None:
    """And every runbook its alert."""
    named = re.findall(r"runbook: runbooks/([\w-]+\.md)", RULES)
    assert len(named) == RULES.count("- alert:")
    assert set(named) == {page.name for page in RUNBOOKS}


# --- Records and topics --------------------------------------------------------------------------


def test_every_verdict_is_explained() -> None:
    """With what its sender does."""
    told = [code(row[0]) for row in rows(section("Verdicts, and what a sender does"))]
    assert sorted(told) == sorted(get_args(Verdict))


def test_every_reason_of_a_dead_letter_is_named() -> None:
    """In the section that people come to from an alert."""
    assert set(get_args(Reason)) == set(re.findall(r"`([a-z_]+)`", section("Dead letters")))


def test_the_topics_are_those_that_are_created() -> None:
    """Under their default names, with their cleanup policies."""
    table = {code(topic): cleanup for topic, _, _, cleanup, _ in rows(section("Topics"))[1:]}
    assert table.keys() == {Topics().name(role) for role in ROLES}
    for role in ROLES:
        need, cleanup = NEEDS[role], table[f"bridge.{role}"]
        days = "" if need.retention is None else f", {need.retention // 86_400_000} days"
        assert cleanup == need.cleanup + days


def test_the_event_shown_asks_what_the_approval_shown_says() -> None:
    """The example is one story."""
    (event,) = blocks(section("Run it for real"), "json")
    (approval,) = blocks(section("Approval"), "json")
    record = Record(event.encode(), b"thread-1", (), Origin("t", 0, 0, 0))
    asked, *_ = PROTOCOLS["ag-ui"].read(record, "support-agents", Limits()).inputs
    assert isinstance(asked, Interrupted)
    told = json.loads(approval)
    assert asked.questions[told["index"]].message == told["message"]
    assert len(asked.questions) == told["total"]


def test_the_answer_shown_is_read() -> None:
    """By the bridge's own reader."""
    (answer,) = blocks(section("Answer"), "json")
    record = Record(answer.encode(), None, (), Origin("t", 0, 0, 0))
    assert isinstance(read_answer(record, Limits()), Answer)


def test_files_and_headings_that_are_linked_exist() -> None:
    """Links and paths in code."""
    headings = {re.sub(r"[^\w -]", "", h).lower().replace(" ", "-") for h in titles()}
    assert set(re.findall(r"\]\(#([\w-]+)\)", README)) <= headings
    for path in re.findall(r"`((?:deploy|schemas|tests)/[\w./-]+)`", README):
        assert (ROOT / path).exists(), path


def titles() -> list[str]:
    """All headings."""
    return re.findall(r"^#+ (.+)$", README, re.M)


def test_the_rights_of_the_readme_are_those_that_are_checked(tmp_path: Path) -> None:
    """Its commands, read as a shell would, grant exactly the list of a worker."""
    text = section("Run it for real")
    settings = next(
        block for block in re.findall(r"```toml\n(.*?)```", text, re.S) if "sasl" in block
    )
    (tmp_path / "bridge.toml").write_text(settings, "utf-8")
    needed = of_worker(load(tmp_path / "bridge.toml"))
    granted = set()
    for line in section("Rights").replace("\\\n", " ").splitlines():
        if not line.startswith("$acls $may "):
            continue
        words = shlex.split(line)[2:]
        options = list(zip(words[::2], words[1::2], strict=True))
        prefixed = ("--resource-pattern-type", "prefixed") in options
        resources = [
            pair for pair in options if pair[0] in ("--topic", "--group", "--transactional-id")
        ]
        for kind, name in resources:
            for option, operation in options:
                if option == "--operation":
                    granted.add((operation, kind[2:], name, prefixed))
    assert granted == {(r.operation, r.kind, r.name, r.prefixed) for r in needed.needed}
    assert needed.principal.name == "User:interrupt-bridge"
