"""Where entries come from in this process, in order: packs, which are only read, and the cache folder."""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path

from cepheid.kernels.cache.entries import EntryFolder, opened, sealed
from cepheid.kernels.cache.folders import VARIABLE, cache_folder, why_unsafe
from cepheid.kernels.cache.pack import SUFFIX, Pack, digest_of_pack, packed, read_pack
from cepheid.kernels.cache.progress import say
from cepheid.kernels.cache.target import Target, compiled_for, host

SHIPPED = Path(__file__).parents[1] / "shipped"
"""Where a wheel has its packs: as safe as the sources beside them."""


CALLED: set[str] = set()
"""The kernels that Python may call, as `compiled.py` notes them."""


class Store:
    """`loaded` are the names of the entries that this process has loaded."""

    def __init__(self, folder: EntryFolder, packs: list[Pack], target: Target) -> None:
        self.folder = folder
        self.target = target
        self.loaded: set[str] = set()
        self.is_shipped = bool(packs)  # with the package
        self._packs = packs

    def load(self, name: str) -> bytes | None:
        """The content of an entry that is whole; None where there is none."""
        sources: list[Pack | EntryFolder] = [*self._packs, self.folder]
        for source in sources:
            entry = source.read(name)
            content = None if entry is None else opened(entry)
            if content is not None:
                self.loaded.add(name)
                return content
        return None

    def save(self, name: str, content: bytes) -> None:
        self.folder.write(name, sealed(content))

    def stamp(self, name: str) -> Path:
        """A file that says that the kernels of this name are all in the folder."""
        return self.folder.path / f"{name}.stamp"

    def pack_called(self) -> tuple[bytes, str]:
        """A pack of the entries that Python calls, and its digest; those that only kernels call are part of them."""
        names = {name for name in self.folder.names() if name.split("-")[0] in CALLED}
        content = self.pack(names)
        return content, digest_of_pack(content)

    def add(self, pack: Pack) -> None:
        """Loads from a pack, too; it fits this machine."""
        self._packs.append(pack)

    def pack(self, names: set[str] | None = None) -> bytes:
        """All entries for the processor that this process compiles for, or those named, in one pack."""
        found: dict[str, bytes] = {}
        sources: list[Pack | EntryFolder] = [pack for pack in self._packs if pack.target == self.target]
        for source in [*sources, self.folder]:
            for name in source.names():
                entry = source.read(name) if names is None or name in names else None
                if entry is not None and opened(entry) is not None:
                    found[name] = entry
        return packed(self.target, found)


@cache
def store() -> Store:
    """That of this process."""
    target = compiled_for()
    given = os.environ.get(VARIABLE)
    folder = cache_folder()
    if given and folder != Path(os.path.realpath(given)):
        say(f"{VARIABLE} is not used: {why_unsafe(Path(given)) or 'it cannot be written'}")
    packs = [read_pack(path, host()) for path in sorted(SHIPPED.glob(f"*{SUFFIX}"))]
    return Store(EntryFolder(folder / target.digest), [pack for pack in packs if pack], target)


def received(content: bytes, digest: str) -> bool:
    """Loads from a pack that was sent, if it is the one that was meant and fits this machine."""
    if digest_of_pack(content) != digest:
        return False
    try:
        pack = Pack(content)
    except ValueError:
        return False
    if not pack.target.runs_on(host()):
        return False
    store().add(pack)
    return True
