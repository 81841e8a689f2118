"""Guards: conditions that compare the current event with stored ones, compiled for `kernels.conditions.programs`.

In: typed conditions; attributes without a variable are of the current event, the others of the event in that register.
Out: `program`, which decides them on words, and, batch by batch, the words of events. A stored event is kept as its
*record*, the first words of its row. Invariant: a condition holds on words exactly when `semantics.values.holds`
does on the events.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from cepheid.algebra.conditions import Condition, Expression, attributes
from cepheid.algebra.printing import print_condition
from cepheid.errors import CepheidError
from cepheid.evaluators.columns import Columns
from cepheid.evaluators.configurations.compile import Compiled, Compiler, Instruction, Leaf
from cepheid.evaluators.configurations.words import Nulls, check_words, looked_up, words_of
from cepheid.evaluators.interface import State
from cepheid.kernels.conditions import programs
from cepheid.kernels.conditions.decimals import DECIMAL, WIDE
from cepheid.kernels.conditions.values import ANY, TEXT
from cepheid.matches.match_arrays import Ints
from cepheid.schema import Schema
from cepheid.state_checks import require
from cepheid.streams.partitions import Texts

_BITS = 1 << programs.MASK_BITS


class CompiledTests:
    """`registers`: per condition the registers it reads, in the program's order. `record`: the number of words of a
    stored event; `words`: of the current event, the record first. `program`: the conditions for the kernel, one array
    that never moves; it holds addresses of other arrays and is valid as long as its `CompiledTests`.

    >>> from cepheid.algebra.conditions import Attribute, Comparison
    >>> from cepheid.schema import schema_of
    >>> stocks = pa.table({"ts": [0, 1, 2], "price": [2.0, 1.0, 3.0]})
    >>> dearer = Comparison(">", Attribute(None, "price"), Attribute("r", "price"))
    >>> ours = CompiledTests([dearer], schema_of(stocks.schema, time="ts"))
    >>> rows = ours.of(stocks, np.arange(3))
    >>> ours.registers, ours.record, rows.view(np.float64).tolist()
    ([('r',)], 1, [[2.0], [1.0], [3.0]])
    >>> [programs.holds(ours.program, 0, rows, row, rows[0], np.zeros(1, np.int64), 1) for row in range(3)]
    [False, False, True]
    """

    __test__ = False  # for pytest

    def __init__(self, conditions: Sequence[Condition], schema: Schema) -> None:
        self._texts = Texts()
        compiler = Compiler(schema, self._texts)
        self._compiled = [compiler.compile(condition) for condition in conditions]
        self._fallbacks = compiler.fallbacks
        for fallback in self._fallbacks:
            fallback.when_texts_moved = self._note_addresses
        self._constants = self._texts.count
        self.registers = [compiled.registers for compiled in self._compiled]
        self._leaves = sorted(compiler.leaves, key=lambda leaf: not leaf.stored)
        self.record = self._place([leaf for leaf in self._leaves if leaf.stored], 0)
        self.words = self._place([leaf for leaf in self._leaves if not leaf.stored], self.record)
        forms = [leaf.form for leaf in self._leaves if leaf.form >= DECIMAL]
        self._decimals = {"decimals": np.array(forms, np.int64)} if forms else {}
        self._names = sorted({item.name for leaf in self._leaves for item in attributes(leaf.expression)})
        code = [_coded(each) for one in self._compiled for each in (*one.code, *one.otherwise)]
        self._code = np.array([*code, [0] * programs.C_FIELDS], np.int64)
        self._stack = np.zeros(
            2 * max((compiled.depth for compiled in self._compiled), default=0) + 2, np.int64
        )
        rows = [_row(compiled) for compiled in self._compiled]
        self.program = np.array(rows, np.int64).reshape(-1, programs.P_FIELDS)
        own = np.array([len(compiled.code) for compiled in self._compiled], np.int64)
        further = np.array([len(compiled.otherwise) for compiled in self._compiled], np.int64)
        ends = np.cumsum(own + further, dtype=np.int64)
        self.program[:, programs.P_END] = ends - further
        self.program[:, programs.P_LAST] = ends
        self.program[1:, programs.P_BEGIN] = ends[:-1]
        self._note_addresses()

    @staticmethod
    def _place(leaves: Sequence[Leaf], first: int) -> int:
        """Assigns words to leaves from `first` on, then words for their NULL masks. Gives the next free word."""
        for leaf in leaves:
            leaf.word = first
            first += leaf.width
        masked = [leaf for leaf in leaves if leaf.masked]
        for place, leaf in enumerate(masked):
            leaf.mask = (first << programs.MASK_BITS) + place
        return first + -(-len(masked) // _BITS)

    def _note_addresses(self) -> None:
        """Updates the addresses in the program after texts may have moved."""
        arrays = self._code, self._stack, *self._texts.bytes
        self.program[:, programs.P_CODE : programs.P_STORE + 1] = [array.ctypes.data for array in arrays]

    def of(self, table: pa.Table, places: Ints) -> Ints:
        """The words of the rows at these places, ascending: a row each."""
        words = np.zeros((len(places), self.words), np.int64)
        if self._names:
            taken = table.select(self._names)
            columns = Columns(taken if len(places) == len(table) else taken.take(pa.array(places)))
            try:
                self._fill(words, columns)
            finally:
                self._note_addresses()
        return words

    def _fill(self, words: Ints, columns: Columns) -> None:
        known: dict[tuple[Expression, int], tuple[Ints, Nulls]] = {}
        for leaf in self._leaves:
            key = leaf.expression, leaf.form
            if key not in known:
                known[key] = words_of(columns, leaf.expression, leaf.form, self._texts)
            values, nulls = known[key]
            if leaf.form == ANY:
                words[:, leaf.word : leaf.word + 2] = values
                continue
            if leaf.wanted is not None:
                values = looked_up(values, nulls, leaf.form, leaf.wanted, print_condition(leaf.expression))
            elif leaf.bare:
                check_words(values, nulls, leaf.form, print_condition(leaf.expression))
            words[:, leaf.word] = values
            if leaf.masked and nulls is not None:
                words[:, leaf.mask >> programs.MASK_BITS] |= nulls.astype(np.int64) << (leaf.mask % _BITS)

    def reads(self, condition: int) -> tuple[tuple[int, ...], ...]:
        """Per register of a condition the words of its record that the condition reads."""
        compiled = self._compiled[condition]
        found: list[set[int]] = [set() for _ in compiled.registers]
        for operand in compiled.operands:
            if operand.side != programs.AT_HAND:
                found[operand.side].update(_words(operand.leaf))
        return tuple(tuple(sorted(words)) for words in found)

    def equality(self, condition: int) -> tuple[int, int, int] | None:
        """If a condition is equality of two words: the word of the current event, the register's number, and the word
        of its record."""
        compiled = self._compiled[condition]
        if compiled.how != programs.SAME_WORDS or compiled.left is None or compiled.right is None:
            return None
        return compiled.right.leaf.word, compiled.left.side, compiled.left.leaf.word

    # Texts, which have numbers

    @property
    def numbered(self) -> int:
        """How many texts are held."""
        return self._texts.count

    def columns_of_texts(self) -> list[int]:
        """The words of a record that are numbers of texts or wide decimals; negative numbers are NULL."""
        return [
            leaf.word for leaf in self._leaves if leaf.stored and (leaf.form == TEXT or leaf.form >= WIDE)
        ]

    def require_texts(self, word: int, numbers: Ints) -> None:
        """After loading: a word of `columns_of_texts` holds numbers of texts in UTF-8, of decimals of 32 bytes, or
        NULL."""
        numbers = np.unique(numbers[numbers >= 0])
        require(not len(numbers) or numbers[-1] < self._texts.count, "a number of a text is out of range")
        if any(leaf.word == word and leaf.form == TEXT for leaf in self._leaves):
            self._texts.of(numbers)
        else:
            lengths = pc.binary_length(self._texts.binary(numbers))
            require(pc.all(pc.equal(lengths, 32)).as_py() in (True, None), "a decimal does not have 32 bytes")

    def columns_of_tags(self) -> list[int]:
        """The words of a record that are tags of the next word."""
        return [leaf.word for leaf in self._leaves if leaf.stored and leaf.form == ANY]

    def keep(self, numbers: Ints) -> Ints:
        """Between two batches: forgets all texts but these and the constants. Gives the new number by old number, -1
        for forgotten texts and at the last place, which stands for -1."""
        kept = np.unique(np.concatenate([np.arange(self._constants), numbers[numbers >= 0]]))
        renumbered = np.full(self._texts.count + 1, -1)
        renumbered[kept] = np.arange(len(kept))
        self._renumber(self._texts.only(kept))
        return renumbered

    def _renumber(self, texts: Texts) -> None:
        self._texts = texts
        for fallback in self._fallbacks:
            fallback.forget(texts)
        self._note_addresses()

    @property
    def memory(self) -> int:
        return self._texts.memory + sum(fallback.memory for fallback in self._fallbacks)

    def save(self) -> State:
        return {**self._texts.save("texts"), **self._decimals}

    def load(self, state: State) -> None:
        if not self._decimals.keys() <= state.keys():
            message = "the state was saved by a version that compared decimals as doubles"
            raise CepheidError("bad-state", message, hint="match the stream again from its beginning")
        texts = Texts()
        texts.load("texts", dict(state))
        constants = self._texts.of(np.arange(self._constants))
        kept = texts.count >= self._constants and texts.of(np.arange(self._constants)).equals(constants)
        require(kept, "its constants are not the query's")
        self._renumber(texts)


def _words(leaf: Leaf) -> list[int]:
    own = list(range(leaf.word, leaf.word + leaf.width))
    return [*own, leaf.mask >> programs.MASK_BITS] if leaf.masked else own


def _row(compiled: Compiled) -> list[int]:
    row = [0] * programs.P_FIELDS
    row[programs.P_HOW], row[programs.P_OUTCOMES] = compiled.how, compiled.outcomes
    if compiled.left is not None and compiled.right is not None:
        left, right = compiled.left, compiled.right
        row[programs.P_LEFT], row[programs.P_LEFT_WORD] = left.side, left.leaf.word
        row[programs.P_RIGHT], row[programs.P_RIGHT_WORD] = right.side, right.leaf.word
        row[programs.P_LEFT_FORM], row[programs.P_LEFT_MASK] = left.leaf.form, left.leaf.mask
        row[programs.P_RIGHT_FORM], row[programs.P_RIGHT_MASK] = right.leaf.form, right.leaf.mask
    return row


def _coded(instruction: Instruction) -> list[int]:
    op, operand, one, other = instruction
    if operand is None:
        return [op, one, other, 0, 0]
    return [op, operand.side, operand.leaf.word, operand.leaf.form, operand.leaf.mask]
