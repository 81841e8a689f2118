"""Ctrl-C ends every kernel at once, with nothing but `KeyboardInterrupt`; others can work while a kernel runs."""

from __future__ import annotations

import ctypes
import gc
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import cepheid
from cepheid.evaluators.interface import Events
from cepheid.kernels import compiled as compiled_kernels
from cepheid.kernels import interrupts
from cepheid.kernels.compiled import allocating, compiled
from cepheid.kernels.interrupts import ask, interrupted, ticks
from cepheid.matches.match_arrays import Found
from programs.interrupted_queries import QUERIES, stream
from support.cpu_time_limit import collector_at_rest

SECONDS = 2.0


@pytest.fixture(autouse=True)
def python_s_own_handler() -> Iterator[None]:
    """Also where a shell has started the tests in the background, for which it ignores the signal."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def test_ctrl_c_ends_every_kernel() -> None:
    program = Path(__file__).parent / "programs/interrupted_queries.py"
    done = subprocess.run(
        [sys.executable, str(program), str(os.getpid())],
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    found = [json.loads(line) for line in done.stdout.splitlines()]
    assert [(name, ended) for name, ended, _, _ in found] == [(name, "KeyboardInterrupt") for name in QUERIES]
    assert max(seconds for _, _, _, seconds in found) < SECONDS, found
    assert "ignored" not in done.stderr


class EnoughError(Exception):
    pass


def count_for_ever(table: pa.Table, query: str) -> None:
    while True:
        cepheid.count(table, query)


def test_what_a_signal_handler_raises_comes_out_and_what_it_does_not_raise_goes_unnoticed() -> None:
    query = QUERIES["dense"][1]
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
        with pytest.raises(EnoughError), collector_at_rest():
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
    advance, before_kernel = engine._evaluator.advance, interrupts.before_kernel

    def before_one_that_stops() -> interrupts._Ticker | None:
        ticker = before_kernel()
        keep_here(KeyboardInterrupt())
        return ticker

    def stopped(events: Events) -> Found:
        monkeypatch.setattr(compiled_kernels, "before_kernel", before_one_that_stops)
        return advance(events)

    monkeypatch.setattr(engine._evaluator, "advance", stopped)
    with pytest.raises(KeyboardInterrupt):
        engine.push(rows)
    monkeypatch.undo()
    with pytest.raises(cepheid.CepheidError, match="an earlier push failed"):
        engine.push(rows)


def keep_here(error: BaseException) -> None:
    """As a kernel of this thread does when Python raises something."""
    interrupts._WORDS[interrupts._KEPT] += 1
    ctypes.cast(interrupts._thread_dictionary(), ctypes.py_object).value[interrupts._NAME] = error


class Asked:
    """What a kernel asks."""

    def __init__(self) -> None:
        self.others = threading.Barrier(2)

    def answer(self, number: int) -> None:
        self.others.wait()
        raise EnoughError(number)


@compiled
def asking(asked, number):
    """Whether it is to return, before it has asked and after that twice."""
    return interrupted(), ask(asked, number), ask(asked, number)


def test_what_python_raises_when_it_is_asked_comes_out_of_the_kernel_that_asked() -> None:
    """In several threads at once, each has its own."""
    asked = Asked()
    raised: dict[int, int] = {}

    def run(number: int) -> None:
        try:
            asking(id(asked), number)
        except EnoughError as error:
            raised[number] = error.args[0]

    threads = [threading.Thread(target=run, args=(number,)) for number in (7, 8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert raised == {7: 7, 8: 8}
    assert interrupts._WORDS[interrupts._KEPT] == 0


class LastMoment:
    answered = False

    def answer(self, number: int) -> None:
        self.answered = True
        signal.raise_signal(signal.SIGINT)


def test_an_interrupt_in_the_last_moment_of_an_answer_is_not_lost() -> None:
    asked = LastMoment()
    with pytest.raises(KeyboardInterrupt), collector_at_rest():
        asking(id(asked), 1)
    assert asked.answered
    assert interrupts._WORDS[interrupts._KEPT] == 0


class Littering:
    def answer(self, number: int) -> None:
        self.lists: list[list[int]] = [[] for _ in range(number)]


def test_no_garbage_is_collected_while_a_kernel_asks_python() -> None:
    """Python drops what a signal handler raises in a callback of the collector."""
    asked, phases = Littering(), []

    def called_back(phase: str, info: dict[str, int]) -> None:
        phases.append(phase)

    asking(id(asked), 1)  # loads the kernel
    gc.callbacks.append(called_back)
    try:
        asked.answer(9_000)
        assert phases, "it would be collected"
        phases.clear()
        asking(id(asked), 9_000)
        assert not phases
    finally:
        gc.callbacks.remove(called_back)
    assert gc.isenabled()
    with collector_at_rest():
        asking(id(asked), 1)
        assert not gc.isenabled()


class Counting:
    def answer(self, number: int) -> int:
        return number


class Failing:
    def answer(self, number: int) -> int:
        raise ERROR


ERROR = EnoughError()


def test_a_kernel_that_asks_python_holds_no_reference_afterwards() -> None:
    for asked, number in ((Counting(), 1 << 40), (Failing(), 1 << 40)):
        counts = []
        for _ in range(3):
            with nullcontext() if isinstance(asked, Counting) else pytest.raises(EnoughError):
                asking(id(asked), number)
            ERROR.__traceback__ = ERROR.__context__ = None
            gc.collect()
            counts.append((sys.getrefcount(asked), sys.getrefcount(ERROR), sys.getrefcount(number)))
        assert counts[1] == counts[2]


@allocating
def returning_at(tick):
    """It does not poll."""
    while ticks() < tick:
        pass
    return np.zeros(3), np.zeros(3, np.int32)


def test_ctrl_c_when_a_kernel_returns_arrays_is_no_error_of_the_system() -> None:
    returning_at(0)  # loads the kernel
    more = 1_000_000

    def interrupt() -> None:
        while interrupts._TICKER.depth == 0:
            time.sleep(0.001)
        time.sleep(0.05)
        signal.raise_signal(signal.SIGINT)
        interrupts._WORDS[interrupts._TICKS] += more

    thread = threading.Thread(target=interrupt)
    thread.start()
    with pytest.raises(KeyboardInterrupt), collector_at_rest():
        returning_at(interrupts._WORDS[interrupts._TICKS] + more)
    thread.join()


WHILE_COMPILED = """
import signal
import numpy as np
from numba.core.registry import cpu_target
from cepheid.kernels.memory.hashing import mix

engine = cpu_target.target_context.codegen()._engine._ee
wanted, sent = engine._object_cache_getbuffer, []

def buffer(module):
    if not sent:
        sent.append(signal.raise_signal(signal.SIGINT))
    return wanted(module)

engine._object_cache_getbuffer = buffer  # LLVM calls it before it compiles, and where it wants code that was kept
try:
    mix(np.uint64(1))
except KeyboardInterrupt:
    print("KeyboardInterrupt", mix(np.uint64(1)) != 1, signal.getsignal(signal.SIGINT).__name__)
assert sent
"""


def test_ctrl_c_while_a_kernel_is_compiled_or_loaded_is_not_lost(tmp_path: Path) -> None:
    """Nor is the kernel: numba would leave half of it behind."""
    for said in ("compiling kernels", ""):
        done = subprocess.run(
            [sys.executable, "-c", WHILE_COMPILED],
            env=os.environ | {"CEPHEID_CACHE_DIR": str(tmp_path)},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.stdout == "KeyboardInterrupt True default_int_handler\n"
        assert said in done.stderr
        assert "ignored" not in done.stderr


def test_kernels_in_other_threads_go_on() -> None:
    """What stops the main thread's kernel stops no other."""
    table = stream().slice(0, 3_000)
    query = "SELECT * FROM s WHERE (A+ ; B)+ ; C"
    wanted = cepheid.count(table, query)
    found: list[int] = []
    thread = threading.Thread(target=lambda: found.append(cepheid.count(table, query)))
    keep_here(EnoughError())
    try:
        thread.start()
        while thread.is_alive():
            interrupts._WORDS[interrupts._TICKS] += 1
            time.sleep(0.001)
    finally:
        assert isinstance(interrupts._take_kept(), EnoughError)
    assert found == [wanted]
