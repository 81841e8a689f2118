"""Cells: partial matches as sets of label strings in a list, which the sliding loop makes and `enumerate_cells` walks.

A cell is four words: row, label, child, alternative, and means {row·s : s in child} ∪ alternative; with label UNION it
is a plain union of the two. Value EMPTY is the empty set, NOTHING the set of the empty string. A cell only points to
cells made before it.
"""

CELL_ROW, CELL_LABEL, CELL_CHILD, CELL_ALTERNATIVE, CELL_WORDS = 0, 1, 2, 3, 4

EMPTY = -1  # no string
NOTHING = 0  # the empty string
UNION = -1  # label of a union cell
