"""Breaks of streams on Spark, all noticed without a JVM; see `breaks.py`."""

from __future__ import annotations

from breaking import Break

BATCHES = "tests/spark/live/test_micro_batches.py"
LATE = f"{BATCHES}::test_a_row_at_the_watermark_of_an_earlier_micro_batch_is_late"
BEFORE_1970 = f"{BATCHES}::test_times_before_1970_pass_by_the_same_rule"
RELEASED = f"{BATCHES}::test_rows_are_released_when_the_watermark_has_come_to_them"
ARRIVAL = f"{BATCHES}::test_rows_of_one_time_keep_the_order_of_their_arrival"
MERGED = f"{BATCHES}::test_pages_are_merged_in_stream_order"
SIZE = "tests/spark/live/test_state_size.py"
NOTHING_LEFT = f"{SIZE}::test_nothing_is_left_when_the_watermark_has_passed_the_window"
OPERATOR = "tests/spark/live/test_operator.py"
ALARMS = f"{OPERATOR}::test_each_bucket_is_called_when_the_watermark_has_moved_and_only_then"

BUCKET = "spark/live/bucket.py"
MERGE = "spark/live/merge.py"

STREAMS: tuple[Break, ...] = (
    Break(
        BUCKET,
        "passed",
        "newest - delay",
        "newest",
        "streams: times before 1970 wait for the watermark, too",
        (BEFORE_1970,),
    ),
    Break(
        BUCKET,
        "hear",
        "max(known, newest_ms)",
        "newest_ms",
        "streams: the watermark of times before 1970 does not go back",
        (f"{BATCHES}::test_the_newest_time_is_kept_only_while_spark_does_not_show_it",),
    ),
    Break(
        BUCKET,
        "take",
        "page.low <= head.watermark",
        "page.low < head.watermark",
        "streams: a row at the last watermark is late",
        (LATE,),
    ),
    Break(
        BUCKET,
        "take",
        "len(self._on_time(table)), head.watermark",
        "len(self._on_time(table)), None",
        "streams: the late rows of a page are not matched",
        (LATE,),
    ),
    Break(
        BUCKET,
        "take",
        "key=lambda given: (given.source, given.number)",
        "key=lambda given: given.number",
        "streams: rows keep the order of the source's tasks",
        (ARRIVAL,),
    ),
    Break(
        BUCKET,
        "release",
        "if page.low <= last]",
        "if page.low < last]",
        "streams: a row at the watermark is released",
        (RELEASED,),
    ),
    Break(
        BUCKET,
        "_settle",
        "page.done = last",
        "pass",
        "streams: rows of a page are read once",
        (RELEASED,),
    ),
    Break(
        BUCKET,
        "_settle",
        "if page.high <= last and",
        "if page.low <= last and",
        "streams: a page is kept until it is read to its end",
        (RELEASED,),
    ),
    Break(
        BUCKET,
        "_settle",
        "if page.high > last]",
        "if page.low > last]",
        "streams: the head knows of pages that are read in part",
        (RELEASED,),
    ),
    Break(
        BUCKET,
        "_put_engine",
        'saved = engine.save() if engine.expire(last) else b""',
        'saved = b""',
        "streams: the engine outlasts the call",
        (RELEASED,),
    ),
    Break(
        BUCKET,
        "_put_engine",
        "last <= head.until",
        "last < head.until",
        "streams: an engine is kept to the end of its window",
        (NOTHING_LEFT,),
    ),
    Break(
        BUCKET,
        "_put_engine",
        "engine.remembers_until(last)",
        "engine.remembers_until(0 * last)",
        "streams: the window begins at the last event",
        (NOTHING_LEFT,),
    ),
    Break(
        BUCKET,
        "_put_engine",
        "head.taken, head.given = engine.numbers",
        "pass",
        "streams: positions go on after all was forgotten",
        (f"{BATCHES}::test_positions_go_on_after_everything_was_forgotten",),
    ),
    Break(
        BUCKET,
        "close",
        "head.calls += 1",
        "pass",
        "streams: files of late rows have names of their own",
        (f"{OPERATOR}::test_late_rows_are_written_once_to_files_that_their_bucket_names",),
    ),
    Break(
        "spark/live/operator.py",
        "_set_alarm",
        "max(watermark_ms, 0) + 1",
        "max(watermark_ms, 0)",
        "streams: an alarm rings when the watermark has moved",
        (ALARMS,),
    ),
    Break(
        "spark/live/operator.py",
        "_set_alarm",
        "self._handle.registerTimer(alarm)",
        "pass",
        "streams: an alarm is set",
        (ALARMS,),
    ),
    Break(
        "spark/live/pack.py",
        "__call__",
        "for key in self.keys]",
        "for key in self.keys[:0]]",
        "streams: every bucket hears of every micro-batch",
        (ALARMS,),
    ),
    Break(
        MERGE,
        "in_order",
        "schema.time), page.done)",
        "schema.time), None)",
        "streams: what has been read is not merged again",
        (MERGED,),
    ),
    Break(
        MERGE,
        "in_order",
        "for place in sorted(parts):",
        "for place in list(parts):",
        "streams: merged pages keep the order of arrival",
        (MERGED,),
    ),
    Break(
        MERGE,
        "_end",
        'cut, side="left"',
        'cut, side="right"',
        "streams: rows of one time are merged together",
        (MERGED,),
    ),
    Break(
        "spark/live/watermark.py",
        "passed",
        "watermark_ms <= 0",
        "watermark_ms < 0",
        "streams: a watermark of 0 says nothing",
        (f"{SIZE}::test_rows_before_the_first_watermark_wait",),
    ),
    Break(
        "spark/live/job.py",
        "going_on",
        "if changed:",
        "if False:",
        "streams: a checkpoint is not taken over by another query",
        (f"{BATCHES}::test_a_checkpoint_is_gone_on_with_by_what_began_it",),
    ),
    Break(
        "engine.py",
        "expire",
        "if not self._forgets:\n            self._forget()",
        "if not self._forgets:\n            pass",
        "streams: rows of no match are not saved",
        ("tests/test_engine.py::test_rows_that_no_match_can_contain_are_forgotten_without_a_window",),
    ),
    Break(
        "evaluators/chain/arena.py",
        "load",
        "self.collect(edge)",
        "self.collect(NEVER)",
        "streams: a chain that is loaded before every batch drops what has left the window",
        (
            "tests/test_memory.py::"
            "test_an_engine_that_is_saved_after_every_batch_drops_what_has_left_the_window[30-chain]",
        ),
    ),
)
