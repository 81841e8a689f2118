"""Ctrl-C while a kernel runs: kernels work outside of the interpreter lock and look ten times a second whether to stop.

A thread counts *ticks* while kernels run. A loop compares the count with the one it saw last, which costs it one read
of memory, and at a new tick it takes the lock and lets Python run its signal handlers. If one of them raises, as that
of Ctrl-C does, the exception is put by, the loop returns whatever it likes, and the exception is raised from where the
kernel was called (`after_kernel`). A loop that runs long is written so:

    seen = ticks()
    for ...:
        seen = poll(seen)
        if seen < 0:
            return ...

The words that kernels and Python share have a name for the linker, so that compiled code holds no address and can be
kept on disk.
"""

from __future__ import annotations

import ctypes
import os
import threading
import time

import llvmlite.binding
from llvmlite import ir
from numba.core import cgutils
from numba.core.types import int64, none
from numba.extending import intrinsic

TICK_S = 0.1
_IDLE_TICKS = 20
_NAME = "cepheid_interrupts"

# words: the count of ticks; the thread that is to stop, or 0; the exception that its signal handlers raised
_TICKS, _STOP, _TYPE, _VALUE, _TRACE, _COUNT = range(6)
_WORDS = (ctypes.c_int64 * _COUNT)()
llvmlite.binding.add_symbol(_NAME, ctypes.addressof(_WORDS))

_WORD = ir.IntType(64)
_ERRORS: dict[int, BaseException] = {}


def _pointer(builder, place):
    module = builder.module
    if _NAME not in module.globals:
        words = ir.GlobalVariable(module, ir.ArrayType(_WORD, _COUNT), _NAME)
        words.linkage = "external"
    zero = ir.Constant(ir.IntType(32), 0)
    return builder.gep(module.get_global(_NAME), [zero, ir.Constant(ir.IntType(32), place)], inbounds=True)


def _call(builder, name, result, arguments=()):
    kind = ir.FunctionType(result, [argument.type for argument in arguments])
    return builder.call(cgutils.get_or_insert_function(builder.module, kind, name), arguments)


def _tick(builder):
    builder.atomic_rmw("add", _pointer(builder, _TICKS), ir.Constant(_WORD, 1), "monotonic")


def _ticks(builder):
    return builder.load_atomic(_pointer(builder, _TICKS), ordering="monotonic", align=8)


def _interrupted(module):
    """The function behind `interrupted`, once in each module."""
    name = "cepheid_interrupted"
    function = cgutils.get_or_insert_function(module, ir.FunctionType(_WORD, []), name)
    if not function.is_declaration:
        return function
    function.linkage = "linkonce_odr"
    function.attributes.add("noinline")
    builder = ir.IRBuilder(function.append_basic_block())
    thread = _call(builder, "PyThread_get_thread_ident", _WORD)
    told = builder.icmp_unsigned("==", builder.load(_pointer(builder, _STOP)), thread)
    with builder.if_then(told):
        builder.ret(ir.Constant(_WORD, 1))
    lock = _call(builder, "PyGILState_Ensure", ir.IntType(32))
    raised = builder.icmp_signed("<", _call(builder, "PyErr_CheckSignals", ir.IntType(32)), ir.IntType(32)(0))
    with builder.if_then(raised):
        _call(builder, "PyErr_Fetch", ir.VoidType(), [_pointer(builder, k) for k in (_TYPE, _VALUE, _TRACE)])
        builder.store(thread, _pointer(builder, _STOP))
        _tick(builder)
    _call(builder, "PyGILState_Release", ir.VoidType(), [lock])
    builder.ret(builder.zext(raised, _WORD))
    return function


@intrinsic
def ticks(context):
    """The count of ticks."""

    def generate(context, builder, signature, arguments):
        return _ticks(builder)

    return int64(), generate


@intrinsic
def poll(context, seen):
    """The count of ticks, or -1 if it is not the one seen before and the kernel is to return."""

    def generate(context, builder, signature, arguments):
        now = _ticks(builder)
        before = builder.block
        with builder.if_then(builder.icmp_signed("!=", now, arguments[0]), likely=False):
            stops = builder.call(_interrupted(builder.module), [])
            answer = builder.select(builder.icmp_signed("!=", stops, _WORD(0)), _WORD(-1), now)
            asked = builder.block
        found = builder.phi(_WORD)
        found.add_incoming(now, before)
        found.add_incoming(answer, asked)
        return found

    return int64(int64), generate


@intrinsic
def interrupted(context):
    """Runs signal handlers that are due: 1 if the kernel is to return, else 0."""

    def generate(context, builder, signature, arguments):
        return builder.call(_interrupted(builder.module), [])

    return int64(), generate


@intrinsic
def give_up(context):
    """From here on `interrupted` holds in this thread, until its kernel has returned."""

    def generate(context, builder, signature, arguments):
        builder.store(_call(builder, "PyThread_get_thread_ident", _WORD), _pointer(builder, _STOP))
        _tick(builder)
        return context.get_dummy_value()

    return none(), generate


class _Ticker:
    """The thread that counts while the main thread is in a kernel; others receive no signals. It waits when no kernel
    has run for two seconds."""

    def __init__(self) -> None:
        self.depth = 0  # kernels the main thread is in
        self.calls = 0
        self.is_awake = False
        self._wake = threading.Event()
        self._thread: threading.Thread | None = None

    def begin(self) -> None:
        self.depth += 1
        self.calls += 1
        if not self.is_awake:
            self.is_awake = True
            if self._thread is None:
                self._thread = threading.Thread(target=self._count, name="cepheid-ticks", daemon=True)
                self._thread.start()
            self._wake.set()

    def _count(self) -> None:
        calls, idle = 0, 0
        while True:
            time.sleep(TICK_S)
            _WORDS[_TICKS] += 1
            idle = idle + 1 if self.depth == 0 and self.calls == calls else 0
            calls = self.calls
            if idle > _IDLE_TICKS:
                self._wake.clear()
                self.is_awake = False
                if self.calls == calls:  # else a kernel has begun before it could see that
                    self._wake.wait()
                self.is_awake = True
                idle = 0


_TICKER = _Ticker()


def _after_fork() -> None:
    """A forked process has no thread but the one that forked."""
    global _TICKER
    _TICKER = _Ticker()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


def keep(error: BaseException) -> None:
    """Keeps an exception that cannot pass through the kernel that this thread is in."""
    _ERRORS[threading.get_ident()] = error


def before_kernel() -> _Ticker | None:
    """What is given to `after_kernel`."""
    if threading.current_thread() is not threading.main_thread():
        return None
    ticker = _TICKER
    ticker.begin()
    return ticker


def after_kernel(ticker: _Ticker | None) -> None:
    """Raises what stopped the kernel of this thread, if anything did."""
    if ticker is not None:
        ticker.depth -= 1
    thread = threading.get_ident()
    if _WORDS[_STOP] == thread:
        _raise(thread)


def _raise(thread: int) -> None:
    _WORDS[_STOP] = 0
    error = _ERRORS.pop(thread, None)
    if _WORDS[_TYPE]:
        parts = [ctypes.c_void_p(_WORDS[place]) for place in (_TYPE, _VALUE, _TRACE)]
        _WORDS[_TYPE] = _WORDS[_VALUE] = _WORDS[_TRACE] = 0
        ctypes.pythonapi.PyErr_Restore(*parts)  # which raises it
    # What is not kept was raised where nothing could catch it: in the first instant of a call from a kernel.
    raise error or KeyboardInterrupt
