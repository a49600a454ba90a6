"""The programs that ship with Raddle."""

from __future__ import annotations

from raddle import _raddle


class Workload:
    """A program modelled on a published benchmark: kernels, inputs, and the right results.

    `Machine.run` runs it with its own inputs; `Device.compile` loads its kernels for inputs of yours.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self.source, self.ptx, self.sizes = _raddle.workload(name)

    def __repr__(self) -> str:
        return f"<raddle.Workload {self.name}: {', '.join(self.sizes)}>"


def workload(name: str) -> Workload:
    """The workload of this name; `workloads` lists all."""
    return Workload(name)


def workloads() -> list[str]:
    """The names of all workloads."""
    return _raddle.workload_names()
