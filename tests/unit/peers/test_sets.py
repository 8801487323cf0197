"""The sets that peers run in: when they are built anew, and what is said when they cannot be."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.peers import sets
from tests.peers.peer import NO_SCHEMA, Peer


@pytest.fixture
def locks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty lock of the set `current`, in a folder of the test's own."""
    folder = tmp_path / "sets"
    folder.mkdir()
    (folder / "current.lock").write_text("")
    monkeypatch.setattr(sets, "LOCKS", folder)
    return folder


def test_a_set_is_built_once_and_again_when_its_lock_changes(locks: Path, tmp_path: Path) -> None:
    """What was built from another lock is not what the lock says."""
    root = tmp_path / "built"
    assert sets.stale("current", root)
    sets.build("current", root)
    assert not sets.stale("current", root)
    assert (root / "current" / "bin" / "python").exists()
    (locks / "current.lock").write_text("# another\n")
    assert sets.stale("current", root)


def test_a_build_that_fails_is_none(locks: Path, tmp_path: Path) -> None:
    """It says which command failed and why, and is tried again next time."""
    (locks / "current.lock").write_text("-r missing.txt\n")
    with pytest.raises(sets.SetError, match="--require-hashes"):
        sets.build("current", tmp_path / "built")
    assert sets.stale("current", tmp_path / "built")


def test_missing_tools_are_named_all_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With what to install; the sets of Python need nothing more."""
    monkeypatch.setenv("PATH", str(tmp_path))
    go, npm = sets.missing_tools(["npm", "current", "go"])
    assert go.startswith("The peers of the set go need Go 1.")
    assert "apt-get install nodejs npm" in npm
    assert sets.missing_tools(["current", "earlier"]) == []


def test_a_peer_says_why_its_questions_take_anything() -> None:
    """A case is left out for a reason or not at all."""
    with pytest.raises(ValueError, match="no schema"):
        Peer(
            name="mute",
            title="Mute",
            protocol="a2a",
            set="current",
            program="mute.py",
            answer="yes",
            proof="done",
            wrong=NO_SCHEMA,
        )
