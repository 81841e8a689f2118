"""The loop over events for patterns whose conditions compare events: slots move, nothing is cloned.

Per event only the regions with a state that takes notice of its class are visited, and of their slots only states that
hold partial matches ask their tests. Everything an event does to a slot is worked out from what the slot held before
it: first the matches that end here, which changes nothing and can be done again after more room was made; then the
moves. Slots that an event makes or that it empties are sorted out when it is done, so that a slot's number holds while
one event is worked on.
"""

from __future__ import annotations

import numpy as np

from cepheid.kernels.compiled import compiled, inner, inner_inlined
from cepheid.kernels.config_emit import emit_list
from cepheid.kernels.config_index import enter, enter_all, leave_all, newest
from cepheid.kernels.config_shape import (
    B_AT,
    B_CAP,
    B_COUNT,
    B_GONE,
    B_WORDS,
    BASE,
    DONE,
    I_WORDS,
    JOIN,
    L_BLOCKS,
    L_EDGE,
    L_HI,
    L_LO,
    L_RING,
    L_RING_CAP,
    L_ROOT,
    L_SLOTS,
    LABEL_BITS,
    MORE_HEAP,
    MORE_NODES,
    MORE_OUTPUT,
    MORE_STACK,
    N_BEFORE,
    N_EVENT,
    N_OTHER,
    N_WORDS,
    NEVER,
    NOWHERE,
    R_SLOT,
    R_START,
    R_WORDS,
    S_COLUMNS,
    S_NEXT,
    S_ORDINAL,
    S_START,
    STAY,
    TOO_MANY,
    W_AT,
    W_BITS,
    W_STARTS,
    W_STATES,
    WIDEN,
)
from cepheid.kernels.config_vectors import add_all, add_vector, first_alive, make_room, vector_at
from cepheid.kernels.hashing import mix
from cepheid.kernels.numbers import BITS, add, add_to, is_zero
from cepheid.kernels.tests import holds

# words of `meta`: heap used, nodes used, number of the event, words it needs, cells of the index used
TOP, NODES, STAMP, NEED, CELLS = range(5)


@inner_inlined
def bits_of(moves, options, program, batch, i, heap, slot, choice, at):
    """Which of the tests that a choice asks hold, a bit each."""
    bits = 0
    first = moves.asked_first[choice]
    for j in range(first, moves.asked_first[choice + 1]):
        test = moves.asked_test[j]
        if test < options.tests:
            for r in range(len(at)):
                at[r] = slot + moves.asked_columns[j, r]
            passed = holds(program, test, batch.words, i, heap, at, 1)
        else:
            window = test - options.tests
            of = slot + moves.asked_columns[j, 0] + options.record
            stored = heap[of + 1] if options.nested_by_position[window] else heap[of]
            passed = stored >= batch.nested[i, window]
        if passed:
            bits |= 1 << (j - first)
    return bits


@inner_inlined
def node(nodes, meta, event, before, other):
    made = meta[NODES]
    meta[NODES] = made + 1
    nodes[made * N_WORDS + N_EVENT] = event
    nodes[made * N_WORDS + N_BEFORE] = before
    nodes[made * N_WORDS + N_OTHER] = other
    return made


@inner
def block_for_one_more(heap, meta, lane, lanes, block, size):
    """The address of a new slot at the end of a block, which is moved to twice the room where it is full."""
    count, cap = lanes[lane, block + B_COUNT], lanes[lane, block + B_CAP]
    if count == cap:
        at = meta[TOP]
        more = max(2 * cap, 2)
        meta[TOP] = at + more * size
        old = lanes[lane, block + B_AT]
        for k in range(count * size):
            heap[at + k] = heap[old + k]
        lanes[lane, block + B_AT] = at
        lanes[lane, block + B_CAP] = more
    lanes[lane, block + B_COUNT] = count + 1
    lanes[lane, L_SLOTS] += 1
    return lanes[lane, block + B_AT] + count * size


@inner
def ring_entry(heap, meta, lane, lanes, start):
    """A new entry at the end of the ring: its ordinal."""
    lo, hi, cap = lanes[lane, L_LO], lanes[lane, L_HI], lanes[lane, L_RING_CAP]
    if hi - lo == cap:
        at = meta[TOP]
        more = max(2 * cap, 2)
        meta[TOP] = at + more * R_WORDS
        old = lanes[lane, L_RING]
        for ordinal in range(lo, hi):
            for w in range(R_WORDS):
                heap[at + (ordinal & (more - 1)) * R_WORDS + w] = heap[
                    old + (ordinal & (cap - 1)) * R_WORDS + w
                ]
        lanes[lane, L_RING] = at
        lanes[lane, L_RING_CAP] = more
        cap = more
    entry = lanes[lane, L_RING] + (hi & (cap - 1)) * R_WORDS
    heap[entry + R_START] = start
    heap[entry + R_SLOT] = NOWHERE
    lanes[lane, L_HI] = hi + 1
    return hi


@inner_inlined
def remember(batch, options, i, heap, at, column):
    """Writes the event at hand as a column."""
    for w in range(options.record):
        heap[at + w] = batch.words[i, w]
    heap[at + options.record] = batch.row[i]
    if column > options.record + 1:
        heap[at + options.record + 1] = batch.position[i]


@inner
def base_slot(heap, meta, lane, lanes, layout, index, batch, options, i, ordinal, like):
    """The address of the slot that remembers only how matches began, made where there is none. `like` is a slot of the
    same start, to take the first column from; -1 where it begins with the event at hand."""
    entry = lanes[lane, L_RING] + (ordinal & (lanes[lane, L_RING_CAP] - 1)) * R_WORDS
    size = layout.size[0]
    if heap[entry + R_SLOT] == NOWHERE:
        heap[entry + R_SLOT] = lanes[lane, L_BLOCKS + B_COUNT]
        slot = block_for_one_more(heap, meta, lane, lanes, L_BLOCKS, size)
        heap[slot + S_ORDINAL] = ordinal
        heap[slot + S_START] = heap[entry + R_START]
        if like >= 0:
            for w in range(layout.home):
                heap[slot + S_COLUMNS + w] = heap[like + S_COLUMNS + w]
        elif layout.home > 0:
            remember(batch, options, i, heap, slot + S_COLUMNS, layout.column)
        for w in range(layout.numbers[0], size):
            heap[slot + w] = 0
        if layout.indexed[0] >= 0:
            block = lane * len(layout.size) + 1
            meta[CELLS] += enter(index, heap, block, layout.indexed[0], slot, heap[entry + R_SLOT])
        return slot
    return lanes[lane, L_BLOCKS + B_AT] + heap[entry + R_SLOT] * size


@inner
def other_slot(
    heap, meta, lane, lanes, layout, index, moves, batch, options, i, goal, region, ordinal, start, like, made
):
    """The address of the slot, made by this event, that remembers what a goal takes along from the slot `like` (-1:
    from none). Partial matches that agree share one."""
    column, row_at = layout.column, options.record
    key = mix(np.uint64(ordinal) * np.uint64(1 << 20) + np.uint64(region))
    for j in range(moves.goal_carry.shape[1]):
        if moves.goal_carry[goal, j] >= 0:
            key = mix(key ^ np.uint64(heap[like + moves.goal_carry[goal, j] + row_at]))
    mask = len(made) // 3 - 1
    place = np.int64(key & np.uint64(mask))
    block = L_BLOCKS + region * B_WORDS
    size = layout.size[region]
    while made[3 * place] == meta[STAMP]:
        if made[3 * place + 1] == region:
            slot = lanes[lane, block + B_AT] + made[3 * place + 2] * size
            same = ordinal < 0 or heap[slot + S_ORDINAL] == ordinal
            for j in range(moves.goal_carry.shape[1]):
                if same and moves.goal_carry[goal, j] >= 0:
                    at = slot + S_COLUMNS + layout.home + j * column
                    same = heap[at + row_at] == heap[like + moves.goal_carry[goal, j] + row_at]
            if same:
                return slot
        place = (place + 1) & mask
    made[3 * place] = meta[STAMP]
    made[3 * place + 1] = region
    made[3 * place + 2] = lanes[lane, block + B_COUNT]
    slot = block_for_one_more(heap, meta, lane, lanes, block, size)
    heap[slot + S_ORDINAL] = ordinal
    heap[slot + S_START] = start
    for w in range(layout.home):
        heap[slot + S_COLUMNS + w] = heap[like + S_COLUMNS + w] if like >= 0 else 0
    for j in range(moves.goal_carry.shape[1]):
        at = slot + S_COLUMNS + layout.home + j * column
        if moves.goal_carry[goal, j] >= 0:
            for w in range(column):
                heap[at + w] = heap[like + moves.goal_carry[goal, j] + w]
        elif moves.goal_carry[goal, j] == -1:
            remember(batch, options, i, heap, at, column)
    for w in range(layout.numbers[region], size):
        heap[slot + w] = 0
    if layout.indexed[region] >= 0:
        number = lane * len(layout.size) + region + 1
        meta[CELLS] += enter(index, heap, number, layout.indexed[region], slot, made[3 * place + 2])
    return slot


@inner
def vector_slot(heap, meta, lane, lanes, layout, index, moves, batch, options, i, goal, region, like, made):
    """As `other_slot`, for all starts there are."""
    slots = lanes[lane, L_SLOTS]
    slot = other_slot(
        heap, meta, lane, lanes, layout, index, moves, batch, options, i, goal, region, -1, NEVER, like, made
    )
    if lanes[lane, L_SLOTS] != slots:
        vectors = slot + layout.numbers[region]
        starts = lanes[lane, L_HI] - lanes[lane, L_LO]
        needed = layout.states[region] * starts * layout.words
        heap[slot + S_ORDINAL] = lanes[lane, L_LO]
        heap[vectors + W_AT] = meta[TOP]
        heap[vectors + W_STARTS] = starts
        for w in range(needed):
            heap[meta[TOP] + w] = 0
        meta[TOP] += needed
    return slot


@inner
def settle_blocks(heap, lane, lanes, layout, kept, before):
    """Closes the gaps that removed slots have left: a region's slots are `kept` old ones, a gap, then new ones."""
    for region in range(len(kept)):
        if kept[region] == before[region]:
            continue
        block, size = L_BLOCKS + region * B_WORDS, layout.size[region]
        at, count = lanes[lane, block + B_AT], lanes[lane, block + B_COUNT]
        gap = before[region] - kept[region]
        moved = min(gap, count - before[region])
        for k in range(moved):
            source, target = at + (count - 1 - k) * size, at + (kept[region] + k) * size
            for w in range(size):
                heap[target + w] = heap[source + w]
            if region == 0:
                entry = (heap[target + S_ORDINAL] & (lanes[lane, L_RING_CAP] - 1)) * R_WORDS
                heap[lanes[lane, L_RING] + entry + R_SLOT] = kept[region] + k
        lanes[lane, block + B_COUNT] = count - gap
        lanes[lane, L_SLOTS] -= gap


@inner
def purge(heap, lane, lanes, layout, index, region, edge):
    """Drops the slots of a region that began before the edge."""
    block, size = L_BLOCKS + region * B_WORDS, layout.size[region]
    if layout.indexed[region] >= 0:
        leave_all(index, heap, lane, lanes, layout, region)
    at, count = lanes[lane, block + B_AT], lanes[lane, block + B_COUNT]
    kept = 0
    for k in range(count):
        source = at + k * size
        if heap[source + S_START] < edge:
            continue
        if k != kept:
            target = at + kept * size
            for w in range(size):
                heap[target + w] = heap[source + w]
            if region == 0:
                entry = (heap[target + S_ORDINAL] & (lanes[lane, L_RING_CAP] - 1)) * R_WORDS
                heap[lanes[lane, L_RING] + entry + R_SLOT] = kept
        kept += 1
    lanes[lane, block + B_COUNT] = kept
    lanes[lane, block + B_GONE] = 0
    lanes[lane, L_SLOTS] -= count - kept
    if layout.indexed[region] >= 0:
        enter_all(index, heap, lane, lanes, layout, region)


@inner
def move_vector(
    moves, layout, options, batch, i, heap, lanes, meta, index, made_here, region, k, state, goal
):
    """What a state of slot k of a region holds goes to other slots, too: whether a number has become large."""
    lane, words = batch.lane[i], layout.words
    block, size = L_BLOCKS + region * B_WORDS, layout.size[region]
    slot = lanes[lane, block + B_AT] + k * size
    vectors = slot + layout.numbers[region]
    reached, place = moves.goal_state[goal], moves.goal_place[goal]
    first = first_alive(heap, lanes, lane, slot)
    count = heap[vectors + W_STARTS] - first
    source = vector_at(heap, layout, slot, state, first)
    large = False
    if place == BASE:
        ordinal = heap[slot + S_ORDINAL] + first
        for start in range(count):
            if not is_zero(heap, source + start * words, words):
                goes = base_slot(
                    heap, meta, lane, lanes, layout, index, batch, options, i, ordinal + start, slot
                )
                to = goes + layout.value[reached]
                large |= add(heap, to, heap, source + start * words, words)
    else:
        other = layout.region[reached]
        goes = vector_slot(
            heap, meta, lane, lanes, layout, index, moves, batch, options, i, goal, other, slot, made_here
        )
        slot = lanes[lane, block + B_AT] + k * size  # its own block may have been moved
        vectors, theirs = slot + layout.numbers[region], goes + layout.numbers[other]
        large |= make_room(heap, vectors, layout.states[region], words, 1)
        large |= make_room(heap, theirs, layout.states[other], words, 1)
        start = heap[slot + S_ORDINAL] + first - heap[goes + S_ORDINAL]
        add_vector(heap, vector_at(heap, layout, goes, reached, start), source, count * words)
        heap[theirs + W_BITS] = 1 + max(heap[vectors + W_BITS], heap[theirs + W_BITS])
        heap[theirs + W_STATES] |= 1 << layout.number[reached]
        heap[goes + S_START] = max(heap[goes + S_START], heap[slot + S_START])
    return large


@inner
def leave(moves, layout, options, batch, i, heap, lanes, meta, index, made_here, slot, goal):
    """The address of the slot that a goal leads to from another."""
    lane, ordinal, start = batch.lane[i], heap[slot + S_ORDINAL], heap[slot + S_START]
    if moves.goal_place[goal] == BASE:
        return base_slot(heap, meta, lane, lanes, layout, index, batch, options, i, ordinal, slot)
    region = layout.region[moves.goal_state[goal]]
    return other_slot(
        heap,
        meta,
        lane,
        lanes,
        layout,
        index,
        moves,
        batch,
        options,
        i,
        goal,
        region,
        ordinal,
        start,
        slot,
        made_here,
    )


@inner_inlined
def put_in_vector(heap, layout, slot, value, goes, reached):
    """What a slot that remembers nothing holds goes to a state of one with vectors: whether a number has become
    large."""
    words = layout.words
    vectors = goes + layout.numbers[layout.region[reached]]
    to = vector_at(heap, layout, goes, reached, heap[slot + S_ORDINAL] - heap[goes + S_ORDINAL])
    large = add(heap, to, heap, value, words)
    bits = heap[vectors + W_BITS] if words == 1 else max(heap[vectors + W_BITS], BITS + 1)
    while heap[to + words - 1] >> bits != 0:
        bits += 1
    heap[vectors + W_BITS] = bits
    heap[vectors + W_STATES] |= 1 << layout.number[reached]
    heap[goes + S_START] = max(heap[goes + S_START], heap[slot + S_START])
    return large


@inner_inlined
def move_in_order(
    moves, layout, program, options, batch, i, heap, lanes, nodes, meta, index, made_here, count, region, at
):
    """Marks where the order of the states makes it safe to do so in place, in the first `count` slots of a region:
    whether a number has become large."""
    lane, klass, edge = batch.lane[i], batch.klass[i], batch.edge[i]
    block, size = L_BLOCKS + region * B_WORDS, layout.size[region]
    large = False
    as_vectors = layout.vectors and region > 0
    known_goal, known_slot = NOWHERE, 0  # where this event's slot with vectors for a goal is
    equals = moves.equals[region, klass]
    k = 0
    if equals >= 0:
        k = newest(index, lane * len(layout.size) + region + 1, batch.words[i, equals])
    while k >= 0 and (equals >= 0 or k < count):
        slot = lanes[lane, block + B_AT] + k * size
        if k >= count:
            pass  # made by this event
        elif options.windowed and heap[slot + S_START] < edge:
            lanes[lane, block + B_GONE] += 1
            if equals >= 0 and region == 0:
                break  # those before it began even earlier
        else:
            for j in range(moves.reacting.shape[2]):
                state = moves.reacting[region, klass, j]
                if state < 0:
                    break
                value = slot + layout.value[state]
                if as_vectors:
                    if heap[slot + layout.numbers[region] + W_STATES] >> layout.number[state] & 1 == 0:
                        continue
                elif is_zero(heap, value, layout.words):
                    continue
                choice = moves.choice[state, klass]
                row = moves.row_first[choice] + bits_of(
                    moves, options, program, batch, i, heap, slot, choice, at
                )
                for mark in range(moves.mark_first[row], moves.mark_first[row + 1]):
                    goal = moves.goal[mark]
                    if goal == NOWHERE:
                        continue
                    reached = moves.goal_state[goal]
                    if as_vectors and moves.goal_place[goal] == STAY:
                        vectors = slot + layout.numbers[region]
                        large |= make_room(heap, vectors, layout.states[region], layout.words, 1)
                        first = first_alive(heap, lanes, lane, slot)
                        source = vector_at(heap, layout, slot, state, first)
                        target = vector_at(heap, layout, slot, reached, first)
                        for w in range((heap[vectors + W_STARTS] - first) * layout.words):
                            heap[target + w] += heap[source + w]
                        heap[vectors + W_BITS] += 1
                        heap[vectors + W_STATES] |= 1 << layout.number[reached]
                        continue
                    if as_vectors:
                        large |= move_vector(
                            moves,
                            layout,
                            options,
                            batch,
                            i,
                            heap,
                            lanes,
                            meta,
                            index,
                            made_here,
                            region,
                            k,
                            state,
                            goal,
                        )
                        slot = lanes[lane, block + B_AT] + k * size
                        continue
                    if moves.goal_place[goal] != STAY and layout.vectors:
                        if goal != known_goal:
                            known_goal = goal
                            known_slot = vector_slot(
                                heap,
                                meta,
                                lane,
                                lanes,
                                layout,
                                index,
                                moves,
                                batch,
                                options,
                                i,
                                goal,
                                layout.region[reached],
                                -1,
                                made_here,
                            )
                        large |= put_in_vector(heap, layout, slot, value, known_slot, reached)
                        continue
                    if moves.goal_place[goal] == STAY:
                        to = slot + layout.value[reached]
                    else:
                        to = layout.value[reached] + leave(
                            moves, layout, options, batch, i, heap, lanes, meta, index, made_here, slot, goal
                        )
                        slot = lanes[lane, block + B_AT] + k * size  # its own block may have been moved
                        value = slot + layout.value[state]
                    if options.counting:
                        large |= add(heap, to, heap, value, layout.words)
                    else:
                        event = batch.row[i] << LABEL_BITS | moves.label[mark]
                        heap[to] = node(nodes, meta, event, heap[value], heap[to])
        k = heap[slot + S_NEXT] if equals >= 0 else k + 1
    return large


@inner_inlined
def sum_vector(heap, lanes, lane, layout, slot, state, edge, out_sums):
    """The number of a state's partial matches that began inside the window."""
    region = layout.region[state]
    vectors = slot + layout.numbers[region]
    ring, cap = lanes[lane, L_RING], lanes[lane, L_RING_CAP]
    first = first_alive(heap, lanes, lane, slot)
    starts = heap[vectors + W_STARTS]
    while (
        first < starts
        and heap[ring + (heap[slot + S_ORDINAL] + first & (cap - 1)) * R_WORDS + R_START] < edge
    ):
        first += 1
    bits = 0
    while starts >> bits != 0:
        bits += 1
    make_room(heap, vectors, layout.states[region], layout.words, bits - 8)
    add_all(out_sums, heap, vector_at(heap, layout, slot, state, first), starts - first, layout.words)


@inner_inlined
def ending(
    moves,
    layout,
    program,
    options,
    batch,
    i,
    heap,
    lanes,
    nodes,
    index,
    at,
    one,
    sums,
    event_count,
    path,
    waiting,
    made,
    out_offsets,
    out_rows,
    out_labels,
):
    """The matches that end at event i: whether there are any, and how many are made, or what `emit_list` says. Counts
    go to `event_count`."""
    lane, klass, edge = batch.lane[i], batch.klass[i], batch.edge[i]
    matched = False
    for region in range(len(layout.size)):
        if moves.accepting[region, klass, 0] < 0:
            continue
        block = L_BLOCKS + region * B_WORDS
        equals = moves.equals[region, klass]
        k, count = 0, lanes[lane, block + B_COUNT]
        if equals >= 0:
            k = newest(index, lane * len(layout.size) + region + 1, batch.words[i, equals])
        while k >= 0 and k < count:
            slot = lanes[lane, block + B_AT] + k * layout.size[region]
            if not options.windowed or heap[slot + S_START] >= edge:
                for j in range(moves.accepting.shape[2]):
                    state = moves.accepting[region, klass, j]
                    if state < 0:
                        break
                    value = slot + layout.value[state]
                    if layout.vectors and region > 0:
                        if heap[slot + layout.numbers[region] + W_STATES] >> layout.number[state] & 1 == 0:
                            continue
                    elif is_zero(heap, value, layout.words):
                        continue
                    choice = moves.choice[state, klass]
                    row = moves.row_first[choice] + bits_of(
                        moves, options, program, batch, i, heap, slot, choice, at
                    )
                    for mark in range(moves.mark_first[row], moves.mark_first[row + 1]):
                        if not moves.accepts[mark]:
                            continue
                        if layout.vectors and region > 0:
                            sum_vector(heap, lanes, lane, layout, slot, state, edge, sums)
                            if not is_zero(sums, 0, layout.words):
                                matched = True
                                add(event_count, 0, sums, 0, layout.words)
                            continue
                        matched = True
                        if options.counting:
                            add(event_count, 0, heap, value, layout.words)
                        elif options.report and made < options.limit:
                            made = emit_list(
                                nodes,
                                heap[value],
                                batch.row[i],
                                moves.label[mark],
                                path,
                                waiting,
                                options.limit,
                                options.guard,
                                made,
                                out_offsets,
                                out_rows,
                                out_labels,
                            )
                            if made < 0:
                                return matched, made
            elif equals >= 0 and region == 0:
                break  # those before it began even earlier
            k = heap[slot + S_NEXT] if equals >= 0 else k + 1
    choice = moves.choice[lanes[lane, L_ROOT], klass]
    if choice >= 0:
        row = moves.row_first[choice]
        for mark in range(moves.mark_first[row], moves.mark_first[row + 1]):
            if moves.accepts[mark]:
                matched = True
                if options.counting:
                    add(event_count, 0, one, 0, layout.words)
                elif options.report and made < options.limit:
                    made = emit_list(
                        nodes,
                        0,
                        batch.row[i],
                        moves.label[mark],
                        path,
                        waiting,
                        options.limit,
                        options.guard,
                        made,
                        out_offsets,
                        out_rows,
                        out_labels,
                    )
                    if made < 0:
                        return matched, made
    return matched, made


@compiled
def configurations(
    moves,
    layout,
    program,
    batch,
    begin,
    options,
    heap,
    meta,
    lanes,
    nodes,
    index,
    made_here,
    work,
    total,
    path,
    waiting,
    out_offsets,
    out_rows,
    out_labels,
    made,
):
    """Works on the events from `begin` on: why it returned, the event it stopped before, matches made."""
    regions = len(layout.size)
    words = layout.words
    scratch, rows, before, kept, sums, event_count, one, at = work
    largest, most_states, is_indexed = 0, 0, False
    for region in range(regions):
        is_indexed |= layout.indexed[region] >= 0
        most_states = max(most_states, layout.states[region])
        largest = max(largest, layout.size[region])
    largest = max(largest, R_WORDS)
    for i in range(begin, len(batch.lane)):
        lane, klass, edge = batch.lane[i], batch.klass[i], batch.edge[i]
        possible = (lanes[lane, L_SLOTS] + 1) * (layout.most_marks + 1)
        needed = 8 * (possible + 2) * (largest + R_WORDS)
        if layout.vectors:
            slots = lanes[lane, L_SLOTS] - lanes[lane, L_BLOCKS + B_COUNT]
            made_most = moves.creates[klass, 0] + moves.creates[klass, 1] * slots
            needed += made_most * most_states * (lanes[lane, L_HI] - lanes[lane, L_LO] + 1) * words
        cells = I_WORDS * 2 * (meta[CELLS] + possible + 1) if is_indexed else 0
        if meta[TOP] + needed > len(heap) or 6 * possible + 6 > len(made_here) or cells > len(index):
            meta[NEED] = needed
            return MORE_HEAP, i, made
        if not options.counting and (meta[NODES] + 2 * possible + 2) * N_WORDS > len(nodes):
            return MORE_NODES, i, made
        for w in range(words + 1):
            event_count[w] = 0
        matched, after = ending(
            moves,
            layout,
            program,
            options,
            batch,
            i,
            heap,
            lanes,
            nodes,
            index,
            at,
            one,
            sums,
            event_count,
            path,
            waiting,
            made,
            out_offsets,
            out_rows,
            out_labels,
        )
        if after == -2:
            return MORE_STACK, i, made
        if after == -1:
            return TOO_MANY if len(out_rows) >= options.guard else MORE_OUTPUT, i, made
        made = after
        if matched and options.counting and options.report:
            add_to(total, event_count, 0, words)
        lanes[lane, L_EDGE] = edge
        if matched and options.consume:
            lanes[lane, L_ROOT] = 0
            lanes[lane, L_HI] = lanes[lane, L_HI] if options.windowed else 0
            lanes[lane, L_LO] = lanes[lane, L_HI]
            lanes[lane, L_SLOTS] = 0
            for region in range(regions):
                if layout.indexed[region] >= 0:
                    leave_all(index, heap, lane, lanes, layout, region)
                lanes[lane, L_BLOCKS + region * B_WORDS + B_COUNT] = 0
            continue
        meta[STAMP] += 1
        large = False
        if options.windowed:
            ring, cap = lanes[lane, L_RING], lanes[lane, L_RING_CAP]
            while (
                lanes[lane, L_LO] < lanes[lane, L_HI]
                and heap[ring + (lanes[lane, L_LO] & (cap - 1)) * R_WORDS + R_START] < edge
            ):
                lanes[lane, L_LO] += 1
        elif lanes[lane, L_HI] == 0:
            ring_entry(heap, meta, lane, lanes, 0)
        changed = False
        for region in range(regions):
            before[region] = lanes[lane, L_BLOCKS + region * B_WORDS + B_COUNT]
            kept[region] = before[region]
        for region in range(regions):
            if moves.in_order[region, klass]:
                longer = move_in_order(
                    moves,
                    layout,
                    program,
                    options,
                    batch,
                    i,
                    heap,
                    lanes,
                    nodes,
                    meta,
                    index,
                    made_here,
                    before[region],
                    region,
                    at,
                )
                large |= longer
                continue
            if moves.reacting[region, klass, 0] < 0:
                continue
            block, size = L_BLOCKS + region * B_WORDS, layout.size[region]
            states, numbers = layout.states[region], layout.numbers[region]
            for k in range(before[region] - 1, -1, -1):
                slot = lanes[lane, block + B_AT] + k * size
                dead = options.windowed and heap[slot + S_START] < edge
                if not dead:
                    moving = 0
                    for j in range(moves.reacting.shape[2]):
                        state = moves.reacting[region, klass, j]
                        if state < 0:
                            break
                        rows[j] = -1
                        if is_zero(heap, slot + layout.value[state], words):
                            continue
                        choice = moves.choice[state, klass]
                        row = moves.row_first[choice] + bits_of(
                            moves, options, program, batch, i, heap, slot, choice, at
                        )
                        if not moves.idle[row]:
                            rows[j] = row
                            moving += 1
                    if moving == 0:
                        continue
                    for w in range(states * words):
                        scratch[w] = heap[slot + numbers + w]
                    for j in range(moves.reacting.shape[2]):
                        state = moves.reacting[region, klass, j]
                        if state < 0:
                            break
                        if rows[j] >= 0:
                            skip = moves.skip[rows[j]]
                            if (
                                skip == NOWHERE
                                or moves.goal_state[skip] != state
                                or moves.goal_place[skip] != STAY
                            ):
                                for w in range(words):
                                    scratch[layout.number[state] * words + w] = 0
                    for j in range(moves.reacting.shape[2]):
                        state = moves.reacting[region, klass, j]
                        if state < 0:
                            break
                        row = rows[j]
                        if row < 0:
                            continue
                        value = slot + layout.value[state]
                        first, last = moves.mark_first[row], moves.mark_first[row + 1]
                        for move in range(first - 1, last):
                            marking = move >= first
                            goal = moves.goal[move] if marking else moves.skip[row]
                            if goal == NOWHERE:
                                continue
                            reached = moves.goal_state[goal]
                            place = moves.goal_place[goal]
                            if not marking and place == STAY and reached == state:
                                continue
                            if place == STAY:
                                to = layout.number[reached] * words
                                if options.counting:
                                    large |= add(scratch, to, heap, value, words)
                                elif marking:
                                    event = batch.row[i] << LABEL_BITS | moves.label[move]
                                    scratch[to] = node(nodes, meta, event, heap[value], scratch[to])
                                elif scratch[to] == 0:
                                    scratch[to] = heap[value]
                                else:
                                    scratch[to] = node(nodes, meta, JOIN, heap[value], scratch[to])
                                continue
                            if layout.vectors:
                                goes = vector_slot(
                                    heap,
                                    meta,
                                    lane,
                                    lanes,
                                    layout,
                                    index,
                                    moves,
                                    batch,
                                    options,
                                    i,
                                    goal,
                                    layout.region[reached],
                                    -1,
                                    made_here,
                                )
                                large |= put_in_vector(heap, layout, slot, value, goes, reached)
                                continue
                            ordinal, start = heap[slot + S_ORDINAL], heap[slot + S_START]
                            if place == BASE:
                                goes = base_slot(
                                    heap, meta, lane, lanes, layout, index, batch, options, i, ordinal, slot
                                )
                            else:
                                goes = other_slot(
                                    heap,
                                    meta,
                                    lane,
                                    lanes,
                                    layout,
                                    index,
                                    moves,
                                    batch,
                                    options,
                                    i,
                                    goal,
                                    layout.region[reached],
                                    ordinal,
                                    start,
                                    slot,
                                    made_here,
                                )
                                # Its own block may have been moved.
                                slot = lanes[lane, block + B_AT] + k * size
                                value = slot + layout.value[state]
                            to = goes + layout.value[reached]
                            if options.counting:
                                large |= add(heap, to, heap, value, words)
                            elif marking:
                                event = batch.row[i] << LABEL_BITS | moves.label[move]
                                heap[to] = node(nodes, meta, event, heap[value], heap[to])
                            elif heap[to] == 0:
                                heap[to] = heap[value]
                            else:
                                heap[to] = node(nodes, meta, JOIN, heap[value], heap[to])
                    dead = not layout.vectors  # what has vectors may come back to any start
                    for w in range(states * words):
                        heap[slot + numbers + w] = scratch[w]
                        if scratch[w] != 0:
                            dead = False
                if dead:
                    changed = True
                    if region == 0 and heap[slot + S_ORDINAL] >= lanes[lane, L_LO]:
                        entry = (heap[slot + S_ORDINAL] & (lanes[lane, L_RING_CAP] - 1)) * R_WORDS
                        heap[lanes[lane, L_RING] + entry + R_SLOT] = NOWHERE
                    kept[region] -= 1
                    source = lanes[lane, block + B_AT] + kept[region] * size
                    if source != slot:
                        for w in range(size):
                            heap[slot + w] = heap[source + w]
                        if region == 0:
                            entry = (heap[slot + S_ORDINAL] & (lanes[lane, L_RING_CAP] - 1)) * R_WORDS
                            heap[lanes[lane, L_RING] + entry + R_SLOT] = k
        root = lanes[lane, L_ROOT]
        choice = moves.choice[root, klass]
        if choice >= 0:
            row = moves.row_first[choice]
            lanes[lane, L_ROOT] = moves.goal_state[moves.skip[row]]
            began = NOWHERE
            for mark in range(moves.mark_first[row], moves.mark_first[row + 1]):
                goal = moves.goal[mark]
                if goal == NOWHERE:
                    continue
                reached = moves.goal_state[goal]
                region = layout.region[reached]
                if moves.goal_place[goal] == BASE:
                    if began == NOWHERE:
                        began = ring_entry(heap, meta, lane, lanes, batch.start[i]) if options.windowed else 0
                    goes = base_slot(heap, meta, lane, lanes, layout, index, batch, options, i, began, -1)
                else:
                    goes = other_slot(
                        heap,
                        meta,
                        lane,
                        lanes,
                        layout,
                        index,
                        moves,
                        batch,
                        options,
                        i,
                        goal,
                        region,
                        0,
                        0,
                        -1,
                        made_here,
                    )
                to = goes + layout.value[reached]
                if options.counting:
                    large |= add(heap, to, one, 0, words)
                else:
                    event = batch.row[i] << LABEL_BITS | moves.label[mark]
                    heap[to] = node(nodes, meta, event, 0, heap[to])
        if changed:
            settle_blocks(heap, lane, lanes, layout, kept, before)
        for region in range(regions):
            block = L_BLOCKS + region * B_WORDS
            if lanes[lane, block + B_GONE] > 4 + lanes[lane, block + B_COUNT] // 2:
                purge(heap, lane, lanes, layout, index, region, edge)
        if large:
            return WIDEN, i + 1, made
    return DONE, len(batch.lane), made
