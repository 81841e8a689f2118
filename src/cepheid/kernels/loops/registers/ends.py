"""The matches that end at an event: counted, or written out."""

from __future__ import annotations

from cepheid.kernels.compiled import inlined
from cepheid.kernels.loops.registers.index import alive_from, newest, next_listed
from cepheid.kernels.loops.registers.layout import B_AT, B_COUNT, B_WORDS, L_BLOCKS, L_ROOT, S_NEXT
from cepheid.kernels.loops.registers.transitions import row_of
from cepheid.kernels.matches.enumerate import emit
from cepheid.kernels.matches.nodes import BEGIN, FIRST_AT, LABEL_BITS
from cepheid.kernels.matches.output import ROOTS, put_root
from cepheid.kernels.memory.big_integers import add, add_to, is_zero
from cepheid.kernels.memory.status import BEYOND_LIMIT, DONE


@inlined
def complete(tables, batch, event, options, space, out, row, source, value, made):
    """The matches of one number or list that an event's row of transitions completes: whether there are any, a status,
    and how many are made."""
    transitions, matched, status = tables.transitions, False, DONE
    for mark in range(transitions.mark_first[row], transitions.mark_first[row + 1]):
        if not transitions.accepts[mark]:
            continue
        matched = True
        if options.counting:
            add(space.work.event_count, 0, source, value, tables.layout.words)
        if options.counting or not options.report or status != DONE:
            continue
        ending = event.row << LABEL_BITS | transitions.label[mark]
        if options.limit == ROOTS:
            status, made = put_root(BEGIN, source[value], ending, made, out)
        elif out.made[0] < options.limit:
            status, made = emit(
                space.nodes,
                -FIRST_AT,
                BEGIN,
                source[value],
                ending,
                options.limit + options.spare,
                options.guard,
                space.stack,
                made,
                out,
            )
    return matched, status, made


@inlined
def end_region(tables, batch, event, options, space, out, region, made):
    """The matches that the slots of a region complete; the same."""
    transitions, layout, heap, partitions = tables.transitions, tables.layout, space.heap, space.partitions
    partition, klass, edge = event.partition, event.klass, event.edge
    block, size = L_BLOCKS + region * B_WORDS, layout.size[region]
    at, count = partitions[partition, block + B_AT], partitions[partition, block + B_COUNT]
    equals, matched, status = transitions.equals[region, klass], False, DONE
    if equals >= 0:
        k = newest(space.cells, partition * len(layout.size) + region + 1, batch.words[event.i, equals])
        k, _ = next_listed(heap, at, size, k, edge, region == 0)
    else:
        k = alive_from(heap, at, size, 0, count, edge)
    while status == DONE and k >= 0 and k < count:
        slot = at + k * size
        for j in range(transitions.accepting.shape[2]):
            state = transitions.accepting[region, klass, j]
            if state < 0 or status != DONE:
                break
            value = slot + layout.value[state]
            if is_zero(heap, value, layout.words):
                continue
            row = row_of(tables, batch, event, options, space, slot, state)
            any_match, status, made = complete(
                tables, batch, event, options, space, out, row, heap, value, made
            )
            matched |= any_match
        if equals >= 0:
            k, _ = next_listed(heap, at, size, heap[slot + S_NEXT], edge, region == 0)
        else:
            k = alive_from(heap, at, size, k + 1, count, edge)
    return matched, status, made


@inlined
def end_here(tables, batch, event, options, space, out):
    """Counts or writes the matches that end at an event: a status, and whether there are any. Nothing has changed where
    the status is not DONE."""
    transitions, work = tables.transitions, space.work
    for w in range(tables.layout.words + 1):
        work.event_count[w] = 0
    made, matched, status = out.made[0], False, DONE
    for region in range(len(tables.layout.size)):
        if status == DONE and transitions.accepting[region, event.klass, 0] >= 0:
            any_match, status, made = end_region(tables, batch, event, options, space, out, region, made)
            matched |= any_match
    choice = transitions.choice[space.partitions[event.partition, L_ROOT], event.klass]
    if choice >= 0 and status == DONE:
        row = transitions.row_first[choice]
        any_match, status, made = complete(
            tables, batch, event, options, space, out, row, work.first, 0, made
        )
        matched |= any_match
    if status != DONE:
        return status, matched
    out.made[0] = made
    if matched and options.limit == ROOTS:
        return BEYOND_LIMIT, matched
    if matched and options.counting and options.report:
        add_to(space.total, work.event_count, 0, tables.layout.words)
    return DONE, matched
