"""Topics, verdicts, reasons and rights stand in the docs as they stand in the code."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path
from typing import get_args

from bridge.config import Topics, load
from bridge.core.model import ClosedReason, Reason, Status, Verdict
from bridge.kafka.rights import of_worker
from bridge.records.topics import ROLES, TOPICS
from tests.unit.books.pages import ROOT, blocks, code, rows, section, tables


def test_every_verdict_is_explained() -> None:
    """With what its sender does."""
    table = rows(section("docs/verdicts.md", "Verdicts, and what a sender does"))
    assert sorted(code(row[0]) for row in table) == sorted(get_args(Verdict))


def test_the_words_of_an_approval_are_explained() -> None:
    """Statuses and reasons as the code has them, flags as the contract has."""
    statuses, reasons, flags = tables(section("docs/records.md", "Approval"))
    assert [code(row[0]) for row in statuses] == list(get_args(Status))
    assert [code(row[0]) for row in reasons] == list(get_args(ClosedReason))
    fields = json.loads((ROOT / "schemas" / "approval.avsc").read_text("utf-8"))["fields"]
    (named,) = [field["doc"] for field in fields if field["name"] == "flags"]
    assert [code(row[0]) for row in flags] == re.findall(r"\b[a-z_]+(?= \||\. The)", named)


def test_every_reason_of_a_dead_letter_is_explained() -> None:
    """On the page that people come to from an alert."""
    table = rows(section("docs/verdicts.md", "Reasons"))
    assert sorted(code(row[0]) for row in table) == sorted(get_args(Reason))


def test_the_topics_are_those_that_are_created() -> None:
    """Under their default names, with their cleanup policies."""
    topics = rows(section("docs/records.md", "Topics"))[1:]
    table = {code(topic): cleanup for topic, _, _, cleanup, _ in topics}
    assert table.keys() == {Topics().names()[role] for role in ROLES}
    for role in ROLES:
        need, cleanup = TOPICS[role], table[f"bridge.{role}"]
        days = "" if need.retention is None else f", {need.retention // 86_400_000} days"
        assert cleanup == need.cleanup + days


def test_the_rights_shown_are_those_that_are_checked(tmp_path: Path) -> None:
    """The commands, read as a shell would, grant exactly the list of a worker."""
    (settings,) = blocks(section("docs/operations.md", "TLS and login"), "toml")
    (tmp_path / "bridge.toml").write_text(settings, "utf-8")
    needed = of_worker(load(tmp_path / "bridge.toml"))
    granted = set()
    for line in section("docs/operations.md", "Rights").replace("\\\n", " ").splitlines():
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
