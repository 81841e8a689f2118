"""Ctrl-C ends every kernel at once, with nothing but `KeyboardInterrupt`; others can work while a kernel runs."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import cepheid
from cepheid.evaluators.interface import Events
from cepheid.kernels import interrupts
from cepheid.matches.found import Found
from interrupted import QUERIES, stream

SECONDS = 2.0


def test_ctrl_c_ends_every_kernel() -> None:
    program = Path(__file__).parent / "interrupted.py"
    done = subprocess.run(
        [sys.executable, str(program), str(os.getpid())],
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    found = [json.loads(line) for line in done.stdout.splitlines()]
    assert [name for name, _, _ in found] == list(QUERIES)
    assert {ended for _, ended, _ in found} == {"KeyboardInterrupt"}
    assert max(seconds for _, _, seconds in found) < SECONDS
    assert "ignored" not in done.stderr


class EnoughError(Exception):
    pass


def count_for_ever(table: pa.Table, query: str) -> None:
    while True:
        cepheid.count(table, query)


def test_what_a_signal_handler_raises_comes_out_and_what_it_does_not_raise_goes_unnoticed() -> None:
    query = QUERIES["compact, counted"][1]
    table = stream().slice(0, 6_000)
    calls = []

    def handler(*_: object) -> None:
        calls.append(time.monotonic())
        if len(calls) == 2:
            raise EnoughError

    cepheid.count(table.slice(0, 300), query)  # loads the kernels
    before = signal.signal(signal.SIGUSR1, handler)
    timers = [threading.Timer(delay, os.kill, (os.getpid(), signal.SIGUSR1)) for delay in (0.2, 0.7)]
    try:
        for timer in timers:
            timer.start()
        with pytest.raises(EnoughError):
            count_for_ever(table, query)
    finally:
        for timer in timers:
            timer.join()
        signal.signal(signal.SIGUSR1, before)
    assert len(calls) == 2
    assert cepheid.count(table.slice(0, 9), "SELECT * FROM s WHERE A OR B OR C") == 9


def test_an_engine_that_was_interrupted_takes_no_more_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    engine = cepheid.query("SELECT * FROM s WHERE A AS x ; B AS y").engine(
        pa.schema({"ts": pa.int64(), "type": pa.string()})
    )
    rows = pa.table({"ts": np.arange(9), "type": list("ABABABABA")})
    advance = engine._evaluator.advance

    def stopped(events: Events) -> Found:
        interrupts._WORDS[interrupts._STOP] = threading.get_ident()
        return advance(events)

    monkeypatch.setattr(engine._evaluator, "advance", stopped)
    with pytest.raises(KeyboardInterrupt):
        engine.push(rows)
    with pytest.raises(cepheid.CepheidError, match="an earlier push failed"):
        engine.push(rows)


def test_kernels_in_other_threads_go_on() -> None:
    """What stops the main thread's kernel stops no other."""
    table = stream().slice(0, 3_000)
    query = "SELECT * FROM s WHERE (A+ ; B)+ ; C"
    wanted = cepheid.count(table, query)
    found: list[int] = []
    thread = threading.Thread(target=lambda: found.append(cepheid.count(table, query)))
    interrupts._WORDS[interrupts._STOP] = threading.get_ident()
    try:
        thread.start()
        while thread.is_alive():
            interrupts._WORDS[interrupts._TICKS] += 1
            time.sleep(0.001)
    finally:
        interrupts._WORDS[interrupts._STOP] = 0
    assert found == [wanted]
