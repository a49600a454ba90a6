"""Arguments of kernels: what they are in Python, and what the native module takes."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

#: The names that kernels have for the types of NumPy.
_ELEMENTS = {
    "i1": "s8",
    "u1": "u8",
    "i2": "s16",
    "u2": "u16",
    "i4": "s32",
    "u4": "u32",
    "i8": "s64",
    "u8": "u64",
    "f2": "f16",
    "f4": "f32",
    "f8": "f64",
}

#: Host memory, and host memory that a GPU can reach, in DLPack.
_HOST = (1, 3, 11)


def scalar(value: np.generic) -> Any:
    """A scalar of NumPy: a number with its type, or the bytes of a structure."""
    if isinstance(value, np.bool_):
        return int(value)
    kind = value.dtype.kind + str(value.dtype.itemsize)
    element = _ELEMENTS.get(kind)
    if element is None:
        if value.dtype.kind in "OMmUS":
            raise TypeError(f"a kernel cannot take a scalar of type {value.dtype}")
        return value.tobytes()
    return (element, int.from_bytes(value.tobytes(), "little"))


def _refuse(array: np.ndarray) -> None:
    if array.dtype.hasobject:
        raise TypeError("a kernel cannot take an array of Python objects; give it a dtype, such as np.float32")
    if not array.dtype.isnative:
        raise TypeError(f"the array has bytes in another order ({array.dtype}); use x.astype(x.dtype.newbyteorder('='))")


def as_array(value: Any) -> np.ndarray:
    """Host memory of another library as an array, without a copy."""
    if hasattr(value, "__dlpack_device__"):
        kind = value.__dlpack_device__()[0]
        if int(kind) not in _HOST:
            raise TypeError("the array is not in host memory; copy it to the host first, such as x.cpu()")
        shared = np.from_dlpack(value)
        if shared.flags.writeable or not hasattr(value, "__array__"):
            return shared
        # Older protocols cannot say that memory may be written.
        other = np.asarray(value)
        return other if np.shares_memory(shared, other) else shared
    if isinstance(value, (bytearray, memoryview)):
        return np.frombuffer(value, dtype=np.uint8)
    kind = type(value).__name__
    if isinstance(value, (list, tuple, set, dict, str)):
        raise TypeError(f"a kernel cannot take a {kind}; make an array of it: np.array(x, dtype=np.float32)")
    raise TypeError(f"a kernel cannot take a {kind}; pass an array, a number, or bytes for a structure")


def flat(array: np.ndarray) -> tuple[np.ndarray, bool]:
    """The bytes of an array as they lie in memory, and whether these are the array's own.

    An array that is contiguous in any order is taken as it lies in memory. Of others it is a copy in C order.
    """
    _refuse(array)
    if array.flags.c_contiguous:
        return _bytes(array), True
    if array.flags.f_contiguous:
        return _bytes(array.T), True
    return _bytes(np.ascontiguousarray(array)), False


def _bytes(array: np.ndarray) -> np.ndarray:
    if array.size == 0:
        return np.empty(0, np.uint8)
    return array.reshape(-1).view(np.uint8)


class Host:
    """The arrays of one launch that are in host memory."""

    def __init__(self) -> None:
        self._seen: list[tuple[int, np.ndarray]] = []
        self._layouts: dict[int, tuple[tuple[int, ...], Literal["C", "F"]]] = {}

    def argument(self, number: int, array: np.ndarray) -> Any:
        """What the native module takes for argument `number`.

        That is a copy of the bytes: other threads may resize or free an array while the kernel runs.
        """
        _refuse(array)
        for other, seen in self._seen:
            if seen is array or _is_same(seen, array):
                return (other,)
            if array.flags.writeable and np.may_share_memory(seen, array):
                raise ValueError(
                    f"arguments {other + 1} and {number + 1} overlap in memory; copy one, or put both on the device"
                )
        self._seen.append((number, array))
        order: Literal["C", "F"] = "F" if array.flags.fnc else "C"
        self._layouts[number] = (array.shape, order)
        return (np.ndarray.tobytes(array, order), array.flags.writeable)

    def finish(self, written: list[tuple[int, bytes]]) -> None:
        """Copies what a kernel wrote to the arrays."""
        arrays = dict(self._seen)
        for number, data in written:
            array, (shape, order) = arrays[number], self._layouts[number]
            if array.shape != shape:
                raise ValueError(f"argument {number + 1} was resized from {shape} to {array.shape} during the launch")
            if array.size:
                np.ndarray.__setitem__(array, ..., np.frombuffer(data, array.dtype).reshape(shape, order=order))


def _is_same(a: np.ndarray, b: np.ndarray) -> bool:
    return (
        a.__array_interface__["data"] == b.__array_interface__["data"]
        and a.nbytes == b.nbytes
        and a.strides == b.strides
        and a.shape == b.shape
    )
