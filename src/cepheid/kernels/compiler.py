"""numba's compiler without what makes it slow for many small functions and large bundles of arrays.

numba optimises every function by itself and makes machine code of it, and then again as a part of each function that
calls it. It gives a bundle of arrays to a function word by word, some four hundred of them, and names the function
after all their types. It keeps most variables on the stack and clears each after its last use. Here

- a function that only kernels call is lowered and simplified, no more. The kernel that Python calls is linked with all
  functions that it reaches, and then optimised and made machine code of, once (`InnerLibrary`, `KernelLibrary`);
- a bundle is one argument (`BundlePacker`), and names are short (`_short_name`);
- a variable that is set once is a value with no place on the stack, and none is cleared where nothing counts
  references (`KernelLowering`);
- passes over what kernels do not contain are left out (`PASSES`).

This rests on parts of numba that are not public, as they are in the versions of `SERIES`. With any other the import
fails, and kernels are compiled by numba's own compiler: with the same results, in two to three times the time.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Sequence
from typing import Any

import numba
from llvmlite.binding.newpassmanagers import FunctionPassManager
from numba.core import ir
from numba.core.analysis import compute_cfg_from_blocks, compute_use_defs
from numba.core.codegen import CodeLibrary, JITCodeLibrary
from numba.core.compiler import CompilerBase
from numba.core.compiler_machinery import PassManager, register_pass
from numba.core.datamodel.packer import ArgPacker, _flatten, _Unflattener
from numba.core.environment import lookup_environment
from numba.core.lowering import Lower
from numba.core.typed_passes import (
    AnnotateTypes,
    BaseNativeLowering,
    IRLegalization,
    NoPythonBackend,
    NoPythonSupportedFeatureValidation,
    NopythonTypeInference,
    PreLowerStripPhis,
)
from numba.core.types.abstract import Type
from numba.core.types.containers import NamedTuple
from numba.core.untyped_passes import (
    DeadBranchPrune,
    FixupArgs,
    GenericRewrites,
    IRProcessing,
    ReconstructSSA,
    RewriteSemanticConstants,
    TranslateByteCode,
)

SERIES = "0.68."
if not numba.__version__.startswith(SERIES):
    raise ImportError(f"numba is {numba.__version__}, not {SERIES}*")


class KernelLibrary(JITCodeLibrary):  # type: ignore[misc]
    """The code of a function that Python calls."""

    _linking_libraries: list[CodeLibrary]

    def finalize(self) -> None:
        self._linking_libraries = callers_first(self._linking_libraries)
        super().finalize()

    def _finalize_specific(self) -> None:
        super()._finalize_specific()
        for variable in self._final_module.global_variables:
            environment = lookup_environment(variable.name)
            if environment is not None:
                self._codegen.set_env(variable.name, environment)


class InnerLibrary(KernelLibrary):
    """The code of a function that only kernels call: a module for linking, of which no machine code is made."""

    class _NoMachineCode:
        def set_env(self, name: str, environment: Any) -> None:
            """The environment is set where there is machine code: in the kernels that this is linked into."""

    codegen = _NoMachineCode()

    def enable_object_caching(self) -> None:
        """There is no object to keep."""

    def finalize(self) -> None:
        self._raise_if_finalized()
        self._finalized = True

    def get_pointer_to_function(self, name: str) -> int:
        return 0

    def _optimize_functions(self, ll_module: Any) -> None:
        ll_module.data_layout = self._codegen._data_layout
        builder = self._codegen._pass_builder()
        passes = FunctionPassManager()
        passes.add_simplify_cfg_pass()
        passes.add_sroa_pass()
        passes.add_instruction_combine_pass()
        passes.add_simplify_cfg_pass()
        for function in ll_module.functions:
            if not function.is_declaration:
                passes.run(function, builder)


def callers_first(libraries: Sequence[CodeLibrary]) -> list[CodeLibrary]:
    """The libraries and those that inner ones of them call, each after all that call it: what is linked in without
    being called by what is there already would be dropped."""
    done: dict[CodeLibrary, None] = {}

    def visit(library: CodeLibrary) -> None:
        if library not in done:
            if isinstance(library, InnerLibrary):
                for called in library._linking_libraries:
                    visit(called)
            done[library] = None

    for library in libraries:
        visit(library)
    return list(reversed(done))


class BundlePacker(ArgPacker):  # type: ignore[misc]
    """Gives bundles to functions as they are; LLVM takes them apart."""

    def __init__(self, models: Any, arguments: Sequence[Type]) -> None:
        super().__init__(models, ())
        self._nargs = len(arguments)
        self._dm_args = [
            _Whole(models.lookup(argument)) if isinstance(argument, NamedTuple) else models.lookup(argument)
            for argument in arguments
        ]
        found = [model.get_argument_type() for model in self._dm_args]
        self._unflattener = _Unflattener(found)
        self._be_args = list(_flatten(found))


class _Whole:
    """The data model of an argument that is not taken apart."""

    def __init__(self, model: Any) -> None:
        self._model = model

    def get_argument_type(self) -> Any:
        return self._model.get_value_type()

    def as_argument(self, builder: Any, value: Any) -> Any:
        return value

    def from_argument(self, builder: Any, value: Any) -> Any:
        return value


class _Lower(Lower):  # type: ignore[misc]
    """Lowers a function in which nothing counts references. Where something does, as numba does."""

    def _find_singly_assigned_variable(self) -> None:
        super()._find_singly_assigned_variable()
        if not self.context.enable_nrt:
            self._singly_assigned_vars |= _values(self.func_ir.blocks)

    def storevar(self, value: Any, name: str, argidx: int | None = None) -> None:
        if self.context.enable_nrt or name in self._singly_assigned_vars:
            super().storevar(value, name, argidx)
        else:
            self.builder.store(value, self.getvar(name))

    def delvar(self, name: str) -> None:
        if self.context.enable_nrt:
            super().delvar(name)


def _values(blocks: dict[int, ir.Block]) -> set[str]:
    """The variables that are set once, in a block through which all ways to their uses lead."""
    assigned = [(assign.target.name, at) for at in blocks for assign in blocks[at].find_insts(ir.Assign)]
    times, block_of = Counter(name for name, _ in assigned), dict(assigned)
    dominators = compute_cfg_from_blocks(blocks).dominators()
    found = {name for name in times if times[name] == 1}
    for at, used in compute_use_defs(blocks).usemap.items():
        # blocks are lowered in their order
        found -= {
            name for name in used & found if not (block_of[name] < at and block_of[name] in dominators[at])
        }
    return found


@register_pass(mutates_CFG=True, analysis_only=False)
class KernelLowering(BaseNativeLowering):  # type: ignore[misc]
    _name = "kernel_lowering"
    lowering_class = _Lower


PASSES = (
    TranslateByteCode,
    FixupArgs,
    IRProcessing,
    RewriteSemanticConstants,
    DeadBranchPrune,
    GenericRewrites,
    ReconstructSSA,
    NopythonTypeInference,
    PreLowerStripPhis,
    NoPythonSupportedFeatureValidation,
    IRLegalization,
    AnnotateTypes,
    KernelLowering,
    NoPythonBackend,
)
"""Those of numba's that concern kernels: not lifting, closures, inlining in numba's own form, expressions of arrays."""


class KernelCompiler(CompilerBase):  # type: ignore[misc]
    def define_pipelines(self) -> list[PassManager]:
        state = self.state
        context = state.targetctx
        state.targetctx = context.subtarget(
            get_arg_packer=lambda arguments: BundlePacker(context.data_model_manager, arguments),
            mangler=_short_name(context.mangler),
        )
        library = InnerLibrary if state.flags.no_cpython_wrapper else KernelLibrary
        state.library = library(context.codegen(), state.func_id.func_qualname)
        state.library.enable_object_caching()
        passes = PassManager("kernel")
        for one in PASSES:
            passes.add_pass(one, one.__name__)
        passes.finalize()
        return [passes]


def _short_name(mangler: Any) -> Any:
    """With a digest instead of the types of a function's arguments."""

    def short(name: str, arguments: Sequence[Type], **options: Any) -> Any:
        digest = hashlib.blake2b(repr(arguments).encode(), digest_size=8).hexdigest()
        return mangler(f"{name}_{digest}", (), **options)

    return short
