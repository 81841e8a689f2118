"""The limit of CPU time that tests set is not lost, wherever the alarm comes."""

from __future__ import annotations

import gc
import signal
import time

import pytest

from support.cpu_time_limit import OvertimeError, within_seconds


def make_lists_for_ever() -> None:
    while True:
        [[] for _ in range(9)]


def test_a_block_that_takes_too_long_is_ended_though_the_collector_is_due_all_the_time() -> None:
    """An exception in a callback of the collector is dropped; here nearly all time would be spent in one."""

    def called_back(phase: str, info: dict[str, int]) -> None:
        until = time.process_time() + 0.02
        while time.process_time() < until:
            pass

    threshold = gc.get_threshold()
    gc.callbacks.append(called_back)
    gc.set_threshold(1)
    try:
        with pytest.raises(OvertimeError), within_seconds(0.2):
            make_lists_for_ever()
    finally:
        gc.callbacks.remove(called_back)
        gc.set_threshold(*threshold)
    assert gc.isenabled()


def drop_the_first_alarm() -> None:
    try:
        make_lists_for_ever()
    except OvertimeError:
        make_lists_for_ever()


def test_an_alarm_that_is_dropped_comes_again() -> None:
    with pytest.raises(OvertimeError), within_seconds(0.1):
        drop_the_first_alarm()


def test_nothing_is_left_behind() -> None:
    before = signal.getsignal(signal.SIGPROF)
    with within_seconds(5):
        assert not gc.isenabled()
    assert gc.isenabled()
    assert signal.getsignal(signal.SIGPROF) == before
    assert signal.getitimer(signal.ITIMER_PROF) == (0.0, 0.0)
