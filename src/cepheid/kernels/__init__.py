"""Compiled loops over flat arrays: one file per kernel, `numba` here and nowhere else.

Compiled code is kept on disk, so that a machine compiles once, and wheels bring it along (`cache/`). No setting of
numba is read or changed for that. `CEPHEID_CACHE_DIR` names another folder.
"""
