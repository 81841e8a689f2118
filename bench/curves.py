"""A curve as SVG, its numbers in a table under the axis. Written by hand, to need no plotting library."""

from __future__ import annotations

import math
from html import escape

from bench.results import Curve
from bench.tables import millions

WIDTH, HEIGHT = 900, 440
LEFT, RIGHT, TOP, BOTTOM = 90, 870, 60, 330  # of the plot
INK, FAINT, LINE, BESIDE = "#333333", "#dddddd", "#1f5fa8", "#b5651d"


def svg_of(curve: Curve) -> str:
    """
    >>> "12.5 M" in svg_of(Curve("window", "A ; B ; C", "window", ((100, 12.5e6), (1000, 12e6))))
    True
    """
    top = _round_up(max(y for _, y in curve.points))
    places = [(_across(curve, x), _up(y, top)) for x, y in curve.points]
    lines = [] if curve.labels else [_path(places)]
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{HEIGHT}" '
        f'viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif" font-size="12" fill="{INK}">',
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#ffffff"/>',
        _text(LEFT, 30, curve.title, size=16),
        _text(LEFT, 50, "events/s"),
        *_grid(top),
        *_memory(curve),
        *lines,
        *(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4" fill="{LINE}"/>' for x, y in places),
        *_numbers(curve),
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


def short(number: float) -> str:
    """Powers of ten as such.

    >>> [short(n) for n in (100_000, 250, 0.2)]
    ['10⁵', '250', '0.2']
    """
    power = round(math.log10(number)) if number > 0 else 0
    if power >= 4 and math.isclose(number, 10**power):
        return "10" + str(power).translate(str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹"))
    return f"{number:g}"


def _grid(top: float) -> list[str]:
    lines = []
    for quarter in range(5):
        value = top * quarter / 4
        y = _up(value, top)
        lines.append(f'<line x1="{LEFT}" y1="{y:.1f}" x2="{RIGHT}" y2="{y:.1f}" stroke="{FAINT}"/>')
        lines.append(_text(LEFT - 8, y + 4, f"{value / 1e6:g} M", anchor="end"))
    return lines


def _memory(curve: Curve) -> list[str]:
    """The state at each point, on a scale of its own from zero to just above the most, and its top at the right."""
    if not curve.memory:
        return []
    top = _round_up(max(curve.memory))
    places = [
        (_across(curve, x), _up(kb, top)) for (x, _), kb in zip(curve.points, curve.memory, strict=True)
    ]
    line = [] if curve.labels else [_path(places, BESIDE, 'stroke-dasharray="4 4"')]
    scale = _text(RIGHT, TOP - 10, f"state, top {top:,g} KB", anchor="end", fill=BESIDE)
    return [scale, *line, *(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{BESIDE}"/>' for x, y in places)]


def _numbers(curve: Curve) -> list[str]:
    """Under each point what it is at and its value."""
    label_x = LEFT - 8
    lines = [
        f'<line x1="10" y1="{BOTTOM + 42}" x2="{WIDTH - 10}" y2="{BOTTOM + 42}" stroke="{FAINT}"/>',
        _text((LEFT + RIGHT) / 2, BOTTOM + 100, curve.across, anchor="middle"),
        _text(label_x, BOTTOM + 60, "events/s", anchor="end"),
    ]
    if curve.memory:
        lines.append(_text(label_x, BOTTOM + 76, "state, KB", anchor="end", fill=BESIDE))
    for i, (x, y) in enumerate(curve.points):
        place = _across(curve, x)
        lines.append(
            f'<line x1="{place:.1f}" y1="{BOTTOM}" x2="{place:.1f}" y2="{BOTTOM + 6}" stroke="{INK}"/>'
        )
        name = curve.labels[i] if curve.labels else short(x)
        lines.append(_text(place, BOTTOM + 30, name, anchor="middle"))
        lines.append(_text(place, BOTTOM + 60, millions(y), anchor="middle"))
        if curve.memory:
            lines.append(_text(place, BOTTOM + 76, f"{curve.memory[i]:,.0f}", anchor="middle", fill=BESIDE))
    return lines


def _path(places: list[tuple[float, float]], colour: str = LINE, more: str = "") -> str:
    points = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
    return f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="2" {more}/>'


def _text(x: float, y: float, text: str, anchor: str = "start", size: int = 12, fill: str = INK) -> str:
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" font-size="{size}" fill="{fill}">'
        f"{escape(text)}</text>"
    )


def _across(curve: Curve, x: float) -> float:
    scale = float if curve.labels else math.log10
    least, most = (scale(bound(x for x, _ in curve.points)) for bound in (min, max))
    share = (scale(x) - least) / (most - least) if most > least else 0.5
    return LEFT + 30 + share * (RIGHT - LEFT - 60)


def _up(y: float, top: float) -> float:
    return BOTTOM - y / top * (BOTTOM - TOP)


def _round_up(number: float) -> float:
    """The next of 1, 2, 4, 6, 8, 10 times a power of ten, for round numbers on the axis.

    >>> _round_up(12_500_000.0)
    20000000.0
    """
    power = float(10 ** math.floor(math.log10(number)))
    return next(step * power for step in (1, 2, 4, 6, 8, 10) if step * power >= number)
