"""Compiled kernels on disk: found by the content they were made from, loaded only from where nobody else can write.

numba's own cache is not used: its folder is a setting of the whole process, and it looks at one source file per
function. Here an *entry* is the machine code of one kernel for one list of argument types. Its name is a digest of the
kernel's source, of all kernel sources that it imports and of the argument types (`sources.py`); versions, settings and
processor (`target.py`) decide which entries can be used at all. So entries can be copied from machine to machine: a
*pack* (`pack.py`) holds many in one file, inside a wheel or on its way to Spark executors.

`folders.py` finds a folder that is safe to load from, `entries.py` reads and writes entries with a checksum,
`dispatch.py` connects them with numba's dispatchers, `signals.py` makes Ctrl-C wait for LLVM, and `progress.py` says
when something has to be compiled.
"""
