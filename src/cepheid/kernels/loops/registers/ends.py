"""The matches that end at an event: counted, or written out."""

from __future__ import annotations

from cepheid.kernels.compiled import inner_inlined
from cepheid.kernels.loops.registers.index import newest
from cepheid.kernels.loops.registers.layout import B_AT, B_COUNT, B_WORDS, L_BLOCKS, L_ROOT, S_NEXT, S_START
from cepheid.kernels.loops.registers.transitions import bits_of
from cepheid.kernels.matches.enumerate import emit
from cepheid.kernels.matches.nodes import BEGIN, FIRST_AT, LABEL_BITS
from cepheid.kernels.memory.big_integers import add, is_zero
from cepheid.kernels.memory.status import DONE


@inner_inlined
def ending(
    moves,
    layout,
    program,
    options,
    batch,
    i,
    heap,
    partitions,
    nodes,
    index,
    at,
    one,
    event_count,
    stack,
    made,
    out,
):
    """The matches that end at event i: whether there are any, a status, and how many are made. Counts go to
    `event_count`."""
    partition, klass, edge = batch.partition[i], batch.klass[i], batch.edge[i]
    matched = False
    for region in range(len(layout.size)):
        if moves.accepting[region, klass, 0] < 0:
            continue
        block = L_BLOCKS + region * B_WORDS
        equals = moves.equals[region, klass]
        k, count = 0, partitions[partition, block + B_COUNT]
        if equals >= 0:
            k = newest(index, partition * len(layout.size) + region + 1, batch.words[i, equals])
        while k >= 0 and k < count:
            slot = partitions[partition, block + B_AT] + k * layout.size[region]
            if not options.windowed or heap[slot + S_START] >= edge:
                for j in range(moves.accepting.shape[2]):
                    state = moves.accepting[region, klass, j]
                    if state < 0:
                        break
                    value = slot + layout.value[state]
                    if is_zero(heap, value, layout.words):
                        continue
                    choice = moves.choice[state, klass]
                    row = moves.row_first[choice] + bits_of(
                        moves, options, program, batch, i, heap, slot, choice, at
                    )
                    for mark in range(moves.mark_first[row], moves.mark_first[row + 1]):
                        if not moves.accepts[mark]:
                            continue
                        matched = True
                        if options.counting:
                            add(event_count, 0, heap, value, layout.words)
                        elif options.report and made < options.limit:
                            status, made = emit(
                                nodes,
                                -FIRST_AT,
                                BEGIN,
                                heap[value],
                                batch.row[i] << LABEL_BITS | moves.label[mark],
                                options.limit,
                                options.guard,
                                stack,
                                made,
                                out,
                            )
                            if status != DONE:
                                return matched, status, made
            elif equals >= 0 and region == 0:
                break  # those before it began even earlier
            k = heap[slot + S_NEXT] if equals >= 0 else k + 1
    choice = moves.choice[partitions[partition, L_ROOT], klass]
    if choice >= 0:
        row = moves.row_first[choice]
        for mark in range(moves.mark_first[row], moves.mark_first[row + 1]):
            if moves.accepts[mark]:
                matched = True
                if options.counting:
                    add(event_count, 0, one, 0, layout.words)
                elif options.report and made < options.limit:
                    status, made = emit(
                        nodes,
                        -FIRST_AT,
                        BEGIN,
                        BEGIN,
                        batch.row[i] << LABEL_BITS | moves.label[mark],
                        options.limit,
                        options.guard,
                        stack,
                        made,
                        out,
                    )
                    if status != DONE:
                        return matched, status, made
    return matched, DONE, made
