"""The broker of the tests: other ports where one was taken, the reason where it does not start, nothing left behind.

A script plays Java.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from support.kafka_broker import BrokerError, PortTakenError, kafka_broker

STAYS = "echo 'Kafka Server started'; exec sleep 60"
RUNS = f"exec 8> alive; {STAYS}"
TAKEN = "echo 'BindException: Address already in use' >&2; exit 1"
ENTERS = """
import os, sys
from pathlib import Path
from support.kafka_broker import kafka_broker
with kafka_broker(Path(sys.argv[1]), [], Path(sys.argv[2])):
    os._exit(7)
"""


def fake_java(folder: Path, broker: str, tool: str = "exit 0") -> Path:
    script = folder / "java"
    script.write_text(f'#!/bin/sh\ncd {folder}\ncase "$*" in *StorageTool*) {tool};; esac\n{broker}\n')
    script.chmod(0o755)
    return script


def ports_in(settings: Path) -> str:
    return next(line for line in settings.read_text().splitlines() if line.startswith("listeners="))


@pytest.fixture
def alive(tmp_path: Path) -> Iterator[Callable[[], bool]]:
    """Whether the broker runs: it holds the other end of a pipe. A process keeps its number until somebody asks
    how it ended, which an orphan's parent may not do."""
    os.mkfifo(tmp_path / "alive")
    end = os.open(tmp_path / "alive", os.O_RDONLY | os.O_NONBLOCK)

    def is_held() -> bool:
        try:
            return os.read(end, 1) != b""
        except BlockingIOError:
            return True

    yield is_held
    os.close(end)


def test_a_broker_is_gone_after_an_error(tmp_path: Path, alive: Callable[[], bool]) -> None:
    with suppress(ZeroDivisionError), kafka_broker(fake_java(tmp_path, RUNS), [], tmp_path / "b") as address:
        assert f"PLAINTEXT://{address}," in ports_in(tmp_path / "b" / "0" / "server.properties")
        assert alive()
        raise ZeroDivisionError
    assert not alive()


def test_a_broker_is_gone_when_the_process_that_started_it_is(
    tmp_path: Path, alive: Callable[[], bool]
) -> None:
    command = [sys.executable, "-c", ENTERS, str(fake_java(tmp_path, RUNS)), str(tmp_path / "b")]
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parent.parent)}
    assert subprocess.run(command, env=environment, timeout=60, check=False).returncode == 7
    deadline = time.monotonic() + 30
    while alive():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def test_other_ports_are_tried_where_one_was_taken(tmp_path: Path) -> None:
    java = fake_java(tmp_path, f"[ -e b/1 ] || {{ {TAKEN}; }}; {STAYS}")
    with kafka_broker(java, [], tmp_path / "b") as address:
        first, second = (ports_in(tmp_path / "b" / n / "server.properties") for n in "01")
        assert first != second
        assert address in second
    with pytest.raises(PortTakenError, match="code 1: BindException: Address already in use"):
        kafka_broker(fake_java(tmp_path, TAKEN), [], tmp_path / "c").__enter__()
    assert sorted(os.listdir(tmp_path / "c")) == ["0", "1", "2"]


def test_what_a_broker_said_before_it_ended_is_in_the_error(tmp_path: Path) -> None:
    with pytest.raises(BrokerError, match="the broker ended with code 3: no log folder"):
        kafka_broker(fake_java(tmp_path, "echo no log folder; exit 3"), [], tmp_path / "b").__enter__()
    assert os.listdir(tmp_path / "b") == ["0"]
    with pytest.raises(BrokerError, match="formatting ended with code 1: bad id"):
        kafka_broker(fake_java(tmp_path, STAYS, "echo bad id; exit 1"), [], tmp_path / "c").__enter__()
