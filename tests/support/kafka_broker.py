"""A Kafka broker of one's own: one node that is its own controller, on the loopback interface, gone at the end.

In: the jars of a broker, a Java, an empty folder. Out: the address for clients, while the context lasts. Everything it
writes is in the folder; `broker.log` has what it said. It is killed when the context is left, and also when the
process that entered the context ends in any other way.

Kafka cannot take just any free port as a controller, so ports are chosen first and bound by Kafka a second or two
later. If somebody took one meanwhile the broker ends with code 1; then others are tried.
"""

from __future__ import annotations

import os
import socket
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

# Fixed: of random ones every 64th begins with `-`, which the tool that formats the folder takes for an option, and ends
# with code 1.
CLUSTER = "Q2VwaGVpZEtyYWZ0VGVzdA"
OPTIONS = ("-Xmx256m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1")  # small, and soon there
READY = "Kafka Server started"
TAKEN = "Address already in use"
LONGEST_START_S = 90
ATTEMPTS = 3

# Java becomes the process that was started. Beside it a shell waits for a line; if the input ends without one, because
# whoever held the other end has died, it kills Java.
WATCHED = 'exec 3<&0; (read -r line <&3 || kill -9 $$) 2>/dev/null & exec "$@" 3<&- </dev/null'

SETTINGS = """
process.roles=broker,controller
node.id=1
controller.listener.names=CONTROLLER
controller.quorum.voters=1@127.0.0.1:{controller}
listeners=PLAINTEXT://127.0.0.1:{port},CONTROLLER://127.0.0.1:{controller}
log.dirs={data}
num.partitions=3
offsets.topic.replication.factor=1
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
"""


class BrokerError(Exception):
    """The broker did not start; the text says what it said."""


class PortTakenError(BrokerError):
    """One of its ports is somebody else's by now."""


@contextmanager
def kafka_broker(java: Path, jars: Sequence[Path], folder: Path) -> Iterator[str]:
    """Gives `host:port` of a broker that answers."""
    command = [str(java), *OPTIONS, "-cp", os.pathsep.join(map(str, jars))]
    with ExitStack() as stack:
        for attempt in range(ATTEMPTS):
            try:
                address = stack.enter_context(_started(command, folder / str(attempt), *free_ports(2)))
                break
            except PortTakenError:
                if attempt + 1 == ATTEMPTS:
                    raise
        yield address


@contextmanager
def _started(java: Sequence[str], folder: Path, port: int, controller: int) -> Iterator[str]:
    folder.mkdir(parents=True)
    settings, log = folder / "server.properties", folder / "broker.log"
    settings.write_text(SETTINGS.format(port=port, controller=controller, data=folder / "data"))
    _format(java, settings)
    with log.open("wb") as said:
        broker = subprocess.Popen(
            ["sh", "-c", WATCHED, "sh", *java, "kafka.Kafka", str(settings)],
            stdin=subprocess.PIPE,
            stdout=said,
            stderr=subprocess.STDOUT,
        )
    try:
        _wait_until_ready(broker, log)
        yield f"127.0.0.1:{port}"
    finally:
        broker.kill()
        broker.wait(timeout=30)
        assert broker.stdin is not None
        broker.stdin.write(b"\n")  # so the shell kills nobody who has got the number since
        broker.stdin.close()


def _format(java: Sequence[str], settings: Path) -> None:
    tool = ["kafka.tools.StorageTool", "format", "--cluster-id", CLUSTER, "--config", str(settings)]
    done = subprocess.run(
        [*java, *tool],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=LONGEST_START_S,
        check=False,
    )
    if done.returncode != 0:
        raise BrokerError(
            f"formatting ended with code {done.returncode}: {(done.stdout + done.stderr)[-2000:]}"
        )


def _wait_until_ready(broker: subprocess.Popen[bytes], log: Path) -> None:
    """Reads the log instead of knocking at the port: on the loopback interface, a connection to a port that nobody
    listens on yet may be given that very port as its own, and then it is taken."""
    deadline = time.monotonic() + LONGEST_START_S
    while time.monotonic() < deadline:
        ended = broker.poll()
        said = log.read_text(errors="replace")
        if ended is not None:
            error = PortTakenError if TAKEN in said else BrokerError
            raise error(f"the broker ended with code {ended}: {said[-2000:]}")
        if READY in said:
            return
        time.sleep(0.1)
    raise BrokerError(f"the broker did not start in {LONGEST_START_S} s: {said[-2000:]}")


def free_ports(number: int) -> list[int]:
    """Ports that nobody has at the moment, all different: each is held until the last is found.

    >>> len(set(free_ports(5)))
    5
    """
    with ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(number)]
        for one in sockets:
            one.bind(("127.0.0.1", 0))
        return [one.getsockname()[1] for one in sockets]
