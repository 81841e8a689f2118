"""The matches that end at an event: counted, or written out."""

from __future__ import annotations

from cepheid.kernels.compiled import inner_inlined
from cepheid.kernels.config_emit import emit_list
from cepheid.kernels.config_index import newest
from cepheid.kernels.config_moves import bits_of
from cepheid.kernels.config_shape import (
    B_AT,
    B_COUNT,
    B_WORDS,
    L_BLOCKS,
    L_RING,
    L_RING_CAP,
    L_ROOT,
    R_START,
    R_WORDS,
    S_NEXT,
    S_ORDINAL,
    S_START,
    W_STARTS,
    W_STATES,
)
from cepheid.kernels.config_vectors import add_all, first_alive, make_room, vector_at
from cepheid.kernels.numbers import add, is_zero


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
