"""Jars from Maven Central, by coordinates, through Maven's own client.

In: what is needed, each as a list of alternatives, best first. Out: for each the jars of its first alternative that can
be had, with all that they need, in Maven's local repository; or `UnresolvedError` with what Maven said. Maven is asked
offline first, so what was had once is had again without a network, and nothing newer is looked for.

One call asks for everything: an alternative is a module of a throw-away project, and the modules fail one by one
(`--fail-at-end`), since starting Maven takes longer than resolving.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from cepheid.spark.java import find_java

GOAL = "org.apache.maven.plugins:maven-dependency-plugin:3.8.1:build-classpath"
LONGEST_S = 300  # the first time some 60 MB are fetched

# What Spark has itself, and a connector should not bring along in another version.
IN_SPARK = (
    "org.apache.spark:*",
    "org.apache.hadoop:*",
    "org.apache.logging.log4j:*",
    "org.apache.parquet:*",
    "org.scala-lang:*",
    "org.scala-lang.modules:*",
    "org.slf4j:*",
    "com.fasterxml.jackson.core:*",
    "com.github.luben:*",
    "org.roaringbitmap:*",
    "at.yawk.lz4:*",
    "org.lz4:*",
    "org.xerial.snappy:*",
)


@dataclass(frozen=True, slots=True)
class Artifact:
    """`coordinates` are group:name:version; `without` are the group:name, `*` for any, that it must not bring along."""

    coordinates: str
    without: Sequence[str] = ()


Alternative: TypeAlias = Sequence[Artifact]


class UnresolvedError(Exception):
    """Something that is needed cannot be had; the text says what and why."""


def resolve(needs: Sequence[Sequence[Alternative]], folder: Path) -> list[list[Path]]:
    """The jars for each need. The throw-away project is made in `folder`."""
    maven = shutil.which("mvn")
    if maven is None:
        raise UnresolvedError("there is no `mvn` on the path")
    names = [[f"need{n}-{k}" for k in range(len(alternatives))] for n, alternatives in enumerate(needs)]
    _write_project(needs, names, folder)
    said = ""
    for options in (["--offline"], []):
        said = _run(maven, options, folder)
        found = [
            next((name for name in group if (folder / name / "jars.txt").exists()), None) for group in names
        ]
        if None not in found:
            return [_listed(folder / str(name) / "jars.txt") for name in found]
    lacking = names[found.index(None)]
    raise UnresolvedError("; ".join(complaint_in(said, name) for name in lacking))


def java_home() -> Path:
    return find_java().home


def _run(maven: str, options: Sequence[str], folder: Path) -> str:
    command = [
        maven,
        *options,
        "--batch-mode",
        "--quiet",
        "--fail-at-end",
        GOAL,
        "-Dmdep.outputFile=jars.txt",
    ]
    try:
        done = subprocess.run(
            command,
            cwd=folder,
            env={**os.environ, "JAVA_HOME": str(java_home())},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=LONGEST_S,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return f"[ERROR] Maven was not done after {LONGEST_S} s"
    return done.stdout + done.stderr


def complaint_in(said: str, name: str) -> str:
    """Maven's first error about a module, or its first error at all.

    >>> said = "[ERROR] Failed … on project a: no b -> [Help 1]\\n[ERROR] \\n[ERROR] Failed … on project c: no d"
    >>> complaint_in(said, "c"), complaint_in(said, "e"), complaint_in("", "e")
    ('Failed … on project c: no d', 'Failed … on project a: no b', 'Maven gave no reason')
    """
    errors = [line.split(" -> [Help")[0] for line in re.findall(r"\[ERROR\] (.+)", said)]
    about = [line for line in errors if f"on project {name}:" in line]
    return (about or errors or ["Maven gave no reason"])[0]


def _listed(file: Path) -> list[Path]:
    return [Path(jar) for jar in file.read_text().strip().split(os.pathsep)]


def _write_project(
    needs: Sequence[Sequence[Alternative]], names: Sequence[Sequence[str]], folder: Path
) -> None:
    modules = {
        name: alternative
        for group, alternatives in zip(names, needs, strict=True)
        for name, alternative in zip(group, alternatives, strict=True)
    }
    _write_pom(folder, "all", f"<modules>{''.join(f'<module>{name}</module>' for name in modules)}</modules>")
    for name, alternative in modules.items():
        wanted = "".join(map(_dependency, alternative))
        _write_pom(folder / name, name, f"<dependencies>{wanted}</dependencies>")


def _write_pom(folder: Path, name: str, body: str) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "pom.xml").write_text(
        "<project><modelVersion>4.0.0</modelVersion><groupId>jars</groupId>"
        f"<artifactId>{name}</artifactId><version>1</version><packaging>pom</packaging>{body}</project>"
    )


def _dependency(artifact: Artifact) -> str:
    pair, version = artifact.coordinates.rsplit(":", 1)
    without = "".join(f"<exclusion>{_names_in(other)}</exclusion>" for other in artifact.without)
    return (
        f"<dependency>{_names_in(pair)}<version>{version}</version>"
        f"<exclusions>{without}</exclusions></dependency>"
    )


def _names_in(pair: str) -> str:
    group, name = pair.split(":")
    return f"<groupId>{group}</groupId><artifactId>{name}</artifactId>"
