"""Compiled kernels are found by content, survive any damage, and change no setting of numba."""

from __future__ import annotations

import ast
import os
import random
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numba
import numpy as np
import pytest

import cepheid
from cepheid.kernels.cache import dispatch, progress, sources, target
from cepheid.kernels.cache.entries import EntryFolder, opened, sealed
from cepheid.kernels.cache.pack import Pack, packed, read_pack
from cepheid.kernels.cache.store import Store, received
from cepheid.kernels.cache.target import Target, compiled_for, host
from cepheid.kernels.memory import hashing

KERNELS = Path(cepheid.__file__).parent / "kernels"
HERE = Target("versions", "settings", "triple", "cpu", ("avx2",))


def store_in(folder: Path) -> Store:
    return Store(EntryFolder(folder), [], compiled_for())


def mixed(monkeypatch: pytest.MonkeyPatch, store: Store) -> list[str]:
    """Runs a small kernel afresh with this store: what was compiled for that."""
    seen = progress.Progress()
    monkeypatch.setattr(dispatch, "store", lambda: store)
    monkeypatch.setattr(dispatch, "PROGRESS", seen)
    kernel = dispatch.cached(numba.njit(nogil=True)(hashing.mix.py_func))
    assert kernel(np.uint64(1)) == hashing.mix(np.uint64(1))
    return seen.compiled


def test_a_kernel_is_compiled_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert mixed(monkeypatch, store_in(tmp_path)) == ["memory.hashing.mix"]
    assert mixed(monkeypatch, store_in(tmp_path)) == []
    assert [path.stat().st_mode & 0o777 for path in tmp_path.iterdir()] == [0o600]


def truncated(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-1])


def emptied(path: Path) -> None:
    path.write_bytes(b"")


def garbled(path: Path) -> None:
    path.write_bytes(random.Random(1).randbytes(path.stat().st_size))


def with_a_flipped_bit(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 4
    path.write_bytes(content)


def whole_but_no_pickle(path: Path) -> None:
    path.write_bytes(sealed(b"this is not a pickle"))


def whole_but_other_parts(path: Path) -> None:
    path.write_bytes(sealed(dispatch.dumps((1, 2, 3))))


def a_folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


def a_link_to_nothing(path: Path) -> None:
    path.unlink()
    path.symlink_to(path.parent / "nothing")


def writable_by_others(path: Path) -> None:
    path.chmod(0o666)


@pytest.mark.parametrize(
    "damage",
    [
        *(truncated, emptied, garbled, with_a_flipped_bit, whole_but_no_pickle, whole_but_other_parts),
        *(a_folder, a_link_to_nothing, writable_by_others),
    ],
)
def test_a_damaged_entry_is_compiled_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, damage: Any
) -> None:
    mixed(monkeypatch, store_in(tmp_path))
    (entry,) = tmp_path.iterdir()
    damage(entry)
    assert mixed(monkeypatch, store_in(tmp_path)) == ["memory.hashing.mix"]
    if not entry.is_dir():
        assert mixed(monkeypatch, store_in(tmp_path)) == []


def test_a_cache_that_cannot_be_written_is_no_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    taken = tmp_path / "file"
    taken.write_text("not a folder")
    assert mixed(monkeypatch, store_in(taken)) == ["memory.hashing.mix"]

    def full(*_: Any, **__: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    assert mixed(monkeypatch, store_in(tmp_path / "new")) == ["memory.hashing.mix"]
    assert list((tmp_path / "new").iterdir()) == []


def test_no_truncation_of_an_entry_goes_unnoticed() -> None:
    entry = sealed(bytes(range(256)))
    assert all(opened(entry[:length]) is None for length in range(len(entry)))


def test_the_imports_of_kernels_are_all_seen() -> None:
    for path in KERNELS.rglob("*.py"):
        if path.relative_to(KERNELS).parts[0] == "cache":
            continue
        text = path.read_text(encoding="utf-8")
        found = set()
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.ImportFrom):
                assert node.level == 0
                assert node.module != "cepheid.kernels", "not seen by `imports_of`"
                found.add(node.module or "")
            elif isinstance(node, ast.Import):
                found |= {alias.name for alias in node.names}
        ours = {
            name.removeprefix("cepheid.kernels.") for name in found if name.startswith("cepheid.kernels.")
        }
        ours = {name for name in ours if not name.startswith("cache.")}
        assert ours == sources.imports_of(text), path.name
        others = {name for name in found if name.startswith("cepheid.")}
        assert all(name.startswith("cepheid.kernels.") for name in others)


def test_a_change_in_any_module_that_a_kernel_reaches_gives_it_another_name(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    before = sources.digest_of.__wrapped__("cepheid.kernels.conditions.python_fallback")
    read = sources._source
    for changed in ("conditions.python_fallback", "memory.hashing", "memory.bits", "interrupts"):
        monkeypatch.setattr(
            sources, "_source", lambda name, at=changed: (read(name) or "") + ("#" if name == at else "")
        )
        assert sources.digest_of.__wrapped__("cepheid.kernels.conditions.python_fallback") != before
    monkeypatch.setattr(
        sources, "_source", lambda name: (read(name) or "") + ("#" if name == "loops.sliding.loop" else "")
    )
    assert sources.digest_of.__wrapped__("cepheid.kernels.conditions.python_fallback") == before


CHANGED = """
import os
os.environ["NUMBA_CACHE_DIR"] = {numba_cache!r}
import numba
import numpy as np
before = dict(os.environ)
from cepheid.kernels.memory.hashing import mix
print(mix(np.uint64(2**63)))
assert numba.config.CACHE_DIR == {numba_cache!r}
assert dict(os.environ) == before
assert not os.path.exists({numba_cache!r})
"""


def test_an_update_of_the_package_is_noticed_whatever_was_imported_first(tmp_path: Path) -> None:
    """Same place, same time stamps, numba imported before: the new code runs, and numba's settings stay as they are."""
    package = tmp_path / "site" / "cepheid"
    shutil.copytree(KERNELS, package / "kernels", ignore=shutil.ignore_patterns("__pycache__"))
    (package / "__init__.py").write_text("")
    changed = package / "kernels" / "memory" / "hashing.py"
    program = CHANGED.format(numba_cache=str(tmp_path / "numba"))
    before = new_process(program, package.parent, tmp_path / "cache")
    stamp, text = changed.stat(), changed.read_text()
    changed.write_text(text.replace("np.uint64(30)", "np.uint64(29)", 1))
    assert changed.read_text() != text
    os.utime(changed, ns=(stamp.st_atime_ns, stamp.st_mtime_ns))
    after = new_process(program, package.parent, tmp_path / "cache")
    assert before != after
    assert "compiling kernels" in before[1]


UPDATED = """
import pathlib
import numpy as np
from cepheid.kernels.memory import hashing
path = pathlib.Path(hashing.__file__)
path.write_text(path.read_text().replace("np.uint64(30)", "np.uint64(29)", 1))
print(hashing.mix(np.uint64(2**63)))
"""


def test_a_process_that_an_update_overtakes_keeps_nothing_for_the_new_code(tmp_path: Path) -> None:
    """It compiles what it has imported; the next process, with the new sources, must not load that."""
    package = tmp_path / "site" / "cepheid"
    shutil.copytree(KERNELS, package / "kernels", ignore=shutil.ignore_patterns("__pycache__"))
    (package / "__init__.py").write_text("")
    old, _ = new_process(UPDATED, package.parent, tmp_path / "cache")
    new, _ = new_process(
        CHANGED.format(numba_cache=str(tmp_path / "numba")), package.parent, tmp_path / "cache"
    )
    assert old != new


def new_process(program: str, site: Path, cache: Path) -> tuple[str, str]:
    environment = os.environ | {
        "PYTHONPATH": str(site),
        "CEPHEID_CACHE_DIR": str(cache),
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    done = subprocess.run(
        [sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout, done.stderr


def test_what_compiled_code_depends_on_is_in_the_target(monkeypatch: pytest.MonkeyPatch) -> None:
    before = target.compiled_for.__wrapped__().digest
    monkeypatch.setattr(target.config, "BOUNDSCHECK", 1)
    assert target.compiled_for.__wrapped__().digest != before
    monkeypatch.undo()
    monkeypatch.setattr(target.numba, "__version__", "0.0")
    assert target.compiled_for.__wrapped__().digest != before


def test_code_of_a_lesser_processor_runs_on_a_better_one_of_the_same_versions() -> None:
    better = Target("versions", "settings", "triple", "other", ("avx2", "avx512f"))
    assert HERE.runs_on(better)
    assert not better.runs_on(HERE)
    assert not Target("other", "settings", "triple", "cpu", ("avx2",)).runs_on(better)


def test_a_pack_is_used_where_it_fits_and_is_whole(tmp_path: Path) -> None:
    content = packed(HERE, {"one": sealed(b"1"), "two": sealed(b"2")})
    file = tmp_path / "kernels.pack"
    file.write_bytes(content)
    found = read_pack(file, HERE)
    assert found is not None
    assert opened(found.read("two") or b"") == b"2"
    assert read_pack(file, Target("other", "settings", "triple", "cpu", ("avx2",))) is None
    assert read_pack(tmp_path / "missing", HERE) is None
    for length in range(len(content)):
        try:
            cut = Pack(content[:length])
        except ValueError:
            continue
        assert opened(cut.read("two") or b"") is None  # the header is whole, and the entry is not


def test_a_kernel_is_loaded_from_a_pack(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = store_in(tmp_path / "first")
    mixed(monkeypatch, first)
    second = store_in(tmp_path / "second")
    second.add(Pack(first.pack()))
    assert mixed(monkeypatch, second) == []
    assert len(second.loaded) == 1
    assert not (tmp_path / "second").exists()


def test_a_pack_that_was_sent_is_taken_only_if_it_is_the_one_that_was_meant() -> None:
    pack = Pack(packed(HERE, {}))
    own = Pack(packed(host(), {}))
    assert not received(packed(host(), {"other": b""}), own.digest)
    assert not received(packed(HERE, {}), pack.digest), "made for another machine"
    assert received(packed(host(), {}), own.digest)


def test_compiling_is_said_once(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    said = progress.Progress()
    said.begin("one")
    said.begin("two")
    said.rest()
    assert capfd.readouterr().err.count("\n") == 1
