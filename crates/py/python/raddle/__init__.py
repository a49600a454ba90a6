"""Raddle: a cycle-level GPU simulator.

>>> import numpy as np, raddle
>>> gpu = raddle.Machine("gtx480").device()
>>> module = gpu.compile(raddle.workload("bfs"))
>>> sorted(module.kernels)
['expand', 'settle']

`Machine` says what is simulated, `Device` has memory and kernels, a launch gives a `Run`. `sweep` runs grids of
machines and workloads. The book has a chapter on it: "Raddle from Python".
"""

from raddle._raddle import CompileError, Error, KernelError, mechanisms, presets
from raddle._raddle import DispatchView, FetchView, SchedulerView
from raddle._raddle import version as _version
from raddle.device import Device, DeviceArray, Kernel, Module
from raddle.machine import Machine
from raddle.run import Counters, Lines, Picture, Run
from raddle.store import Store
from raddle.sweep import Results, sweep
from raddle.workloads import Workload, workload, workloads

__version__ = _version().split()[0]
__all__ = [
    "CompileError",
    "Counters",
    "Device",
    "DeviceArray",
    "DispatchView",
    "Error",
    "FetchView",
    "Kernel",
    "KernelError",
    "Lines",
    "Machine",
    "Module",
    "Picture",
    "Results",
    "Run",
    "SchedulerView",
    "Store",
    "Workload",
    "mechanisms",
    "presets",
    "sweep",
    "version",
    "workload",
    "workloads",
]


def version() -> str:
    """The version with what decides which cycles come out: the commit and the epoch of the timing model."""
    return _version()
