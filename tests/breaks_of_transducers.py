"""Breaks of register transducers and of the configurations evaluator; see `breaks.py`."""

from __future__ import annotations

from breaking import Break

SRT = "tests/automata/test_srt.py"
CONFIGURATIONS = "tests/evaluators/test_configurations.py"
REGISTERS = f"{CONFIGURATIONS}::test_registers_hold_what_the_definition_says"
SHORT = f"{CONFIGURATIONS}::test_short_expressions_agree_on_longer_streams"
COMPARES = f"{CONFIGURATIONS}::test_filters_compare_what_the_definition_compares"
FORGETS = f"{CONFIGURATIONS}::test_what_is_forgotten_is_never_missed"
LONG_CONFIGURATIONS = "tests/evaluators/test_configurations_long.py"
CONFIGURATIONS_WORK = "tests/test_configurations_work.py"
HIDES = f"{CONFIGURATIONS}::test_an_iteration_hides_the_variables_around_it"
VECTORS = "tests/evaluators/test_configurations_vectors.py"
SPEC = "tests/test_spec.py"
GATHERED = "tests/rewrite/test_attach_sets.py"
LATE = f"{GATHERED}::test_one_event_of_a_set_decides_for_all"
ASKED = "tests/evaluators/test_questions.py"

DETERMINISE = "automata/srt_determinise.py"
TRIM = "automata/srt_trim.py"
ATTACH = "rewrite/attach.py"
ATTACH_SETS = "rewrite/attach_sets.py"
CHECKED = "evaluators/configurations/checked.py"
EMIT = "kernels/config_emit.py"
QUESTIONS = "evaluators/configurations/questions.py"
COLLECT = "kernels/config_collect.py"
EVALUATOR = "evaluators/configurations/evaluator.py"

TRANSDUCERS: tuple[Break, ...] = (
    Break(
        "automata/srt_construct.py",
        "_stored",
        "if name not in used and (name == first",
        "if (name == first",
        "transducers: an event that is still looked at is not overwritten",
        (SRT,),
    ),
    Break(
        TRIM,
        "_needed_writes",
        "one.writes & looked_at[one.target]",
        "one.writes & looked_at[one.source]",
        "transducers: what is read later is stored",
        (SRT,),
    ),
    Break(
        TRIM,
        "_alike",
        "classes = [int(state in srt.finals)",
        "classes = [0",
        "transducers: a state that accepts is no other",
        (SRT,),
    ),
    Break(
        TRIM,
        "_from_start",
        "if all(idle(one) for one in transitions if one.target == 0):",
        "if True:",
        "transducers: where the start is come back to, it may read on",
        (SRT,),
    ),
    Break(
        "automata/srt_ends.py",
        "with_one_end",
        "if item.target in goes_on]",
        "if item.target not in srt.finals]",
        "transducers: what accepts may go on",
        (
            REGISTERS,
            COMPARES,
        ),
    ),
    Break(
        DETERMINISE,
        "_outcome",
        "{(0, ())} if columns == ROOT else set()",
        "set()",
        "registers determinised: a match may begin at any event",
        (REGISTERS,),
    ),
    Break(
        DETERMINISE,
        "_outcome",
        "marking.setdefault(move.label, set()).update(move.reached)",
        "marking[move.label] = set(move.reached)",
        "registers determinised: runs that mark the same are together",
        (REGISTERS,),
    ),
    Break(
        DETERMINISE,
        "_reached",
        "{**where, **dict.fromkeys(transition.writes, NEW)}",
        "{**dict.fromkeys(transition.writes, NEW), **where}",
        "registers determinised: a register that is stored again holds the new event",
        (SPEC,),
    ),
    Break(
        DETERMINISE,
        "without_idle",
        "if without == with_it:",
        "if without[:1] == with_it[:1]:",
        "registers determinised: tests that change something are asked",
        (
            REGISTERS,
            COMPARES,
        ),
    ),
    Break(
        DETERMINISE,
        "_live",
        "(live[transition.target] - transition.writes)",
        "frozenset()",
        "registers determinised: what is read much later is kept",
        (
            REGISTERS,
            COMPARES,
        ),
    ),
    Break(
        DETERMINISE,
        "_live",
        "read |= {register for register, _ in transition.guard.within}",
        "pass",
        "registers determinised: nested windows read their first event",
        (
            REGISTERS,
            SHORT,
        ),
    ),
    Break(
        DETERMINISE,
        "_goal",
        "if columns > 0 and used - {0}:",
        "if columns > 0:",
        "registers determinised: what remembers nothing more goes back to where it began",
        (CONFIGURATIONS_WORK,),
    ),
    Break(
        "automata/srt_minimise.py",
        "_grouped",
        "Goal(group[goal.state], goal.place, goal.carry)",
        "Goal(group[goal.state], goal.place, goal.carry[-1:])",
        "registers minimised: columns are carried along",
        (COMPARES,),
    ),
    Break(
        "automata/srt_minimise.py",
        "__init__",
        "self.is_idle_on_others = all(",
        "self.is_idle_on_others = any(",
        "registers minimised: events that end something are looked at",
        (
            REGISTERS,
            COMPARES,
        ),
    ),
    Break(
        "rewrite/attach_atoms.py",
        "on_last",
        "if names & bound(right):",
        "if not names & bound(left):",
        "attach: a filter goes to the last event it reads",
        (COMPARES,),
    ),
    Break(
        ATTACH,
        "_renamed",
        "{**scope, **names.scope(defined_once(body))}",
        "{**names.scope(defined_once(body)), **scope}",
        "attach: an iteration hides the variables around it",
        (HIDES,),
    ),
    Break(
        EMIT,
        "emit_list",
        "waiting[2 * pending + 1] = depth",
        "waiting[2 * pending + 1] = 0",
        "config emit: alternatives share what comes after them",
        (
            COMPARES,
            LONG_CONFIGURATIONS,
        ),
    ),
    Break(
        EMIT,
        "emit_list",
        "if nodes[node * N_WORDS + N_EVENT] != JOIN:",
        "if True:",
        "config emit: a node that joins has no event",
        (LONG_CONFIGURATIONS,),
    ),
    Break(
        EMIT,
        "emit_list",
        "if at + depth + 1 > events_room",
        "if at + depth > events_room",
        "config emit: the last event needs room, too",
        (LONG_CONFIGURATIONS,),
    ),
    Break(
        COLLECT,
        "copy",
        "if heap[source + S_START] < border:",
        "if heap[source + S_START] <= border:",
        "config copy: what began at the window's edge lives",
        (LONG_CONFIGURATIONS,),
    ),
    Break(
        COLLECT,
        "copy",
        "+ entry + R_SLOT] = count",
        "+ entry + R_SLOT] = k",
        "config copy: the ring knows where slots are now",
        (LONG_CONFIGURATIONS,),
    ),
    Break(
        COLLECT,
        "copy",
        "if layout.words == new.words:",
        "if True:",
        "config copy: numbers of fewer words are widened",
        (LONG_CONFIGURATIONS,),
    ),
    Break(
        COLLECT,
        "reach",
        "out_numbers[nodes[number * N_WORDS + N_OTHER]] = 1",
        "out_numbers[0] = 1",
        "config copy: alternatives live",
        (
            LONG_CONFIGURATIONS,
            FORGETS,
        ),
    ),
    Break(
        COLLECT,
        "renumber",
        "= numbers[nodes[number * N_WORDS + N_BEFORE]]",
        "= nodes[number * N_WORDS + N_BEFORE]",
        "config copy: nodes point to where others are now",
        (
            LONG_CONFIGURATIONS,
            FORGETS,
        ),
    ),
    Break(
        COLLECT,
        "set_stored_words",
        "while at < last[region]:\n                    heap",
        "if at < last[region]:\n                    heap",
        "config copy: texts of every column get their new numbers",
        (
            LONG_CONFIGURATIONS,
            FORGETS,
        ),
    ),
    Break(
        EVALUATOR,
        "__init__",
        "extra = () if automaton.is_idle_on_others else (_EVERY,)",
        "extra = ()",
        "configurations: events that satisfy nothing may end something",
        (REGISTERS,),
    ),
    Break(
        EVALUATOR,
        "__init__",
        "tuple(reads.index(register) for register in registers)",
        "tuple(range(len(registers)))",
        "configurations: a test gets each register in its place",
        (
            COMPARES,
            REGISTERS,
        ),
    ),
    Break(
        EVALUATOR,
        "__init__",
        "self.positional = self._window.by_position or any(by_position)",
        "self.positional = self._window.by_position",
        "configurations: nested windows count positions in their partition",
        (
            REGISTERS,
            SHORT,
        ),
    ),
    Break(
        EVALUATOR,
        "_edge",
        "return NEVER if self._window.by_position or not self._window else self._window.edge",
        "return self._window.edge",
        "configurations: positions are not rows",
        (
            COMPARES,
            FORGETS,
        ),
    ),
    Break(
        EVALUATOR,
        "save",
        "self._store.collect(self._edge)",
        "pass",
        "configurations: what no longer lives is not saved",
        (LONG_CONFIGURATIONS,),
    ),
    Break(
        EVALUATOR,
        "load",
        'self._tests.load(part_of(state, "tests:"))',
        "pass",
        "configurations: a loaded engine knows its texts",
        (COMPARES,),
    ),
    Break(
        EVALUATOR,
        "load",
        'window.load(part_of(state, f"nested{number}:"))',
        "pass",
        "configurations: a loaded engine knows the times of nested windows",
        (
            REGISTERS,
            SHORT,
        ),
    ),
    Break(
        "kernels/configurations.py",
        "configurations",
        "or moves.goal_place[skip] != STAY",
        "or False",
        "configurations kernel: a skip that stores anew leaves nothing behind",
        (CONFIGURATIONS,),
    ),
    Break(
        "kernels/config_ends.py",
        "sum_vector",
        "first += 1",
        "break",
        "configurations vectors: starts that have left the window count no more",
        (VECTORS,),
    ),
    Break(
        "kernels/config_vectors.py",
        "make_exact",
        "heap[at + words - 1] += carry",
        "heap[at + words - 1] += 0",
        "configurations vectors: what exceeds a word is carried",
        (VECTORS,),
    ),
    Break(
        COLLECT,
        "_copy_vectors",
        "out_heap[target + S_ORDINAL] = heap[source + S_ORDINAL] + skipped",
        "out_heap[target + S_ORDINAL] = heap[source + S_ORDINAL]",
        "configurations vectors: a copy knows where its starts begin",
        (VECTORS,),
    ),
    Break(
        "kernels/config_index.py",
        "enter",
        "heap[slot + S_NEXT] = index[cell + I_SLOT]",
        "heap[slot + S_NEXT] = NOWHERE",
        "configurations index: older slots with the word are found, too",
        (VECTORS,),
    ),
    Break(
        "kernels/config_slots.py",
        "purge",
        "enter_all(index, heap, lane, lanes, layout, region)",
        "pass",
        "configurations index: what is moved is found where it is",
        (VECTORS,),
    ),
    Break(
        "kernels/tests.py",
        "_run",
        "ends, store = word_from(row, P_ENDS), word_from(row, P_STORE)  # an answer may be a new text",
        "pass",
        "questions: texts that an answer moved are found where they are",
        (ASKED,),
    ),
    Break(
        "kernels/answers.py",
        "_place",
        "while same < words and (",
        "while same < words - 2 and (",
        "questions: an answer is that to all values of its key",
        (ASKED,),
    ),
    Break(
        QUESTIONS,
        "_with_others",
        "if not any(is_known):",
        "if True:",
        "questions: a new value is asked about with all of the other side at once",
        (ASKED,),
    ),
    Break(
        QUESTIONS,
        "_make_room",
        "wanted = min(4 * cells, 2 * MOST_ANSWERS)",
        "wanted = 4 * cells",
        "questions: answers are forgotten where they are too many",
        (ASKED,),
    ),
    Break(
        "evaluators/configurations/tests.py",
        "_renumber",
        "question.forget(texts)",
        "pass",
        "questions: no answer outlives the numbers of its texts",
        (ASKED,),
    ),
    Break(
        "evaluators/configurations/compile.py",
        "_about",
        "form not in (tags.MICROS, tags.NANOS, tags.ANY)",
        "form != tags.ANY",
        "questions: a time is asked about with its zone",
        (ASKED,),
    ),
    Break(
        ATTACH_SETS,
        "wants_more",
        "!= self.negated",
        "!= False",
        "sets: of what is not below, the lowest decides",
        (LATE,),
    ),
    Break(
        ATTACH_SETS,
        "_harder",
        "if compared.may_be_nan:",
        "if False:",
        "sets: what equals nothing gives way to a number",
        (LATE,),
    ),
    Break(
        ATTACH_SETS,
        "_noted",
        "if len(self._plurals) > 1 or ",
        "if ",
        "sets: an event without a value fails only where there is one to compare it with",
        (LATE,),
    ),
    Break(
        ATTACH_SETS,
        "_compared",
        "_MIRRORED[inner.op]",
        "inner.op",
        "sets: on the right of a comparison the other extreme decides",
        (LATE,),
    ),
    Break(
        ATTACH_SETS,
        "_tests",
        "for roles in combinations(sorted(inside), count):",
        "for roles in ([tuple(sorted(inside))] if count else []):",
        "sets: an event is compared in every role that it has",
        (LATE,),
    ),
    Break(
        ATTACH,
        "_with_rounds_gathered",
        "if len(scope) > 1:",
        "if False:",
        "sets: events of one round go together",
        (f"{GATHERED}::test_events_of_one_round_go_together",),
    ),
    Break(
        CHECKED,
        "_passing",
        "_distinct(Found(found.offsets, found.rows, self._label[found.labels]))",
        "Found(found.offsets, found.rows, self._label[found.labels])",
        "checks: a match that passes in two ways is one",
        (f"{GATHERED}::test_a_match_that_passes_in_two_ways_is_one",),
    ),
    Break(
        CHECKED,
        "only",
        "self._rows, self._table = rows, ",
        "self._rows, self._table = self._rows[: len(rows)], ",
        "checks: attributes are those of the rows that are kept",
        (f"{GATHERED}::test_events_that_no_candidate_holds_are_forgotten",),
    ),
)
