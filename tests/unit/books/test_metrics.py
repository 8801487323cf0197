"""The metrics that pages and alerts name exist, and every metric is explained."""

from __future__ import annotations

import re
from typing import Any, get_args

import pytest
import yaml
from prometheus_client.parser import text_string_to_metric_families

from bridge.core.model import Metric
from bridge.observe.metrics import Metrics
from tests.unit.books.pages import PAGES, ROOT, code, rows, section, tables

RULES = (ROOT / "deploy" / "prometheus" / "rules.yml").read_text("utf-8")
RUNBOOKS = {path.name for path in (ROOT / "deploy" / "runbooks").glob("*.md")}
METRIC = re.compile(r"\binterrupt_bridge_[a-z_]+\b")


def metrics() -> set[str]:
    """The names that a scrape shows, without what a histogram or counter adds to its name."""
    families = text_string_to_metric_families(Metrics("0").exposition().decode())
    names = {f"{f.name}_total" if f.type == "counter" else f.name for f in families}
    return {name for name in names if not name.endswith("_created")}


def test_the_table_has_every_metric_and_no_other() -> None:
    """By the name that Prometheus stores."""
    page = PAGES["docs/metrics.md"].replace(section("docs/metrics.md", "Alerts"), "")
    table = {code(row[0]) for each in tables(page) for row in each}
    assert table == metrics()


def test_what_rules_count_has_its_metric() -> None:
    """Under its own name."""
    assert {f"interrupt_bridge_{name}_total" for name in get_args(Metric)} <= metrics()


@pytest.mark.parametrize("page", [*PAGES, "rules.yml"])
def test_metrics_that_are_named_exist(page: str) -> None:
    """A misspelt metric raises no alert, ever."""
    text = RULES if page == "rules.yml" else PAGES[page]
    assert set(METRIC.findall(text)) <= metrics()


def test_every_alert_has_its_runbook() -> None:
    """And every runbook its alert."""
    named = re.findall(r"runbook: runbooks/([\w-]+\.md)", RULES)
    assert len(named) == RULES.count("- alert:")
    assert set(named) == RUNBOOKS


def test_every_alert_is_in_the_table() -> None:
    """With its severity and its runbook."""
    groups: list[dict[str, Any]] = yaml.safe_load(RULES)["groups"]
    rules = [rule for group in groups for rule in group["rules"]]
    table = [
        (code(name), severity, re.findall(r"\((.*)\)", link))
        for name, severity, _, link in rows(section("docs/metrics.md", "Alerts"))
    ]
    assert table == [
        (
            rule["alert"],
            rule["labels"]["severity"],
            ["../deploy/" + rule["annotations"]["runbook"]],
        )
        for rule in rules
    ]
