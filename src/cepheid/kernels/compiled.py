"""How kernels that make no arrays are compiled: without counting references.

numba counts a reference whenever an array is bound to a name, taken from a tuple or given to a function, even one that
is inlined, and a count is an atomic instruction: in a loop over slots they took nine tenths of the time. A function
compiled here cannot make arrays; what it needs is given to it. Those that only other kernels call have no entrance for
Python either, which would take longer to compile than they do.
"""

from __future__ import annotations

import numba

# Flags that are not said are inherited from the first caller that is compiled.
compiled = numba.njit(cache=True, _nrt=False, forceinline=False)
inlined = numba.njit(cache=True, _nrt=False, forceinline=True)
inner = numba.njit(cache=True, _nrt=False, forceinline=False, no_cpython_wrapper=True, no_cfunc_wrapper=True)
inner_inlined = numba.njit(
    cache=True, _nrt=False, forceinline=True, no_cpython_wrapper=True, no_cfunc_wrapper=True
)
