"""The native module; `raddle` is what users import."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any, final

import numpy as np

__all__ = [
    "CompileError",
    "Device",
    "DispatchView",
    "Error",
    "FetchView",
    "KernelError",
    "Machine",
    "Module",
    "Run",
    "SchedulerView",
    "Sweep",
    "command_line",
    "counter_names",
    "export_store",
    "mechanisms",
    "presets",
    "run_launch_file",
    "run_workload",
    "store_records",
    "version",
    "workload",
    "workload_names",
]

_Class = tuple[str, str, type, str]

class Error(Exception):
    """Something that Raddle cannot do as it was asked; the text says why."""

class CompileError(Error):
    """A CUDA file does not compile, or a PTX file has errors."""

class KernelError(Error):
    """A kernel did not complete."""

    kind: str

@final
class Machine:
    def __new__(cls, base: str, set: list[str], classes: list[_Class]) -> Machine: ...
    def json(self) -> str: ...
    def toml(self) -> str: ...

@final
class Device:
    def __new__(
        cls, machine: Machine, engine: str, threads: int, profile: bool, check: bool, columns: int
    ) -> Device: ...
    @property
    def machine(self) -> Machine: ...
    def load(self, name: str, ptx: str | None, cuda: str | None, folder: str | None = None) -> Module: ...
    def alloc(self, name: str, bytes: int) -> int: ...
    def free(self, address: int) -> bool: ...
    def write(self, address: int, bytes: np.ndarray) -> None: ...
    def read(self, address: int, into: np.ndarray) -> None: ...
    def compare(self) -> tuple[int, int, tuple[str, int] | None] | None: ...
    def broken(self) -> str | None: ...

@final
class Module:
    @property
    def device(self) -> Device: ...
    @property
    def ptx(self) -> str: ...
    def kernels(self) -> list[tuple[str, str, list[tuple[str, str]]]]: ...
    def variable(self, name: str) -> tuple[bool, int, int]: ...
    def write_constant(self, at: int, bytes: bytes) -> None: ...
    def read_constant(self, at: int, size: int) -> bytes: ...
    def launch(
        self,
        kernel: str,
        grid: tuple[int, int, int],
        block: tuple[int, int, int],
        shared: int,
        args: list[Any],
    ) -> tuple[Run | BaseException, list[tuple[int, bytes]]]: ...

@final
class Run:
    @property
    def cycles(self) -> int: ...
    @property
    def insts(self) -> tuple[int, int]: ...
    @property
    def launches(self) -> int: ...
    @property
    def checked(self) -> int: ...
    @property
    def machine(self) -> tuple[int, int] | None: ...
    @property
    def output(self) -> str: ...
    @property
    def seconds(self) -> float: ...
    def kernels(self) -> list[tuple[str, int, int, dict[str, int]]]: ...
    def counters(self) -> dict[str, int]: ...
    def slots(self) -> list[tuple[str, int]]: ...
    def summary(self) -> str: ...
    def json(self) -> str: ...
    def profile(self) -> str | None: ...
    def profile_text(self, top: int) -> str | None: ...
    def lanes(self) -> str | None: ...

@final
class SchedulerView:
    """What an issue scheduler sees. It is written anew for every decision."""

    @property
    def now(self) -> int:
        """The cycle."""
    @property
    def warps(self) -> list[int]:
        """The warps of this scheduler that are in use."""
    def age(self, warp: int) -> int:
        """When a warp came to the SM: a number that grows with every warp."""
    def issued(self, warp: int) -> int:
        """Instructions a warp has issued."""
    def progress(self, warp: int) -> int:
        """Instructions a warp has issued in its block."""
    def pc(self, warp: int) -> int:
        """The number of the instruction a warp is at."""
    def mask(self, warp: int) -> int:
        """The active lanes of a warp, as bits."""
    def lanes(self, warp: int) -> int:
        """How many lanes of a warp are active."""
    def block(self, warp: int) -> int:
        """The number of the block a warp belongs to."""

@final
class FetchView:
    """What a fetch scheduler sees."""

    @property
    def now(self) -> int:
        """The cycle."""
    @property
    def slots(self) -> int:
        """Slots for warps on the SM."""
    def entries(self, warp: int) -> int:
        """Decoded instructions that a warp has."""

@final
class DispatchView:
    """What a dispatcher sees."""

    @property
    def now(self) -> int:
        """The cycle."""
    @property
    def room(self) -> list[int]:
        """Blocks that each SM has room for."""
    @property
    def resident(self) -> list[int]:
        """Blocks on each SM."""
    @property
    def next(self) -> int:
        """The number of the next block."""
    @property
    def total(self) -> int:
        """Blocks of the grid."""

@final
class Sweep:
    def __new__(
        cls, text: str, folder: str, classes: list[_Class], store: str | os.PathLike[str] | None
    ) -> Sweep: ...
    def run(self, jobs: int, tell: Callable[[int, int, int], None] | None) -> tuple[int, int, int]: ...
    @property
    def axes(self) -> list[str]: ...
    @property
    def left_out(self) -> list[str]: ...
    def rows(
        self,
    ) -> list[tuple[str, str, list[str], int, str, tuple[bool, str] | None, dict[str, int]]]: ...
    def metric(self, name: str) -> list[float | None]: ...
    def figures(self) -> list[tuple[str, str]]: ...

def counter_names() -> list[str]: ...
def mechanisms() -> list[tuple[str, str, str]]:
    """Seam, name and summary of every mechanism that ships with Raddle."""

def presets() -> list[str]:
    """The names of the presets."""

def workload_names() -> list[str]: ...
def workload(name: str) -> tuple[str, str, list[str]]: ...
def run_workload(
    machine: Machine, name: str, size: str, seed: int, engine: str, threads: int, profile: bool
) -> Run: ...
def run_launch_file(machine: Machine, path: str, engine: str, threads: int, profile: bool) -> Run: ...
def store_records(folder: str) -> list[str]: ...
def export_store(folder: str, file: str) -> int: ...
def command_line(words: list[str]) -> int: ...
def version() -> str: ...
