"""Kernels that `triton.compile` returns. The package triton itself is not needed here."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from raddle.device import Kernel, Launcher, Module, Shape, _three

if TYPE_CHECKING:
    from raddle.device import Device
    from raddle.run import Run

#: Memory that a kernel may take as its last parameters, after those of its source.
SCRATCH = ("global_scratch_size", "profile_scratch_size")


def load(device: Device, compiled: Any) -> Module:
    """Loads what `triton.compile` returned."""
    name = compiled.metadata.name
    module = Module(device, device._native.load(f"{name}.ptx", compiled.asm["ptx"], None))
    plain = module[name]
    module._by_name[name] = TritonKernel(module, plain.symbol, name, plain.parameters, compiled.metadata)
    return module


class TritonKernel(Kernel):
    """A kernel of Triton, which knows its blocks: `kernel[grid](...)` launches it."""

    def __init__(
        self, module: Module, symbol: str, name: str, parameters: list[tuple[str, str]], metadata: Any
    ) -> None:
        super().__init__(module, symbol, name, parameters)
        self._metadata = metadata

    def __getitem__(self, grid: Shape) -> Launcher:
        return TritonLauncher(self, _three(grid, "grid"), self._metadata)

    def __call__(self, *_: Any) -> Run:
        raise TypeError(f"say how many programs: {self.name}[grid](...)")


class TritonLauncher(Launcher):
    """A kernel of Triton with a grid, to be called with its arguments but for constants and scratch memory."""

    __slots__ = ("_scratch",)

    def __init__(self, kernel: Kernel, grid: tuple[int, int, int], metadata: Any) -> None:
        super().__init__(kernel, grid, (32 * metadata.num_warps, 1, 1), metadata.shared)
        x, y, z = grid
        sizes = [getattr(metadata, name) for name in SCRATCH if hasattr(metadata, name)]
        self._scratch = [size * x * y * z for size in sizes]

    def __call__(self, *args: Any) -> Run:
        device = self._kernel.module.device
        scratch = [device.empty(size, np.uint8) if size else 0 for size in self._scratch]
        return super().__call__(*args, *scratch)
