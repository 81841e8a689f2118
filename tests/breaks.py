"""The engine broken on purpose, one place at a time: what `mutants.py` applies and the tests must notice.

A break replaces a short text inside one function of one file (an empty function name: at the top level of the file).
`noticed_by` is the least part of the tests that should fail.
"""

from __future__ import annotations

from dataclasses import dataclass

AGREEMENT = "tests/evaluators/test_agreement.py"
DEFINITION = f"{AGREEMENT}::test_compact_finds_what_the_definition_says"
MOVING = f"{AGREEMENT}::test_windows_that_move_on_forget_what_has_left_them"
SAVED = f"{AGREEMENT}::test_a_saved_engine_goes_on_where_it_was"
ONE_BY_ONE = f"{AGREEMENT}::test_one_event_a_batch_gives_the_same_matches"
LONG = "tests/evaluators/test_long_windows.py"
DENSE = "tests/evaluators/test_dense.py"
CLASSES = "tests/evaluators/test_classes.py"
COLUMNS = "tests/evaluators/test_columns.py"
FORGETTING = "tests/evaluators/test_forgetting.py"
MEMORY = "tests/test_memory.py"
NUMBERS = "tests/kernels/test_numbers.py"
HISTORY = "tests/matches/test_history.py"
LANES = "tests/streams/test_lanes.py"
ENGINE = "tests/test_engine.py"
SPEC = "tests/test_spec.py"
RULES = "tests/rewrite/test_rules.py"
PART_BY = "tests/rewrite/test_part_by.py"
COVERS = "tests/algebra/test_covers.py"
SECOND_ORDER = "tests/semantics/test_second_order.py"
FOLD = "tests/rewrite/test_fold.py"
CONSTRUCT = "tests/automata/test_construct.py"
TRIM = "tests/automata/test_trim.py"
SORTING = "tests/spark/test_sorting.py"
BATCH = "tests/spark/test_batch.py"

SLIDE = "kernels/slide.py"
TURN = "kernels/turn.py"
LANE = "kernels/lane.py"
DETERMINISE = "automata/determinise.py"
EVALUATOR = "evaluators/compact/evaluator.py"
STREAM_LANES = "streams/lanes.py"


@dataclass(frozen=True, slots=True)
class Break:
    """In `function` of `src/cepheid/{file}`, `old` becomes `new`, and `what` is no longer true."""

    file: str
    function: str
    old: str
    new: str
    what: str
    noticed_by: tuple[str, ...]
    spark: bool = False


WINDOWS = (
    Break(
        SLIDE,
        "expire",
        "+ low * EVENT_WORDS + key] < edge",
        "+ low * EVENT_WORDS + key] <= edge",
        "the first event of the window is inside it",
        (MOVING,),
    ),
    Break(
        SLIDE,
        "expire",
        "while pivot < end and heap[events + pivot * EVENT_WORDS + key] < edge",
        "while pivot < end and heap[events + pivot * EVENT_WORDS + key] <= edge",
        "a turn keeps the first event of the window",
        (MOVING,),
    ),
    Break(
        SLIDE,
        "expire",
        "POSITION if options.by_position else ROW",
        "ROW",
        "windows by count count in the partition",
        (MOVING, LANES),
    ),
    Break(
        EVALUATOR,
        "_edges",
        "(int(self._window.amount) - 1)",
        "int(self._window.amount)",
        "a window of N EVENTS holds N positions",
        (SPEC,),
    ),
    Break(
        "kernels/stream.py",
        "window_edges",
        "> amount",
        ">= amount",
        "an event exactly as old as the window is inside it",
        (SPEC,),
    ),
    Break(
        "streams/times.py",
        "age_limit",
        "np.floor(amount)",
        "np.ceil(amount)",
        "WITHIN 2.5 on whole times is WITHIN 2",
        (SPEC,),
    ),
    Break(
        EVALUATOR,
        "_edges",
        "all_rows[low:].copy(), all_times[low:].copy()",
        "all_rows[low + 1 :].copy(), all_times[low + 1 :].copy()",
        "times are kept as long as the window needs them",
        (ONE_BY_ONE,),
    ),
)

TURNS = (
    Break(
        TURN,
        "turn",
        "if t > 0 and options.gaps",
        "if t < 0 and options.gaps",
        "a turn steps over the gaps between relevant events",
        (LONG,),
    ),
    Break(
        TURN,
        "turn",
        "heap[events + begin * EVENT_WORDS + i]",
        "heap[events + i]",
        "a turn moves the events that are left to the front",
        (MOVING,),
    ),
    Break(
        TURN,
        "turn",
        "heap[at] = pivots[p]",
        "heap[at] = pivots[width - 1 - p]",
        "after a turn each pivot state stands by itself",
        (MOVING,),
    ),
    Break(
        TURN,
        "fold",
        "else rows[skip, i]",
        "else rows[state, i]",
        "folding follows skips to other states",
        (MOVING,),
    ),
    Break(
        TURN,
        "reach",
        "if target != DEAD and seen[target] != s",
        "if target != DEAD",
        "a state is a pivot once",
        (LONG,),
    ),
    Break(
        SLIDE,
        "emit_matches",
        "lanes[lane, FRONT] + lanes[lane, LOW] * width",
        "lanes[lane, FRONT]",
        "matches begin no earlier than the low end",
        (MOVING,),
    ),
    Break(
        SLIDE,
        "count_matches",
        "range(width if in_front else 1)",
        "range(1)",
        "counting goes through every pivot state",
        (MOVING,),
    ),
)

VALUES = (
    Break(
        SLIDE,
        "skip_on",
        "new_cell(heap, lanes, lane, 0, UNION, heap[at + p], value)",
        "value",
        "two ways to a state by skipping are united",
        (SPEC,),
    ),
    Break(
        SLIDE,
        "mark_on",
        "work[k * size + 1 + p], heap[at + p]\n",
        "work[k * size + 1 + p], EMPTY\n",
        "a mark is added to what the state holds",
        (MOVING,),
    ),
    Break(
        SLIDE,
        "slide",
        "batch.position[i] != lanes[lane, LAST] + 1",
        "batch.position[i] > lanes[lane, LAST] + 2",
        "one irrelevant event in between breaks a strict sequence",
        (SPEC, DEFINITION),
    ),
    Break(
        SLIDE,
        "slide",
        "options.consume and matched",
        "options.consume and matched and not options.counting",
        "counting consumes",
        (MOVING,),
    ),
    Break(
        SLIDE,
        "slide",
        "if lane >= 0:\n                leave(",
        "if lane < 0:\n                leave(",
        "a lane's states are its own",
        (LANES, MOVING),
    ),
    Break(
        SLIDE,
        "slide",
        "made_before + options.limit",
        "made_before + options.limit - 1",
        "LIMIT n gives n matches",
        (SPEC,),
    ),
    Break(
        "kernels/emit.py",
        "emit",
        "range(length_back - 1, -1, -1)",
        "range(length_back)",
        "the events of a match are in stream order",
        (MOVING,),
    ),
    Break(
        "kernels/emit.py",
        "next_string",
        "!= UNION",
        "!= UNION - 1",
        "a union of two sets is no event",
        (SPEC,),
    ),
    Break("kernels/emit.py", "emit", "end > guard", "end < 0", "too many matches are an error", (ENGINE,)),
    Break(
        LANE,
        "mark_cells",
        "(CELL_CHILD, CELL_ALTERNATIVE)",
        "(CELL_CHILD, CELL_CHILD)",
        "collection keeps alternatives",
        (LONG, FORGETTING),
    ),
    Break(
        LANE,
        "collect",
        "= number[child] if child > 0 else child",
        "= child",
        "collection renumbers what cells point to",
        (LONG, FORGETTING),
    ),
    Break(
        LANE,
        "collect",
        "number[cell] = kept",
        "number[cell] = cell",
        "collection renumbers what states hold",
        (LONG, FORGETTING),
    ),
    Break(
        "kernels/heap.py",
        "resize",
        "release(heap, meta, offset, k)",
        "pass",
        "what a lane outgrows is used again",
        (MEMORY,),
    ),
    Break(
        "kernels/heap.py",
        "resize",
        "heap[new_offset : new_offset + used] = heap[offset : offset + used]",
        "heap[new_offset : new_offset + used - 1] = heap[offset : offset + used - 1]",
        "a block that grows keeps all its words",
        (MOVING, LONG),
    ),
)

COUNTS = (
    Break("kernels/numbers.py", "add", "carry = word >> BITS", "carry = 0", "sums carry", (NUMBERS,)),
    Break(
        "kernels/numbers.py", "add", "carry = word >> BITS", "carry = 0", "sums carry (long windows)", (LONG,)
    ),
    Break(
        "kernels/numbers.py",
        "add_product",
        "k = i + width + 1",
        "k = i + width",
        "products carry to the word above",
        (NUMBERS,),
    ),
    Break(
        "kernels/numbers.py",
        "",
        "SAFE = 1 << 46",
        "SAFE = 1 << 62",
        "a number is widened before it can overflow",
        (NUMBERS, LONG),
    ),
    Break(
        "kernels/widen.py",
        "widen_lanes",
        "for lane in range(len(lanes))",
        "for lane in range(1)",
        "every lane is widened",
        (LONG,),
    ),
    Break(
        "kernels/widen.py",
        "widen_lanes",
        "if lanes[lane, LOW] < lanes[lane, PIVOT]",
        "if lanes[lane, LOW] > lanes[lane, PIVOT]",
        "the front is widened",
        (LONG,),
    ),
    Break(
        LANE,
        "reset",
        "for i in range(words):\n        heap[base + 2 + i] = 0",
        "for i in range(1):\n        heap[base + 2 + i] = 0",
        "a fresh lane counts one in all words",
        (LONG,),
    ),
    Break(
        EVALUATOR,
        "_widen",
        "from_int(to_int(self._total), max(",
        "from_int(to_int(self._total) & 0xFFFFFFFF, max(",
        "widening keeps the total",
        (LONG,),
    ),
)

DENSE_COUNTS = (
    Break(
        "kernels/dense.py",
        "count_dense",
        "low * EVENT_WORDS + key] < edge",
        "low * EVENT_WORDS + key] <= edge",
        "dense counting keeps the first event of the window",
        (MOVING,),
    ),
    Break(
        "kernels/dense.py",
        "count_dense",
        "identity(heap, back, dense.rows, states, words)",
        "pass",
        "dense counting consumes",
        (MOVING, SPEC, LONG),
    ),
    Break(
        "kernels/dense.py",
        "count_dense",
        "batch.position[i] != last + 1",
        "batch.position[i] > last + 2",
        "dense counting steps over gaps",
        (LONG,),
    ),
    Break(
        "kernels/dense.py",
        "add_matches",
        "before = heap[front + p] if in_front else 1",
        "before = 1",
        "dense counting multiplies by the ways before the pivot",
        (MOVING,),
    ),
    Break(
        "kernels/dense.py",
        "add_word_product",
        "carry = (middle >> DIGIT) + a_high * b_high + (word >> DIGIT)",
        "carry = (middle >> DIGIT) + a_high * b_high",
        "the dense total carries from digit to digit",
        (NUMBERS,),
    ),
    Break(
        "kernels/dense.py",
        "turn_dense",
        "if gaps and t > 0",
        "if gaps and t < 0",
        "a dense turn steps over gaps",
        (LONG,),
    ),
    Break(
        "kernels/dense.py",
        "turn_dense",
        "heap[events + begin * EVENT_WORDS + i]",
        "heap[events + i]",
        "a dense turn moves the events that are left to the front",
        (MOVING,),
    ),
    Break(
        "kernels/dense.py",
        "",
        "LIMIT = 1 << BITS",
        "LIMIT = 1 << 62",
        "dense counting gives up before a number can overflow",
        (DENSE, LONG),
    ),
    Break(
        "kernels/dense.py",
        "update_words",
        "carry[p] = value >> BITS",
        "carry[p] = 0",
        "sums of several words carry",
        (DENSE,),
    ),
    Break(
        "kernels/dense.py",
        "add_product",
        "n_b = split(heap, before, states, words, digits, half)",
        "pass",
        "products of several words multiply by the ways before the pivot",
        (DENSE,),
    ),
    Break(
        "kernels/thin.py",
        "regrow_number",
        "heap[top + new_states] = heap[top] >> BITS",
        "heap[top + new_states] = 0",
        "a word that is full goes on in the next",
        (DENSE,),
    ),
    Break(
        "kernels/thin.py",
        "thin_lanes",
        "for lane in range(begin, len(lanes))",
        "for lane in range(begin, begin + 1)",
        "every lane is handed over",
        (DENSE, LONG),
    ),
    Break(
        "kernels/thin.py",
        "regrow_lanes",
        "for row in range(rows)",
        "for row in range(1)",
        "matrices that grow keep all their rows",
        (DENSE,),
    ),
    Break(
        EVALUATOR,
        "load",
        'self._digits = np.array(state["digits"], np.int64)',
        "pass",
        "a loaded engine knows its dense count",
        (LONG,),
    ),
)

FORGOTTEN = (
    Break(
        "kernels/living.py",
        "window_rows",
        "if row >= edge",
        "if row > edge",
        "the first row of a window is kept",
        (FORGETTING,),
    ),
    Break(
        "kernels/living.py",
        "cell_rows",
        "!= UNION",
        "== UNION",
        "rows of partial matches without a window are kept",
        (FORGETTING,),
    ),
    Break(
        "kernels/living.py",
        "free_all_but",
        "            free(heap, meta, lanes, lane)",
        "            pass",
        "silent lanes give back what they hold",
        (MEMORY,),
    ),
    Break(
        "matches/history.py",
        "add",
        "[self._chunks[-1], last]",
        "[last, self._chunks[-1]]",
        "kept rows are in order",
        (HISTORY, ONE_BY_ONE),
    ),
    Break(
        STREAM_LANES,
        "keep",
        "self._keys[lanes, k] = places.reshape(-1)",
        "pass",
        "a forgotten text gives its number back",
        (MEMORY, FORGETTING),
    ),
)

PARTITIONS = (
    Break(
        "streams/times.py",
        "recent",
        "ages.view(np.uint64) <= age_limit(amount)",
        "ages.view(np.uint64) < age_limit(amount)",
        "a lane is kept while its last event is in the window",
        (FORGETTING,),
    ),
    Break(
        "kernels/interning.py",
        "intern_words",
        "keys[number, k] == words[i, k]",
        "keys[number, 0] == words[i, 0]",
        "keys that collide stay apart",
        (LANES,),
    ),
    Break(
        "kernels/interning.py",
        "rehash_words",
        "while slots[at] != 0",
        "while slots[at] < 0",
        "a larger table of keys holds them all",
        (LANES,),
    ),
    Break(
        STREAM_LANES,
        "_grow",
        "rehash_texts(self._ends, self._store, self.count, self._slots)",
        "pass",
        "a larger table of texts holds them all",
        (LANES,),
    ),
    Break(
        STREAM_LANES,
        "of",
        "words[:, -1] |= nulls.astype(np.int64) << k",
        "pass",
        "NULL is a key of its own",
        (LANES,),
    ),
    Break(
        STREAM_LANES,
        "_as_integers",
        "zero_copy_only=False) + 0.0",
        "zero_copy_only=False).copy()",
        "0.0 and -0.0 are one key",
        (LANES,),
    ),
    Break(
        "kernels/stream.py",
        "number_events",
        "last_rank[lane] += 1",
        "last_rank[lane] = 1",
        "events of one time have different ids",
        (DEFINITION,),
    ),
    Break(
        "kernels/stream.py",
        "number_events",
        "positions[lane] > 0 and ",
        "",
        "a lane's first event has rank 0",
        (LANES,),
    ),
    Break(
        "matches/table.py",
        "label_hashes",
        "sorted(names)",
        "[]",
        "the id of a match depends on its binding",
        (ENGINE,),
    ),
    Break(
        "kernels/hashing.py",
        "",
        "0x9E3779B97F4A7C15",
        "0x9E3779B97F4A7C13",
        "ids are the same in every release",
        (ENGINE,),
    ),
    Break(
        "matches/table.py",
        "_variable",
        "index[where]\n    return _events(layout.schema, events, chosen, ~present)",
        "index[where]\n    return _events(layout.schema, events, chosen, None)",
        "a variable that is not bound is NULL",
        (SPEC,),
    ),
    Break(
        EVALUATOR,
        "_by_end",
        "if bool(np.all(ends[1:] >= ends[:-1]))",
        "if True",
        "matches of several lanes come by their end",
        (ENGINE,),
    ),
)

STRATEGIES = (
    Break(
        DETERMINISE,
        "_ranked_moves",
        "for group in range(len(ranks)) for mark in (True, False)",
        "for group in range(len(ranks)) for mark in (False, True)",
        "NXT prefers what marks first",
        (SPEC,),
    ),
    Break(
        DETERMINISE,
        "_ranked_moves",
        "for mark in (True, False) for group in range(len(ranks))",
        "for group in range(len(ranks)) for mark in (True, False)",
        "LAST prefers what marks last",
        (SPEC,),
    ),
    Break(
        DETERMINISE,
        "_ranked_moves",
        "winner == rank and self._final(reached)",
        "self._final(reached)",
        "only the best complex event is accepted",
        (SPEC,),
    ),
    Break(
        DETERMINISE,
        "_maximal_moves",
        " and not self._final(more_marked)",
        "",
        "MAX drops what a larger one contains",
        (SPEC,),
    ),
    Break(
        DETERMINISE,
        "_maximal_moves",
        "| same_marked",
        "",
        "MAX compares with what marks where this one skips",
        (SPEC,),
    ),
    Break(
        DETERMINISE,
        "_maximal_moves",
        "target(reached, same_marked, more_marked)",
        "target(reached, reached, more_marked)",
        "MAX compares under any binding",
        (SPEC,),
    ),
    Break(
        DETERMINISE,
        "_plain_moves",
        "            skipped = NONE",
        "            pass",
        "STRICT skips nothing",
        (SPEC,),
    ),
    Break(
        EVALUATOR,
        "__init__",
        "query.strategy is Strategy.STRICT or any(",
        "any(",
        "STRICT notices irrelevant events",
        (SPEC,),
    ),
)

AUTOMATA = (
    Break(
        "automata/construct.py",
        "_repeated",
        "_then(copies[-1], copies[-1], positions.loose)",
        "_then(copies[-1], copies[-1], positions.strict)",
        "iterations may have events in between",
        (CONSTRUCT,),
    ),
    Break(
        "automata/construct.py",
        "_states",
        "elif strict <= loose",
        "elif True",
        "a position with both kinds of follower tells them apart",
        (CONSTRUCT,),
    ),
    Break(
        "automata/trim.py",
        "_signatures",
        "(mark.predicate, mark.label, block_of[mark.target])",
        "(mark.predicate, block_of[mark.target])",
        "states that bind otherwise are not merged",
        (TRIM,),
    ),
    Break(
        "automata/trim.py",
        "_signatures",
        "return marks, None if skip is None else block_of[skip]",
        "return marks",
        "states that skip otherwise are not merged",
        (TRIM,),
    ),
    Break(
        "automata/trim.py",
        "_blocks",
        "1 if state in automaton.finals else 0",
        "0",
        "final and other states are not merged",
        (TRIM,),
    ),
    Break(
        "evaluators/compact/classes.py",
        "_number",
        "begin + bit for bit",
        "bit for bit",
        "predicates beyond the 62nd have numbers of their own",
        (CLASSES,),
    ),
    Break(
        "evaluators/compact/classes.py",
        "_number",
        "self.satisfied[klass] | further",
        "further",
        "a class has the predicates of all words",
        (CLASSES,),
    ),
    Break(
        "evaluators/compact/classes.py",
        "_combine",
        "keys.astype(np.int64)]), axis=1",
        "keys.astype(np.int64) & 0xFFFF]), axis=1",
        "a class has more than 16 predicates",
        (CLASSES,),
    ),
)

REWRITING = (
    Break(
        "algebra/variables.py",
        "is_iteration",
        "pattern.hi != 1",
        "pattern.hi is None",
        "conditions stay out of iterations",
        (RULES, SPEC),
    ),
    Break(
        "rewrite/push.py",
        "push",
        "if var is not None and var in bound(body)",
        "if var is not None",
        "a condition waits for its variable",
        (RULES,),
    ),
    Break(
        "rewrite/safe.py",
        "_disjoint",
        "if not names & others",
        "if names is not others",
        "no variable is bound on both sides of a sequence",
        (RULES,),
    ),
    Break(
        "rewrite/parametrise.py",
        "_decide",
        "Negation(IsTrue(condition))",
        "Negation(condition)",
        "NULL falls on the side that is not true",
        (RULES,),
    ),
    Break(
        "rewrite/split.py",
        "_inwards",
        "return Disjunction(tuple(_inwards(Negation(operand))",
        "return Conjunction(tuple(_inwards(Negation(operand))",
        "NOT (P AND Q) is NOT P OR NOT Q",
        (RULES,),
    ),
    Break(
        "rewrite/fold.py",
        "_any",
        "any(Negation(IsTrue(part)) in known",
        "any(Negation(part) in known or Negation(IsTrue(part)) in known",
        "P OR NOT P is NULL where P is",
        (FOLD, RULES),
    ),
    Break(
        "evaluators/columns/compare.py",
        "negated",
        "known(~value.true, value.null)",
        "Truth(~value.true)",
        "NOT NULL is NULL",
        (SPEC,),
    ),
    Break(
        "evaluators/columns/compare.py",
        "all_of",
        "Truth(true, ~(true | false))",
        "Truth(true, nulls_of(left) | nulls_of(right))",
        "NULL AND false is false",
        (COLUMNS,),
    ),
    Break(
        "evaluators/columns/compare.py",
        "_compare_whole_with_real",
        'in ("<", ">=")',
        'in ("<=", ">")',
        "whole numbers compare with reals exactly",
        (COLUMNS,),
    ),
    Break(
        "evaluators/columns/compare.py",
        "",
        '"<>": np.not_equal',
        '"<>": lambda a, b: (a < b) | (a > b)',
        "NaN differs from everything",
        (SPEC,),
    ),
)

STATE = (
    Break(
        EVALUATOR,
        "load",
        'self._rows = np.array(state["rows"], np.int64)',
        "pass",
        "a loaded engine knows the rows of its window",
        (LONG,),
    ),
    Break(
        EVALUATOR,
        "load",
        'self._words = int(state["words"][0])',
        "pass",
        "a loaded engine knows how wide its numbers are",
        (LONG,),
    ),
    Break(
        EVALUATOR,
        "load",
        'self._total = np.array(state["total"], np.int64)',
        "pass",
        "a loaded engine knows its count",
        (LONG,),
    ),
    Break(
        "evaluators/compact/transitions.py",
        "load",
        'self._classes.restore([frozenset(item) for item in content["classes"]])',
        "pass",
        "a loaded engine numbers classes as before",
        (SAVED, CLASSES),
    ),
    Break(
        DETERMINISE,
        "load",
        "self._keys = keys",
        "pass",
        "a loaded engine numbers states as before",
        (SAVED,),
    ),
    Break(
        STREAM_LANES,
        "load",
        'self._numbers[:, : self.count] = state["lanes.numbers"]',
        "pass",
        "a loaded engine goes on counting positions",
        (LANES,),
    ),
    Break(
        "engine.py",
        "restore",
        'self._last = tables.get("last")',
        "pass",
        "a loaded engine refuses rows from before it was saved",
        (ENGINE,),
    ),
    Break(
        "engine.py",
        "restore",
        'header["rows"], header["reported"]',
        'header["rows"], 0',
        "a loaded engine goes on with its LIMIT",
        (ENGINE,),
    ),
    Break(
        "engine.py",
        "_tabulated",
        "max(0, self._limit - self._reported)",
        "self._limit",
        "a LIMIT is for all batches together",
        (ENGINE,),
    ),
    Break(
        "engine.py",
        "",
        "self._last = order.slice(len(order) - 1)",
        "pass",
        "order is checked from batch to batch",
        (ENGINE,),
    ),
    Break(
        "streams/order.py",
        "sort_stream",
        '("order", "ascending")',
        '("order", "descending")',
        "ties go by the order column, upwards",
        (SORTING,),
    ),
    Break(
        "streams/order.py",
        "sort_stream",
        'np.argsort(times, kind="stable")',
        "np.argsort(-times, kind='stable')[::-1]",
        "ties without an order column go by arrival",
        (SORTING,),
    ),
    Break(
        "streams/order.py",
        "first_unordered",
        "(order[1:] < order[:-1])",
        "(order[1:] < 0)",
        "the order column is checked",
        (ENGINE,),
    ),
    Break(
        "streams/times.py",
        "times_of",
        "ticks // 1000",
        "ticks",
        "nanoseconds count as microseconds do",
        (ENGINE,),
    ),
)

ON_SPARK = (
    Break(
        "spark/slices.py",
        "_reach",
        "return cut - math.ceil(within)",
        "return cut - math.ceil(within) + 1",
        "slices overlap by a whole window",
        (f"{BATCH}::test_any_number_of_slices_gives_the_same_matches",),
        spark=True,
    ),
    Break(
        "spark/slices.py",
        "sliced",
        "OVERLAP, quoted(SLICE) != first",
        "OVERLAP, sql.lit(False)",
        "a match is reported by one slice",
        (f"{BATCH}::test_any_number_of_slices_gives_the_same_matches",),
        spark=True,
    ),
    Break(
        "spark/slices.py",
        "why_not",
        "if query.consume",
        "if query.consume and query.window is None",
        "consumption is not cut into slices",
        (BATCH,),
        spark=True,
    ),
    Break(
        "spark/batch.py",
        "_distributed",
        "numbered.repartition(*map(quoted, keys))",
        "numbered.repartition(4)",
        "all rows of a key are in one task",
        (f"{BATCH}::test_more_shuffle_partitions_change_nothing",),
        spark=True,
    ),
    Break(
        "spark/sorting.py",
        "_sorted",
        "if np.any(arrival[1:] < arrival[:-1])",
        "if False",
        "ties go by arrival after a shuffle",
        (SORTING,),
    ),
    Break(
        "spark/batch.py",
        "count_spark",
        "min(total, plan.query.limit)",
        "total",
        "a count keeps to the LIMIT",
        (f"{BATCH}::test_a_limit_takes_that_many_of_the_matches",),
        spark=True,
    ),
)

CORRELATION = (
    Break(
        "semantics/meaning.py",
        "_satisfying",
        "if all(holds_at(",
        "if any(holds_at(",
        "sets: a condition holds for all events",
        (SECOND_ORDER,),
    ),
    Break(
        "semantics/meaning.py",
        "_unite",
        "if valuation is not None:",
        "if valuation is not None and not {*left.events} & {*right.events}:",
        "ALL: the two sides may share events",
        (SECOND_ORDER, SPEC),
    ),
    Break(
        "semantics/meaning.py",
        "_bind",
        "for position in result.events)",
        "for position in result.events[:1])",
        "sets: IN gathers all events of its part",
        (SECOND_ORDER, SPEC),
    ),
    Break(
        "semantics/keys.py",
        "key_of",
        "if value != value:",
        "if value is None or value != value:",
        "keys: NULL and NaN are two",
        (SPEC,),
    ),
    Break(
        "evaluators/semantics.py",
        "_labels_of",
        "names_at[position].add(name)",
        "names_at[position] = {name}",
        "sets: an event has all its names",
        (SPEC, f"{AGREEMENT}::test_sets_and_part_by_are_the_oracle_in_batches"),
    ),
    Break(
        "algebra/covers.py",
        "uncovered",
        "isinstance(pattern, Bind) and pattern.var in names",
        "isinstance(pattern, Bind)",
        "covers: only sets that are listed cover",
        (COVERS,),
    ),
    Break(
        "algebra/covers.py",
        "_check_key",
        "if repeated is None:",
        "if repeated is not None:",
        "covers: a variable of a repetition is no key",
        (COVERS, SPEC),
    ),
    Break(
        "rewrite/simplify.py",
        "simplify",
        "case Filter(body, condition) if sets_read(condition):",
        "case Filter(body, condition) if False:",
        "sets: an empty one satisfies what is never true",
        (SPEC, RULES),
    ),
    Break(
        "rewrite/split.py",
        "_filtered",
        "condition if sets_read(condition) else _inwards(condition)",
        "_inwards(condition)",
        "sets: where one is empty NOT (P OR Q) is not NOT P AND NOT Q",
        (RULES,),
    ),
    Break(
        "rewrite/partition.py",
        "_asks_about_the_stream",
        "by_count or query.consume or",
        "by_count or",
        "PART-BY: CONSUME forgets the whole stream",
        (PART_BY, SPEC),
    ),
    Break(
        "rewrite/partition.py",
        "_asks_about_the_stream",
        "isinstance(node, Seq | Or | All | Repeat | Filter | PartBy | Bind)",
        "True",
        "PART-BY: neighbours are neighbours in the whole stream",
        (PART_BY, SPEC),
    ),
    Break(
        "rewrite/partition.py",
        "_taken_off",
        "if set(names) == set(others)",
        "if names",
        "PART-BY: both sides of an OR have the key",
        (PART_BY,),
    ),
    Break(
        "rewrite/single.py",
        "_at_most_one",
        "(hi == 1 and _at_most_one(body))",
        "_at_most_one(body)",
        "PART-BY: rounds are compared",
        (PART_BY, RULES),
    ),
    Break(
        "engine.py",
        "__init__",
        "self._lanes = Lanes(plan.query.partition_by)",
        "self._lanes = Lanes(plan.rewritten.partition_by)",
        "PART-BY: ids are those of the query as written",
        (PART_BY,),
    ),
    Break(
        "engine.py",
        "save",
        "self.plan.asked",
        "self.plan.evaluator",
        "PART-BY: a loaded engine has the plan it was saved with",
        (PART_BY,),
    ),
    Break(
        "engine.py",
        "restore",
        'self._split.load(_part(arrays, "split:"))',
        "pass",
        "PART-BY: a loaded engine knows its keys",
        (PART_BY,),
    ),
)

BREAKS: tuple[Break, ...] = (
    *WINDOWS,
    *TURNS,
    *VALUES,
    *COUNTS,
    *DENSE_COUNTS,
    *FORGOTTEN,
    *PARTITIONS,
    *STRATEGIES,
    *AUTOMATA,
    *REWRITING,
    *STATE,
    *CORRELATION,
    *ON_SPARK,
)
