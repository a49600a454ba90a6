"""Compiles kernels of numba.cuda to PTX with LLVM alone: neither a GPU nor the vendor's NVVM is needed."""

import re
from pathlib import Path
from types import SimpleNamespace

import llvmlite.binding as llvm
import numpy as np
from numba import cuda
from numba.cuda import dispatcher
from numba.cuda.cudadrv import nvvm

llvm.initialize_all_targets()
llvm.initialize_all_asmprinters()


class Nvvm:
    """What numba asks NVVM about itself."""

    data_layout = nvvm._datalayout_i128
    supported_ccs = nvvm.COMPUTE_CAPABILITIES

    def get_ir_version(self):
        return 2, 0, 3, 1


#: Functions of the vendor's device library that LLVM has, too, and NVVM's own forms of shuffles and votes.
LIBRARY = re.compile(r"\b__nv_(fabs|sqrt|floor|ceil|trunc|fma|exp2)(f?)\b")
COLLECTIVE = re.compile(r"\bllvm\.nvvm\.(shfl|vote)\.sync(?:\.i32)?(?=\W)(?!\.)")
WARP = Path(__file__).with_name("warp.ll").read_text(encoding="utf-8")


def of_llvm(text):
    """A module with names that LLVM knows, or that `warp.ll` defines."""
    text = LIBRARY.sub(lambda found: f"llvm.{found[1]}.{'f32' if found[2] else 'f64'}", text)
    return COLLECTIVE.sub(r"nvvm_\1", text)


def compile_ir(texts, arch, opt=3, **_):
    """Links the modules that numba made, and has LLVM write PTX for a target such as `compute_70`."""
    texts = [texts] if isinstance(texts, str) else texts
    module, *others = [llvm.parse_assembly(of_llvm(nvvm.llvm_replace(text))) for text in texts]
    for other in [*others, llvm.parse_assembly(WARP)]:
        module.link_in(other)
    for function in module.functions:
        # Calls of it stay where they are: it may need other lanes of the warp.
        if not function.name.startswith("llvm."):
            function.add_function_attribute("convergent")
    target = llvm.Target.from_triple(module.triple)
    machine = target.create_target_machine(cpu=arch.replace("compute", "sm"), opt=opt)
    passes = llvm.create_pass_builder(machine, llvm.create_pipeline_tuning_options(opt))
    passes.getModulePassManager().run(module, passes)
    return machine.emit_assembly(module).encode()


nvvm.NVVM, nvvm.compile_ir = Nvvm, compile_ir
# What asks the driver for a device, to compile functions that a kernel calls.
dispatcher.get_current_device = lambda: SimpleNamespace(compute_capability=(7, 0))


def ptx(function, *types, capability=(7, 0)):
    """A kernel in PTX, under the name that it has in Python."""
    text, _ = cuda.compile_ptx(function, types, cc=capability)
    symbol = re.search(r"\.entry (\w+)", text)[1]
    text = text[text.index(".version") :].replace(symbol, function.__name__)
    # Pointers for exceptions on the host, which no kernel reads.
    return re.sub(r"\.common [^;]*NumbaEnv[^;]*;\n", "", text) + "\n"


def arguments(*values):
    """What such a kernel takes: an array is a pointer among its sizes, after two words that only the host uses."""
    for value in values:
        shape = getattr(value, "shape", ())
        if shape:
            yield from (0, 0, value.size, value.dtype.itemsize, value, *shape, *steps(value))
        else:
            yield value


def steps(array):
    """The bytes from one element of an array to the next, in each dimension, as it lies in the memory of the device."""
    if isinstance(array, np.ndarray) and array.flags.forc:
        return array.strides
    return np.empty(array.shape, array.dtype).strides
