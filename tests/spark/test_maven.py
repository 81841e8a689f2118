"""Maven is asked offline first, and where something cannot be had the error says why. A script plays Maven."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.maven import Artifact, UnresolvedError, resolve

OLD, NEW = [Artifact("g:a:1")], [Artifact("g:a:2", ["*:*"])]


@pytest.fixture
def maven(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Does what is written into it; the current folder is that of the project."""
    script = tmp_path / "bin" / "mvn"
    script.parent.mkdir()
    script.write_text("")
    script.chmod(0o755)
    monkeypatch.setenv("PATH", f"{script.parent}:/usr/bin:/bin")
    monkeypatch.setattr("support.maven.java_home", lambda: tmp_path)
    return script


def test_the_first_alternative_that_can_be_had_is_taken(maven: Path, tmp_path: Path) -> None:
    maven.write_text(
        "#!/bin/sh\necho $1 >> calls\necho /r/b.jar:/r/c.jar | tee need0-1/jars.txt > need1-0/jars.txt\n"
    )
    assert resolve([[NEW, OLD], [OLD, NEW]], tmp_path / "p") == [[Path("/r/b.jar"), Path("/r/c.jar")]] * 2
    assert (tmp_path / "p" / "calls").read_text() == "--offline\n"
    assert (
        "<version>2</version><exclusions><exclusion><groupId>*</groupId>"
        in (tmp_path / "p" / "need0-0" / "pom.xml").read_text()
    )


def test_what_is_not_there_offline_is_fetched(maven: Path, tmp_path: Path) -> None:
    maven.write_text(
        '#!/bin/sh\necho $1 >> calls\n[ "$1" = --offline ] || echo /r/b.jar > need0-0/jars.txt\n'
    )
    assert resolve([[OLD]], tmp_path / "p") == [[Path("/r/b.jar")]]
    assert (tmp_path / "p" / "calls").read_text() == "--offline\n--batch-mode\n"


def test_the_error_says_what_maven_said_of_each_alternative(maven: Path, tmp_path: Path) -> None:
    maven.write_text(
        "#!/bin/sh\necho /r/b.jar > need0-0/jars.txt\n"
        "echo '[ERROR] on project need1-0: no g:a:1 -> [Help 1]'\n"
        "echo '[ERROR] on project need1-1: no g:a:2' >&2\nexit 1\n"
    )
    with pytest.raises(UnresolvedError) as caught:
        resolve([[OLD], [OLD, NEW]], tmp_path / "p")
    assert str(caught.value) == "on project need1-0: no g:a:1; on project need1-1: no g:a:2"


def test_without_maven_the_error_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(UnresolvedError, match="there is no `mvn` on the path"):
        resolve([[OLD]], tmp_path / "p")
