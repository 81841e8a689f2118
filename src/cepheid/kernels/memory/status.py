"""Why a loop over events returned: one enumeration for all loops.

A loop gives a status and the event to go on from. With any status but DONE that event has not been taken: the evaluator
does what the status asks for and calls the loop again (`evaluators.driver`).
"""

from __future__ import annotations

(
    DONE,  # all events were taken
    MORE_TRANSITIONS,  # the tables lack transitions that the event needs
    MORE_HEAP,
    MORE_NODES,  # of the match graph
    MORE_CELLS,  # of the index
    MORE_PLACES,  # in what is worked out for each start of a partition
    MORE_STACK,  # for the walk of an enumeration or a count
    MORE_OUTPUT,  # for the matches that end at the event
    MORE_WORDS,  # for each number
    TOO_MANY,  # matches: more than the guard allows
    BEYOND_LIMIT,  # more matches end at the event than the limit leaves room for, by far
    INTERRUPTED,  # an exception waits (`interrupts`)
) = range(12)
