"""Compiles the kernels in kernels.py to PTX, without a GPU: python build.py

This needs the package triton, and nothing else that it does not bring along.
"""

from pathlib import Path

import kernels
import triton
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource

HERE = Path(__file__).parent

#: The parameters of each kernel, and what is constant in it.
KERNELS = {
    "vector_add": ({"x": "*fp32", "y": "*fp32", "out": "*fp32", "n": "i32"}, {"BLOCK": 256}),
    "softmax": ({"x": "*fp32", "out": "*fp32", "columns": "i32", "stride": "i32"}, {"BLOCK": 512}),
    "layer_norm": (
        {"x": "*fp32", "weight": "*fp32", "bias": "*fp32", "out": "*fp32", "columns": "i32", "epsilon": "fp32"},
        {"BLOCK": 256},
    ),
    "histogram": ({"values": "*i32", "counts": "*i32", "n": "i32"}, {"BINS": 64, "BLOCK": 512}),
    "prefix_sum": ({"x": "*i32", "out": "*i32", "columns": "i32"}, {"BLOCK": 512}),
    "matmul": (
        {"a": "*fp16", "b": "*fp16", "c": "*fp32"}
        | dict.fromkeys(("m", "n", "k", "stride_a", "stride_b", "stride_c"), "i32"),
        {"ROWS": 32, "COLUMNS": 32, "DEPTH": 32},
    ),
}


def compiled(name: str, capability: int):
    """A kernel, compiled for a compute capability: 80 is 8.0."""
    parameters, constants = KERNELS[name]
    signature = parameters | dict.fromkeys(constants, "constexpr")
    source = ASTSource(getattr(kernels, name), signature, constants)
    options = {"num_warps": 4, "enable_fp_fusion": True}
    return triton.compile(source, target=GPUTarget("cuda", capability, 32), options=options)


def text(kernel) -> str:
    """Its PTX, with what a launch has to know, and without sections for debuggers, which name folders."""
    code, data = kernel.asm["ptx"], kernel.metadata
    code = code[code.index(".version") :].split("\t.section\t.debug_abbrev")[0]
    for folder in (HERE.resolve(), Path(triton.__file__).parents[1]):
        code = code.replace(f'"{folder}/', '"')
    head = f"// Made by build.py with Triton {triton.__version__}. Launch it with blocks of {32 * data.num_warps} threads"
    return f"{head}\n// and {data.shared} bytes of dynamic shared memory.\n{code.rstrip()}\n"


if __name__ == "__main__":
    for name in KERNELS:
        kernel = compiled(name, 80)
        (HERE / f"{name}.ptx").write_text(text(kernel), encoding="utf-8")
        data = kernel.metadata
        print(f"{name}: {32 * data.num_warps} threads, {data.shared} bytes of shared memory")
