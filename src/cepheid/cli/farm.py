"""A made-up day of farm sensors, after the running example of `cel-cea` (section 2, figure 1).

In: how many readings, and a seed. Out: an Arrow table with the events T(id, tmp) and H(id, hum) of many
sensors, in stream order: `ts`, `type`, `id`, and `tmp` (°C) or `hum` (%), the other one NULL. The same seed
gives the same table. A few sensors see a fire, hot and then dry; more see rain after a dry spell.
"""

from __future__ import annotations

import datetime as dt

import numpy as np
import numpy.typing as npt
import pyarrow as pa

Floats = npt.NDArray[np.float64]
Numbers = npt.NDArray[np.int64]

BEGIN = dt.datetime(2024, 7, 1, tzinfo=dt.UTC)
DAY_US = 24 * 3600 * 1_000_000
SENSORS = 200
FIRES = 12
RAINS = 40


def farm_stream(events: int = 200_000, seed: int = 1) -> pa.Table:
    """
    >>> table = farm_stream(1_000)
    >>> table.num_rows, table.column_names
    (1000, ['ts', 'type', 'id', 'tmp', 'hum'])
    """
    random = np.random.default_rng(seed)
    time_us = np.sort(random.choice(DAY_US // 1000, size=events, replace=False)) * 1000
    sensor = random.integers(0, SENSORS, events)
    is_temperature = random.random(events) < 0.5
    hour = time_us / DAY_US * 24
    warmth = np.sin((hour - 9) / 24 * 2 * np.pi)  # coldest at three, warmest at fifteen hours
    temperature = 22 + 9 * warmth + random.normal(0, 1.5, events)
    humidity = 48 - 12 * warmth + random.normal(0, 4, events)
    for spell in _spells(random, FIRES, minutes=12):
        burning = _during(spell, sensor, time_us)
        temperature[burning] = random.normal(52, 5, burning.sum())
        humidity[burning] = random.normal(17, 3, burning.sum())
    for spell in _spells(random, RAINS, minutes=60):
        _rain(spell, sensor, time_us, humidity)
    return pa.table(
        {
            "ts": pa.array(time_us + int(BEGIN.timestamp()) * 1_000_000, pa.timestamp("us", "UTC")),
            "type": pa.array(np.where(is_temperature, "T", "H")),
            "id": pa.array(sensor, pa.int32()),
            "tmp": pa.array(temperature.round(1), mask=~is_temperature),
            "hum": pa.array(humidity.round(1).clip(2, 99), mask=is_temperature),
        }
    )


def _spells(random: np.random.Generator, number: int, minutes: int) -> list[tuple[int, int, int]]:
    """Sensor, begin and end (µs) of something that lasts a while."""
    length = minutes * 60 * 1_000_000
    begins = random.integers(0, DAY_US - length, number)
    sensors = random.integers(0, SENSORS, number)
    return [(int(s), int(b), int(b) + length) for s, b in zip(sensors, begins, strict=True)]


def _during(spell: tuple[int, int, int], sensor: Numbers, time_us: Numbers) -> npt.NDArray[np.bool_]:
    where, begin, end = spell
    inside: npt.NDArray[np.bool_] = (sensor == where) & (time_us >= begin) & (time_us < end)
    return inside


def _rain(spell: tuple[int, int, int], sensor: Numbers, time_us: Numbers, humidity: Floats) -> None:
    """Dry for the first half, wet for the second."""
    where, begin, end = spell
    middle = (begin + end) // 2
    dry = _during((where, begin, middle), sensor, time_us)
    wet = _during((where, middle, end), sensor, time_us)
    humidity[dry] = np.minimum(humidity[dry], 28)
    humidity[wet] = np.maximum(humidity[wet] + 30, 65)
