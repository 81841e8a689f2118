"""The deliberate breaks of the kernels (`make breaks`) fit the sources and name tests that exist."""

from __future__ import annotations

from pathlib import Path

from programs.breaks import KERNELS, PROJECT, breaks


def test_every_break_is_in_its_file_exactly_once() -> None:
    assert [f"{item.file}: {item.old!r}" for item in breaks() if not item.fits] == []


def test_every_break_names_tests_that_exist() -> None:
    missing = []
    for name in sorted({test for item in breaks() for test in item.tests}):
        file, _, function = name.partition("::")
        path = PROJECT / "tests" / file
        if not path.exists() or f"def {function}" not in path.read_text(encoding="utf-8"):
            missing.append(name)
    assert missing == []


def test_every_room_of_the_kernels_has_breaks() -> None:
    loops = {f"loops/{path.parent.name}" for path in (PROJECT / KERNELS).glob("loops/*/loop.py")}
    assert len(loops) > 1
    assert {str(Path(item.file).parent) for item in breaks()} >= {
        "columns",
        "conditions",
        "matches",
        "memory",
        *loops,
    }
