"""Ctrl-C while a kernel runs: kernels work outside of the interpreter lock and look ten times a second whether to stop.

A thread counts *ticks* while kernels run. A loop compares the count with the one it saw last, which costs it one read
of memory, and at a new tick it takes the lock and lets Python run its signal handlers. If one of them raises, as that
of Ctrl-C does, the exception is kept in the dictionary of the thread's state, the loop returns whatever it likes, and
the exception is raised from where the kernel was called (`after_kernel`). A loop that runs long is written so:

    seen = ticks()
    for ...:
        seen = poll(seen)
        if seen < 0:
            return ...

A kernel calls Python with `ask`, and an exception of that call is kept in the same way, wherever in the call it was
raised. A callback of `ctypes` would print an exception of its first or last instruction and drop it. The garbage
collector rests during the call, since an exception in one of its callbacks is dropped, too.

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
from numba.core.types import int64
from numba.extending import intrinsic

TICK_S = 0.1
_IDLE_TICKS = 20
_NAME = "cepheid_interrupts"

# words: the count of ticks, and of exceptions that were kept and not raised yet
_TICKS, _KEPT, _COUNT = range(3)
_WORDS = (ctypes.c_int64 * _COUNT)()
llvmlite.binding.add_symbol(_NAME, ctypes.addressof(_WORDS))

_WORD = ir.IntType(64)
_TRUTH = ir.IntType(32)  # what C calls int
_OBJECT = ir.IntType(8).as_pointer()
_NOTHING = ir.VoidType()

_thread_dictionary = ctypes.pythonapi.PyThreadState_GetDict
_thread_dictionary.restype = (
    ctypes.c_void_p
)  # not `py_object`, which would take over a reference that is not given


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


def _add_one(builder, place):
    builder.atomic_rmw("add", _pointer(builder, place), ir.Constant(_WORD, 1), "monotonic")


def _ticks(builder):
    return builder.load_atomic(_pointer(builder, _TICKS), ordering="monotonic", align=8)


def _text(context, builder, text):
    return context.insert_const_string(builder.module, text)


def _keep_raised(context, builder):
    """Keeps the exception that is set in this thread, which holds the lock."""
    parts = [cgutils.alloca_once_value(builder, ir.Constant(_OBJECT, None)) for _ in range(3)]
    _call(builder, "PyErr_Fetch", _NOTHING, parts)
    _call(builder, "PyErr_NormalizeException", _NOTHING, parts)
    kind, value, trace = (builder.load(part) for part in parts)
    with builder.if_then(cgutils.is_not_null(builder, trace)):
        _call(builder, "PyException_SetTraceback", _TRUTH, [value, trace])
    dictionary = _call(builder, "PyThreadState_GetDict", _OBJECT)
    name = _text(context, builder, _NAME)
    _call(builder, "PyDict_SetItemString", _TRUTH, [dictionary, name, value])
    for part in (kind, value, trace):
        _call(builder, "Py_DecRef", _NOTHING, [part])
    _add_one(builder, _KEPT)
    _add_one(builder, _TICKS)


def _function(context, module, name, kinds, body):
    """A function that holds the interpreter lock, once in each module: 1 if the kernel is to return, else 0. `body` is
    made where no exception is kept yet, and gives whether it has set one."""
    function = cgutils.get_or_insert_function(module, ir.FunctionType(_WORD, kinds), name)
    if not function.is_declaration:
        return function
    function.linkage = "linkonce_odr"
    function.attributes.add("noinline")
    builder = ir.IRBuilder(function.append_basic_block())
    lock = _call(builder, "PyGILState_Ensure", _TRUTH)
    dictionary = _call(builder, "PyThreadState_GetDict", _OBJECT)
    kept = _call(builder, "PyDict_GetItemString", _OBJECT, [dictionary, _text(context, builder, _NAME)])
    stops = cgutils.alloca_once_value(builder, ir.Constant(_WORD, 1))
    with builder.if_then(cgutils.is_null(builder, kept)):
        raised = body(builder, function.args)
        builder.store(builder.zext(raised, _WORD), stops)
        with builder.if_then(raised):
            _keep_raised(context, builder)
    _call(builder, "PyGILState_Release", _NOTHING, [lock])
    builder.ret(builder.load(stops))
    return function


def _interrupted(context, module):
    """The function behind `interrupted`."""

    def body(builder, arguments):
        # From Python 3.12 on this may also collect garbage, and drop what is raised by a signal handler meanwhile.
        enabled = _call(builder, "PyGC_Disable", _TRUTH)
        status = _call(builder, "PyErr_CheckSignals", _TRUTH)
        with builder.if_then(builder.icmp_signed("!=", enabled, _TRUTH(0))):
            _call(builder, "PyGC_Enable", _TRUTH)
        return builder.icmp_signed("<", status, _TRUTH(0))

    return _function(context, module, "cepheid_interrupted", [], body)


def _ask(context, module):
    """The function behind `ask`."""

    def body(builder, arguments):
        enabled = _call(builder, "PyGC_Disable", _TRUTH)
        name, form = _text(context, builder, "answer"), _text(context, builder, "L")
        kind = ir.FunctionType(_OBJECT, [_OBJECT, _OBJECT, _OBJECT], var_arg=True)
        method = cgutils.get_or_insert_function(builder.module, kind, "PyObject_CallMethod")
        asked = builder.inttoptr(arguments[0], _OBJECT)
        result = builder.call(method, [asked, name, form, arguments[1]])
        with builder.if_then(builder.icmp_signed("!=", enabled, _TRUTH(0))):
            _call(builder, "PyGC_Enable", _TRUTH)
        _call(builder, "Py_DecRef", _NOTHING, [result])
        return cgutils.is_null(builder, result)

    return _function(context, module, "cepheid_ask", [_WORD, _WORD], body)


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
            stops = builder.call(_interrupted(context, builder.module), [])
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
        return builder.call(_interrupted(context, builder.module), [])

    return int64(), generate


@intrinsic
def ask(context, asked, address):
    """Calls the method `answer` of the Python object at an address with a word: 1 if the kernel is to return, else 0.
    Nothing is asked of a kernel that is to return already."""

    def generate(context, builder, signature, arguments):
        return builder.call(_ask(context, builder.module), arguments)

    return int64(int64, int64), generate


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


def before_kernel() -> _Ticker | None:
    """What is given to `after_kernel`."""
    if _WORDS[_KEPT]:
        _take_kept()  # of an earlier kernel, which another exception has left before this one could be raised
    if threading.current_thread() is not threading.main_thread():
        return None
    ticker = _TICKER
    ticker.begin()
    return ticker


def after_kernel(ticker: _Ticker | None) -> None:
    """Raises what stopped the kernel of this thread, if anything did."""
    if ticker is not None:
        ticker.depth -= 1
    if _WORDS[_KEPT]:
        error = _take_kept()
        if error is not None:
            raise error


def _take_kept() -> BaseException | None:
    """The exception that is kept for this thread, which is no longer kept."""
    kept: dict[str, BaseException] = ctypes.cast(_thread_dictionary(), ctypes.py_object).value
    error = kept.pop(_NAME, None)
    if error is not None:
        _WORDS[_KEPT] -= 1
    return error
