"""Settings: what is read from where, and that everything wrong is refused with its key's path."""

from __future__ import annotations

from pathlib import Path

import pytest

from bridge.config import Config, find_file, load
from bridge.config.load import variable_names
from bridge.core.durations import format_duration, parse_duration
from bridge.errors import ConfigError
from bridge.protocols.ag_ui import AgUi

LEAST = """
[kafka]
bootstrap_servers = "127.0.0.1:9092"

[[sources]]
name = "support-agents"
protocol = "ag-ui"
topic = "agents.run-finished"
"""


def read(tmp_path: Path, text: str = LEAST, **environ: str) -> Config:
    file = tmp_path / "bridge.toml"
    file.write_text(text, encoding="utf-8")
    return load(file, environ)


def refused(tmp_path: Path, text: str = LEAST, **environ: str) -> str:
    with pytest.raises(ConfigError) as caught:
        read(tmp_path, text, **environ)
    return str(caught.value)


def test_the_least_configuration_is_enough(tmp_path: Path) -> None:
    """Everything but the brokers and one source has a default."""
    config = read(tmp_path)
    assert config.app_id == "interrupt-bridge"
    assert config.http.port == 9110
    assert config.topics.names()["resume-commands"] == "bridge.resume-commands"
    assert config.worker.session_timeout == 6_000
    assert config.limits.cycle_max == 500
    assert config.sources[0].topic_names == ("agents.run-finished",)
    assert config.sources[0].start_at == "earliest"


def test_environment_alone_is_enough() -> None:
    """A container needs no file."""
    config = load(
        None,
        {
            "BRIDGE_KAFKA__BOOTSTRAP_SERVERS": "127.0.0.1:9092",
            "BRIDGE_SOURCES": '[{"name": "a", "protocol": "ag-ui", "topics": ["x", "y"]}]',
            "HOME": "/",
        },
    )
    assert config.sources[0].topic_names == ("x", "y")


def test_environment_stands_over_file_over_default(tmp_path: Path) -> None:
    text = LEAST + '[http]\nport = 1000\nhost = "127.0.0.2"\n[worker]\nreroute_grace = "3s"\n'
    config = read(tmp_path, text, BRIDGE_HTTP__PORT="0", BRIDGE_WORKER__TAKEOVER_GRACE="1m")
    assert (config.http.port, config.http.host) == (0, "127.0.0.2")
    assert (config.worker.reroute_grace, config.worker.takeover_grace) == (3_000, 60_000)


@pytest.mark.parametrize(
    ("text", "millis"),
    [("250ms", 250), ("2s", 2_000), ("15m", 900_000), ("1h30m", 5_400_000), ("7d", 604_800_000)],
)
def test_durations_are_text_with_a_unit(text: str, millis: int) -> None:
    assert parse_duration(text) == millis
    assert format_duration(millis) == text


@pytest.mark.parametrize("text", [15, "15", "", "m", "1.5h", "-2s", "2 s", "2S", "4000d", None])
def test_what_is_no_duration_is_refused(text: object) -> None:
    with pytest.raises(ValueError, match="duration"):
        parse_duration(text)


def test_source_rules_come_from_source_then_policy_then_retention(tmp_path: Path) -> None:
    text = LEAST + 'default_ttl = "1h"\n[policy]\ndefault_ttl = "2h"\non_run_error = "withdraw"\n'
    policy = read(tmp_path, text + '[retention]\nclosed = "3d"\n').sources[0].policy()
    assert policy.default_ttl == 3_600_000
    assert policy.run.withdraw_on_failure
    assert policy.max_event_age == policy.run.closed_retention == 3 * 86_400_000


def test_a_start_instant_is_milliseconds(tmp_path: Path) -> None:
    """TOML's own date and time and text in RFC 3339 say the same."""
    for value in ("2026-01-01T00:00:00Z", '"2026-01-01T01:00:00+01:00"'):
        config = read(tmp_path, LEAST + f"start_from = {value}\n")
        assert config.sources[0].start_at == 1_767_225_600_000


SOURCES = LEAST + '[[sources]]\nname = "{name}"\ntopic = "{topic}"\n'
REMOTE = LEAST.replace("127.0.0.1", "kafka.example")
KAFKA = '[kafka]\nbootstrap_servers = "127.0.0.1:9092"\n'
SASL = KAFKA + 'security_protocol = "SASL_SSL"\nsasl_plain_username = "u"\n'

REFUSALS = [
    ("app = 1\n" + LEAST, "app: unknown key; did you mean app_id? allowed: app_id, kafka"),
    (LEAST.replace("bootstrap_servers", "bootstrap_server"), "did you mean bootstrap_servers?"),
    (LEAST.replace("bootstrap_servers", "bootstrap_server"), "kafka.bootstrap_servers: is requi"),
    (LEAST + 'ttl = "1h"\n', "sources[0].ttl: unknown key; allowed: default_ttl, early"),
    ("", "kafka: is required"),
    ("kafka = 3", "kafka: "),
    (LEAST.replace('"127.0.0.1:9092"', '"127.0.0.1"'), "kafka.bootstrap_servers: each broker is"),
    (LEAST.replace('"127.0.0.1:9092"', "9092"), "kafka.bootstrap_servers: "),
    (LEAST + '[http]\nport = "9110"\n', "http.port: "),
    (LEAST + "[http]\nport = 70000\n", "http.port: "),
    (LEAST + "[worker]\nheartbeat = 60\n", "worker.heartbeat: a duration is text with its unit"),
    (LEAST + '[worker]\nsession_timeout = "1s"\n', "worker.session_timeout: "),
    (
        LEAST + '[worker]\ntransaction_deadline = "20s"\n',
        "worker: transaction_deadline must be shorter than transaction_timeout",
    ),
    (LEAST + 'default_ttl = "0s"\n', "sources[0].default_ttl: "),
    (LEAST + 'max_event_age = "8d"\n', "sources[0].max_event_age (8d) is longer than closed runs"),
    (LEAST + 'start_from = "first"\n', "sources[0].start_from"),
    (LEAST + 'on_run_error = "drop"\n', "sources[0].on_run_error: "),
    (LEAST.replace('"ag-ui"', '"soap"'), "sources[0].protocol: unknown protocol; this release re"),
    (LEAST + 'topics = ["b"]\n', "sources[0]: give either topic or topics"),
    (LEAST.replace("agents.run", "agents run"), "sources[0].topic: a topic name is"),
    (SOURCES.format(name="support-agents", topic="b"), "sources: two are named support-agents"),
    (
        SOURCES.format(name="b", topic="agents.run-finished"),
        "sources: two read the topic agents.run-finished",
    ),
    (SOURCES.format(name="b", topic="bridge.state"), "is the bridge's own topic for state"),
    (LEAST + '[topics]\nstate = "x"\nreroute = "x"\n', "topics: two roles share the topic x"),
    (LEAST + "[topics]\npartitions = 0\n", "topics.partitions: "),
    (LEAST + "[limits]\npayload_bytes = 2000000\n", "limits: payload_bytes (2000000) is above"),
    (LEAST + "[limits]\njson_depth = 5000\n", "limits.json_depth: "),
    (REMOTE, "would send everything in clear text to kafka.example:9092"),
    (SASL, "needs sasl_plain_username and exactly one of sasl_plain_password_file"),
    (KAFKA + 'sasl_plain_username = "u"\n', "sasl_plain_* needs security_protocol SASL_SSL"),
    (KAFKA + 'ssl_cafile = "ca.pem"\n', "ssl_* files need security_protocol SSL"),
    (KAFKA + 'sasl_plain_password = "hunter2"\n', "set BRIDGE_KAFKA__SASL_PLAIN_PASSWORD"),
    (KAFKA + 'ssl_password = "hunter2"\n', "kafka.ssl_password: a secret does not belong in"),
    ("a = [", "is not TOML"),
]


@pytest.mark.parametrize(("text", "says"), REFUSALS, ids=[says[:40] for _, says in REFUSALS])
def test_refusals_name_the_key_and_what_is_allowed(tmp_path: Path, text: str, says: str) -> None:
    message = refused(tmp_path, text)
    assert says in message
    assert "hunter2" not in message


@pytest.mark.parametrize(
    ("name", "value", "says"),
    [
        ("BRIDGE_HTTP__PROT", "1", "BRIDGE_HTTP__PROT: unknown variable; did you mean BRIDGE_HTT"),
        ("BRIDGE_HTTP", "{}", "BRIDGE_HTTP: unknown variable"),
        ("BRIDGE_SOURCES__0__NAME", "x", "BRIDGE_SOURCES__0__NAME: unknown variable"),
        ("BRIDGE_HTTP__PORT", "many", "http.port (from BRIDGE_HTTP__PORT): "),
        ("BRIDGE_SOURCES", "[{]", "sources (from BRIDGE_SOURCES): "),
        ("BRIDGE_WORKER__HEARTBEAT", "60", "worker.heartbeat (from BRIDGE_WORKER__HEARTBEAT): "),
    ],
)
def test_wrong_variables_are_refused_by_name(
    tmp_path: Path, name: str, value: str, says: str
) -> None:
    assert says in refused(tmp_path, LEAST, **{name: value})


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("BRIDGE_HTTP__PROT", "BRIDGE_HTTP__HOST, BRIDGE_HTTP__PORT"),
        ("BRIDGE_SOURCES__0__NAME", "BRIDGE_SOURCES"),
        ("BRIDGE_LIMIT__CYCLE_MAX", "BRIDGE_KAFKA__…"),
    ],
)
def test_an_unknown_variable_is_told_of_its_section_alone(
    tmp_path: Path, name: str, says: str
) -> None:
    """All variables would fill the screen. Without a section the sections are named."""
    told = refused(tmp_path, LEAST, **{name: "1"})
    assert says in told.partition("allowed: ")[2]
    assert told.count("BRIDGE_") < 15


def test_everything_wrong_is_said_at_once(tmp_path: Path) -> None:
    """Nobody should mend a file one start at a time."""
    message = refused(tmp_path, LEAST + "ttl = 1\n[http]\nport = -1\n", BRIDGE_NO="1")
    assert len(message.splitlines()) == 3


def test_variables_of_test_suites_are_no_settings(tmp_path: Path) -> None:
    given = read(tmp_path, BRIDGE_TEST_VECTORS="/x", BRIDGE_TEST_SEED="1", BRIDGE_CONFIG="/y")
    assert given == read(tmp_path)


def test_every_setting_has_a_variable() -> None:
    names = set(variable_names())
    assert {"BRIDGE_APP_ID", "BRIDGE_TOPICS__STATE", "BRIDGE_KAFKA__SSL_PASSWORD_FILE"} <= names


def test_secrets_are_masked_when_shown(tmp_path: Path) -> None:
    config = read(
        tmp_path, SASL + 'ssl_cafile = "ca.pem"\n', BRIDGE_KAFKA__SASL_PLAIN_PASSWORD="hunter2"
    )
    assert "hunter2" not in config.model_dump_json()
    assert "hunter2" not in repr(config)


def test_a_password_file_reaches_the_client(tmp_path: Path) -> None:
    """The line end that editors add is not part of a password."""
    secret = tmp_path / "password"
    secret.write_text("hunter2\n", encoding="utf-8")
    kwargs = read(tmp_path, SASL + f'sasl_plain_password_file = "{secret}"\n').kafka.client_kwargs()
    assert kwargs["sasl_plain_password"] == "hunter2"
    assert kwargs["sasl_mechanism"] == "SCRAM-SHA-512"
    assert kwargs["ssl_context"].check_hostname


def test_unreadable_key_files_are_a_configuration_error(tmp_path: Path) -> None:
    text = KAFKA + f'security_protocol = "SSL"\nssl_cafile = "{tmp_path}/none.pem"\n'
    with pytest.raises(ConfigError, match=r"kafka\.ssl_cafile.*none\.pem"):
        read(tmp_path, text).kafka.client_kwargs()


def test_plaintext_off_loopback_needs_a_word(tmp_path: Path) -> None:
    text = REMOTE.replace("[kafka]", "[kafka]\nallow_plaintext = true")
    assert read(tmp_path, text).kafka.servers == ["kafka.example:9092"]


def test_continuity_is_for_ag_ui_only(tmp_path: Path) -> None:
    """The error names the source; without the setting nothing is kept."""
    assert not read(tmp_path).sources[0].continuity
    kept = read(tmp_path, LEAST + "continuity = true").sources[0]
    assert kept.agent_protocol() == AgUi(continuity=True)
    text = LEAST.replace("ag-ui", "a2a") + "continuity = true"
    assert "continuity is for ag-ui only; take it out of this a2a source" in refused(tmp_path, text)


def test_a_worker_needs_a_source(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="BRIDGE_SOURCES"):
        read(tmp_path, KAFKA).require_sources()


def test_the_file_is_named_or_by_variable_or_here(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert find_file(None, {}) is None
    (tmp_path / "bridge.toml").touch()
    assert find_file(None, {}) == Path("bridge.toml")
    assert find_file(None, {"BRIDGE_CONFIG": "/etc/b.toml"}) == Path("/etc/b.toml")
    assert find_file(Path("x.toml"), {"BRIDGE_CONFIG": "/etc/b.toml"}) == Path("x.toml")


def test_a_missing_file_says_how_to_name_it(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="--config"):
        load(tmp_path / "none.toml", {})
