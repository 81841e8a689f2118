"""Breaks of counts by vectors of starts; see `breaks.py`."""

from __future__ import annotations

from breaking import Break

COUNTS = "tests/evaluators/test_vector_store.py"
ROOM = "tests/evaluators/test_configurations_room.py"
WORK = "tests/test_configurations_work.py"
LONG = "tests/evaluators/test_configurations_long.py"

VECTORS = "kernels/loops/vectors/arithmetic.py"
MOVES = "kernels/loops/vectors/transitions.py"
SLOTS = "kernels/loops/vectors/slots.py"
TABLES = "evaluators/configurations/tables.py"

COUNTED: tuple[Break, ...] = (
    Break(
        VECTORS,
        "make_exact",
        "high[p] += low[p] >> BITS",
        "high[p] += 0",
        "counts: what exceeds a word is carried",
        (COUNTS,),
    ),
    Break(
        VECTORS,
        "make_alike",
        "if heap[target + V_LENGTH] < heap[source + V_LENGTH]:",
        "if heap[target + V_AT] == 0:",
        "counts: what longer numbers are added to becomes as long",
        (COUNTS,),
    ),
    Break(
        VECTORS,
        "add_masked_row",
        "ours[p] += theirs[p] & mask[p]",
        "ours[p] += theirs[p]",
        "counts: only starts of which the tests hold move",
        (COUNTS,),
    ),
    Break(
        VECTORS,
        "move_vector",
        "clear_row(heap, target + w * room + count, room - count)",
        "pass",
        "counts: places of starts to come are empty",
        (COUNTS,),
    ),
    Break(
        VECTORS,
        "sum_of_row",
        "high += row[p] >> BITS",
        "high += 0",
        "counts: a sum has the upper halves of words, too",
        (COUNTS,),
    ),
    Break(
        VECTORS,
        "lengthen",
        "clear_row(heap, heap[vector + V_AT] + old * room, (length - old) * room)",
        "pass",
        "counts: new words are 0",
        (COUNTS,),
    ),
    Break(
        MOVES,
        "leave_window",
        "partitions[partition, C_LO] += 1",
        "break",
        "counts: starts leave the window",
        (COUNTS,),
    ),
    Break(
        MOVES,
        "leave_empty",
        "if partitions[partition, C_SLOTS] > 0:",
        "if False:",
        "counts: starts that only slots know of are not over",
        (COUNTS,),
    ),
    Break(
        MOVES,
        "leave_empty",
        "partitions[partition, C_LO] += 1",
        "return",
        "counts: starts that hold nothing any more are not looked at",
        (WORK,),
    ),
    Break(
        MOVES,
        "settle",
        "add_vector(heap, meta, partitions, partition, vector, came, space.mask, False)",
        "pass",
        "counts: what comes to a state is added to what stayed",
        (COUNTS,),
    ),
    Break(
        MOVES,
        "go",
        "take_away(heap, partitions, partition, vector, space.mask, is_masked)",
        "pass",
        "counts: what cannot stay is gone",
        (COUNTS,),
    ),
    Break(
        MOVES,
        "compare_reals",
        "unordered = outcomes & UNORDERED != 0 and other != NULL_REAL",
        "unordered = False",
        "counts: NaN differs from all numbers",
        (COUNTS,),
    ),
    Break(
        MOVES,
        "compare_wholes",
        "if words[p * step] == NULL_WORD:",
        "if False:",
        "counts: NULL compares with nothing",
        (COUNTS,),
    ),
    Break(
        MOVES,
        "goal_vector",
        "heap[slot + S_ORDINAL] = max(heap[slot + S_ORDINAL], newest_start)",
        "heap[slot + S_ORDINAL] = newest_start",
        "counts: a slot lives as long as the newest of its starts",
        (COUNTS,),
    ),
    Break(
        SLOTS,
        "slot_for",
        "return known",
        "known = 0",
        "counts: what agrees shares a slot",
        (WORK,),
    ),
    Break(
        SLOTS,
        "drop_slots",
        "now_at(index, heap, target, kept)",
        "pass",
        "counts: a slot that was moved is found where it is",
        (COUNTS,),
    ),
    Break(
        "kernels/loops/vectors/collect.py",
        "_copy_vector",
        "out_heap[target + V_BITS] = heap[vector + V_BITS]",
        "out_heap[target + V_BITS] = 0",
        "counts: a copy knows how long its words may be",
        (COUNTS,),
    ),
    Break(
        "kernels/loops/vectors/collect.py",
        "stored_words",
        "heap[column + word] = values[count]",
        "pass",
        "counts: texts of starts and slots get their new numbers",
        (COUNTS,),
    ),
    Break(
        "kernels/loops/vectors/loop.py",
        "room_needed",
        "words += (2 + 6 * turns.goals[klass]) * held + layout.states[0] * room_for(room)",
        "pass",
        "counts room: vectors may become longer, and move",
        (ROOM,),
    ),
    Break(
        TABLES,
        "_turns",
        "in_place[klass] = ordered is not None",
        "in_place[klass] = True",
        "counts: where there is no order, what comes waits",
        (COUNTS,),
    ),
    Break(
        TABLES,
        "_ordered",
        "or again not in ([], [outcome.skip])",
        "or False",
        "counts: what goes from a slot to another of the same state waits",
        (COUNTS,),
    ),
)
