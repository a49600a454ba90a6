"""Devices, arrays on them, modules and kernels."""

from __future__ import annotations

import os
import tempfile
import weakref
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Union

import numpy as np

from raddle import _raddle
from raddle.arrays import Host, as_array, flat, scalar
from raddle.run import Run
from raddle.workloads import Workload

if TYPE_CHECKING:
    from numpy.typing import DTypeLike

    from raddle.machine import Machine

#: The size of a grid or a block: a number, or up to three.
Shape = Union[int, tuple[int, ...]]


def _three(shape: Shape, what: str) -> tuple[int, int, int]:
    if isinstance(shape, (int, np.integer)):
        return (_size(shape, what), 1, 1)
    sizes = tuple(shape)
    if not 1 <= len(sizes) <= 3:
        raise ValueError(f"a {what} has one to three dimensions, not {len(sizes)}")
    x, y, z = (*(_size(n, what) for n in sizes), 1, 1)[:3]
    return (x, y, z)


def _size(n: Any, what: str) -> int:
    if isinstance(n, bool) or not isinstance(n, (int, np.integer)):
        raise TypeError(f"the size of a {what} is a whole number, not {n!r}")
    if not 1 <= n <= 0x7FFFFFFF:
        raise ValueError(f"the size of a {what} must be 1 to 2147483647, not {n}")
    return int(n)


class Device:
    """A simulated GPU with its memory. `Machine.device` makes one."""

    def __init__(self, machine: Machine, *, engine: str, threads: int, profile: bool, check: bool, lanes: int) -> None:
        self.machine = machine
        self.engine = engine
        self._native = _raddle.Device(machine._native, engine, threads, profile, check, lanes)
        # Addresses of arrays that are gone. They are freed at the next call: a finalizer may run at any time.
        self._gone: list[int] = []

    def compile(self, source: str | os.PathLike[str] | Workload | Any, *, name: str | None = None) -> Module:
        """Loads kernels: the path of a `.cu` or `.ptx` file, text in CUDA or PTX, or a workload.

        It also loads what `triton.compile` returns. CUDA is compiled with clang; `raddle doctor` says whether it is
        there.
        """
        if hasattr(source, "asm"):
            from raddle import triton

            return triton.load(self, source)
        if isinstance(source, Workload):
            file = f"{source.name}.cu"
            return Module(self, self._native.load(name or file, source.ptx, source.source))
        text = os.fspath(source)
        if "\n" in text:
            return self._compile_text(text, name)
        if text.endswith(".cu"):
            return Module(self, self._native.load(text, None, None))
        with open(text, encoding="utf-8", errors="replace") as ptx:
            return Module(self, self._native.load(name or text, ptx.read(), None))

    def _compile_text(self, text: str, name: str | None) -> Module:
        if "__global__" not in text:
            return Module(self, self._native.load(name or "kernels.ptx", text, None))
        name = os.path.basename(name or "kernels.cu")
        with tempfile.TemporaryDirectory() as folder:
            with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
                file.write(text)
            return Module(self, self._native.load(name, None, text, folder))

    def array(self, values: Any, dtype: DTypeLike | None = None) -> DeviceArray:
        """An array on the device with these values."""
        values = np.asarray(values if not hasattr(values, "__dlpack__") else as_array_of(values), dtype)
        array = self.empty(values.shape, values.dtype)
        array.set(values)
        return array

    def zeros(self, shape: Shape, dtype: DTypeLike = np.float32) -> DeviceArray:
        """An array of zeros on the device."""
        array = self.empty(shape, dtype)
        array.set(np.zeros(shape, dtype))
        return array

    def empty(self, shape: Shape, dtype: DTypeLike = np.float32) -> DeviceArray:
        """An array on the device with nothing written to it yet."""
        return DeviceArray(self, shape, np.dtype(dtype))

    def check(self) -> None:
        """Compares memory with what the reference interpreter made of the same launches.

        Raises an `Error` where it differs. The device must have been made with `check=True`.
        """
        compared = self._native.compare()
        if compared is None:
            raise _raddle.Error("the device compares nothing; make it with Machine.device(check=True)")
        _, wrong, first = compared
        if wrong:
            where = f"; the first is byte {first[1]} of {first[0]}" if first else ""
            raise _raddle.Error(f"{wrong} bytes of memory are not as the reference interpreter leaves them{where}")

    def _sweep_up(self) -> None:
        while self._gone:
            self._native.free(self._gone.pop())

    def __repr__(self) -> str:
        return f"<raddle.Device {self.engine}, {self.machine!r}>"


def as_array_of(values: Any) -> np.ndarray:
    """An array of NumPy, or that of another library in host memory."""
    return values if isinstance(values, np.ndarray) else as_array(values)


class DeviceArray:
    """An array in the memory of a device. Kernels take it as a pointer to its first element."""

    def __init__(self, device: Device, shape: Shape, dtype: np.dtype) -> None:
        if dtype.hasobject:
            raise TypeError("a device cannot hold Python objects; give the array a dtype, such as np.float32")
        sizes = (shape,) if isinstance(shape, (int, np.integer)) else tuple(shape)
        if any(n < 0 for n in sizes):
            raise ValueError(f"an array cannot have the shape {sizes}")
        device._sweep_up()
        self.device = device
        self.shape = tuple(int(n) for n in sizes)
        self.dtype = dtype
        count = 1
        for n in self.shape:
            count *= n
        self.size = count
        self.nbytes = count * dtype.itemsize
        self._address: int | None = device._native.alloc("array", self.nbytes)
        self._finalizer = weakref.finalize(self, device._gone.append, self._address)
        self._finalizer.atexit = False

    @property
    def address(self) -> int:
        """The address of the first element. `np.uint64(a.address + 16)` is a pointer to a later one."""
        if self._address is None:
            raise ValueError("the array has been freed")
        return self._address

    def set(self, values: Any) -> None:
        """Copies values to the device, converted and broadcast as an assignment in NumPy does."""
        address = self.address
        host = np.empty(self.shape, self.dtype)
        host[...] = values.numpy() if isinstance(values, DeviceArray) else values
        self.device._native.write(address, flat(host)[0])

    def numpy(self) -> np.ndarray:
        """A copy in host memory."""
        host = np.empty(self.shape, self.dtype)
        self.device._native.read(self.address, flat(host)[0])
        return host

    def free(self) -> None:
        """Frees its memory now; otherwise that is freed when nobody has the array any more."""
        address = self.address
        self._finalizer.detach()
        self._address = None
        self.device._native.free(address)

    def __array__(self, dtype: DTypeLike | None = None, copy: bool | None = None) -> np.ndarray:
        if copy is False:
            raise ValueError("an array on a simulated device cannot be read without a copy")
        host = self.numpy()
        return host if dtype is None else host.astype(dtype)

    def __dlpack__(self, **options: Any) -> Any:
        return self.numpy().__dlpack__(**options)

    def __dlpack_device__(self) -> tuple[int, int]:
        return (1, 0)

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("an array without dimensions has no length")
        return self.shape[0]

    def __repr__(self) -> str:
        state = "freed" if self._address is None else f"at {self._address:#x}"
        return f"<raddle.DeviceArray {self.shape} {self.dtype} {state}>"


class Module:
    """Kernels on a device: `module.saxpy`, or `module["saxpy"]`."""

    def __init__(self, device: Device, native: _raddle.Module) -> None:
        self.device = device
        self._native = native
        self._by_name: dict[str, Kernel] = {}
        for symbol, name, parameters in native.kernels():
            kernel = Kernel(self, symbol, name, parameters)
            # Overloads have the same name in the source; their symbols tell them apart.
            if name in self._by_name:
                self._by_name[symbol] = kernel
            else:
                self._by_name[name] = kernel

    @property
    def kernels(self) -> dict[str, Kernel]:
        """The kernels by their names."""
        return dict(self._by_name)

    @property
    def ptx(self) -> str:
        """The kernels in PTX."""
        return self._native.ptx

    def __getitem__(self, name: str) -> Kernel:
        found = self._by_name.get(name)
        if found is None:
            found = next((kernel for kernel in self._by_name.values() if kernel.symbol == name), None)
        if found is None:
            raise KeyError(f"the module has no kernel {name!r}; it has {', '.join(self._by_name)}")
        return found

    def __getattr__(self, name: str) -> Kernel:
        if name.startswith("__"):
            raise AttributeError(name)
        try:
            return self[name]
        except KeyError as error:
            raise AttributeError(error.args[0]) from None

    def __iter__(self) -> Iterator[Kernel]:
        return iter(self._by_name.values())

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self._by_name]

    def variable(self, name: str, dtype: DTypeLike = np.uint8) -> np.ndarray:
        """A copy of a `__constant__` or `__device__` variable."""
        is_constant, at, size = self._native.variable(name)
        if is_constant:
            return np.frombuffer(self._native.read_constant(at, size), np.uint8).view(dtype).copy()
        data = np.empty(size, np.uint8)
        self.device._native.read(at, data)
        return data.view(dtype)

    def set_variable(self, name: str, values: Any, dtype: DTypeLike | None = None) -> None:
        """Writes the start of a `__constant__` or `__device__` variable."""
        data = flat(np.array(values, dtype, order="C", ndmin=1))[0]
        is_constant, at, size = self._native.variable(name)
        if data.nbytes > size:
            raise ValueError(f"variable {name!r} has {size} bytes, not {data.nbytes}")
        if is_constant:
            self._native.write_constant(at, data.tobytes())
        else:
            self.device._native.write(at, data)

    def __repr__(self) -> str:
        return f"<raddle.Module with {', '.join(self._by_name) or 'no kernel'}>"


class Kernel:
    """A kernel. `kernel[grid, block](...)` launches it, `kernel[grid, block, shared](...)` with shared memory."""

    def __init__(self, module: Module, symbol: str, name: str, parameters: list[tuple[str, str]]) -> None:
        self.module = module
        self.symbol = symbol
        self.name = name
        self.parameters = parameters

    def __getitem__(self, shape: tuple[Any, ...]) -> Launcher:
        if not isinstance(shape, tuple) or not 2 <= len(shape) <= 3:
            raise TypeError(f"write {self.name}[grid, block](...), or {self.name}[grid, block, shared_bytes](...)")
        shared = shape[2] if len(shape) == 3 else 0
        if isinstance(shared, bool) or not isinstance(shared, (int, np.integer)) or not 0 <= shared <= 0xFFFFFFFF:
            raise TypeError(f"shared memory is a number of bytes, not {shared!r}")
        return Launcher(self, _three(shape[0], "grid"), _three(shape[1], "block"), int(shared))

    def __call__(self, *_: Any) -> Run:
        raise TypeError(f"say how many threads: {self.name}[grid, block](...)")

    def __repr__(self) -> str:
        types = ", ".join(kind for kind, _ in self.parameters)
        return f"<raddle.Kernel {self.name}({types})>"


class Launcher:
    """A kernel with a grid and blocks, to be called with its arguments."""

    __slots__ = ("_block", "_grid", "_kernel", "_shared")

    def __init__(
        self, kernel: Kernel, grid: tuple[int, int, int], block: tuple[int, int, int], shared: int
    ) -> None:
        self._kernel, self._grid, self._block, self._shared = kernel, grid, block, shared

    def __call__(self, *args: Any) -> Run:
        """Launches the kernel and waits for its end. Arrays of the host have what it wrote to them."""
        kernel = self._kernel
        device = kernel.module.device
        if device._gone:
            device._sweep_up()
        host = Host()
        native = [_argument(device, host, number, arg) for number, arg in enumerate(args)]
        run, written = kernel.module._native.launch(kernel.symbol, self._grid, self._block, self._shared, native)
        host.finish(written)
        if isinstance(run, BaseException):
            raise run
        return Run(run)


def _argument(device: Device, host: Host, number: int, value: Any) -> Any:
    """An argument as the native module takes it."""
    if isinstance(value, np.ndarray):
        return host.argument(number, value)
    if isinstance(value, DeviceArray):
        if value.device is not device:
            raise ValueError(f"argument {number + 1} is an array of another device")
        return ("u64", value.address)
    if isinstance(value, bool):
        return int(value)
    if isinstance(value, np.generic):
        return scalar(value)
    if isinstance(value, (int, float, bytes)):
        return value
    return host.argument(number, as_array(value))
