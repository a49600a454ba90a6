"""Compiles the kernels in kernels.py to PTX, without a GPU: python build.py

This needs the package numba, and nothing else that it does not bring along.
"""

from pathlib import Path

import kernels
import nvptx
from numba import __version__, float32, uint32

vector, matrix = float32[::1], float32[:, ::1]
TYPES = {
    "saxpy": (float32, vector, vector),
    "total": (vector, vector),
    "matmul": (matrix, matrix, matrix),
    "warps": (vector, vector, uint32[::1]),
}

if __name__ == "__main__":
    for name, types in TYPES.items():
        text = nvptx.ptx(getattr(kernels, name), *types)
        file = Path(__file__).with_name(f"{name}.ptx")
        file.write_text(f"// Made by build.py with numba {__version__}.\n{text}", encoding="utf-8")
        print(file.name)
