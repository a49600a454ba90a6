"""Machines: what is simulated."""

from __future__ import annotations

import hashlib
import inspect
import json
import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Union

from raddle import _raddle

if TYPE_CHECKING:
    from raddle.device import Device
    from raddle.run import Run
    from raddle.workloads import Workload

#: A mechanism: its name, its name and parameters, or a class.
Mechanism = Union[str, Mapping[str, Any], type]

#: The places of a machine that have a mechanism.
SEAMS = ("divergence", "issue", "fetch", "dispatch", "ganging", "gating", "logical_blocks")

#: A class for the native module: seam, name, class, and what tells its versions apart.
Class = tuple[str, str, type, str]


def class_of(seam: str, cls: type) -> Class:
    """A class as a mechanism. Its source tells its versions apart, so that a store keeps their results apart."""
    name = getattr(cls, "name", None) or cls.__name__.lower()
    try:
        text = inspect.getsource(cls)
    except (OSError, TypeError):
        # Without a source nothing is known of it: no other process has the same results.
        text = f"{os.getpid()} {id(cls)}"
    digest = hashlib.sha256(text.encode()).hexdigest()[:16]
    return (seam, name, cls, f"python {name} {digest}")


def value_text(value: Any) -> str:
    """A value as a machine file has it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(value_text(one) for one in value) + "]"
    return str(value)


def choices(seam: str, mechanism: Mechanism) -> tuple[list[str], list[Class]]:
    """The changes that give a machine a mechanism, and the class, if it is one."""
    key = f"mechanism.{seam}"
    if isinstance(mechanism, str):
        return [f"{key}={mechanism}"], []
    if isinstance(mechanism, type):
        cls = class_of(seam, mechanism)
        return [f"{key}={cls[1]}"], [cls]
    if isinstance(mechanism, Mapping):
        if "name" not in mechanism:
            raise TypeError(f'{seam}: a mechanism with parameters needs a name, as in {{"name": "two-level", "active": 4}}')
        rest = [f"{key}.{name}={value_text(value)}" for name, value in mechanism.items() if name != "name"]
        return [f"{key}={mechanism['name']}", *rest], []
    raise TypeError(f"{seam}: a mechanism is a name, a dict with a name and parameters, or a class, not {mechanism!r}")


class Machine:
    """A GPU that can be simulated: a preset or a machine file, with changes.

    >>> Machine("gtx480", issue="gto", set={"gpu.sms": 4})["gpu.sms"]
    4
    """

    def __init__(
        self,
        base: str | os.PathLike[str] = "gtx480",
        *,
        divergence: Mechanism | None = None,
        issue: Mechanism | None = None,
        fetch: Mechanism | None = None,
        dispatch: Mechanism | None = None,
        ganging: Mechanism | None = None,
        gating: Mechanism | None = None,
        logical_blocks: Mechanism | None = None,
        set: Mapping[str, Any] | Sequence[str] = (),
    ) -> None:
        chosen = (divergence, issue, fetch, dispatch, ganging, gating, logical_blocks)
        changes = [set] if isinstance(set, str) else list(set) if not isinstance(set, Mapping) else []
        if isinstance(set, Mapping):
            changes = [f"{key}={value_text(value)}" for key, value in set.items()]
        classes: list[Class] = []
        for seam, mechanism in zip(SEAMS, chosen):
            if mechanism is not None:
                texts, own = choices(seam, mechanism)
                changes += texts
                classes += own
        self._base = os.fspath(base)
        self._native = _raddle.Machine(self._base, changes, classes)
        self._config: dict[str, Any] = json.loads(self._native.json())

    @property
    def config(self) -> dict[str, Any]:
        """Every parameter, in nested dictionaries."""
        return self._config

    def __getitem__(self, path: str) -> Any:
        value: Any = self._config
        for part in path.split("."):
            if not isinstance(value, dict) or part not in value:
                raise KeyError(f"a machine has no parameter {path!r}")
            value = value[part]
        return value

    def toml(self) -> str:
        """The machine as a file that `Machine` and the command line read."""
        return self._native.toml()

    def device(
        self,
        *,
        engine: str = "timing",
        threads: int = 1,
        profile: bool = True,
        check: bool = False,
        lanes: int = 60,
    ) -> Device:
        """A device with this machine.

        `engine` is `timing`, or, without time, `fast` or `reference`. `profile` charges time to source lines. `check`
        runs every launch on the reference interpreter too, for `Device.check`. `lanes` is how many instructions of an SM
        each launch records for `Run.lanes`; 0 records none. Results do not depend on `threads`.
        """
        from raddle.device import Device

        return Device(self, engine=engine, threads=threads, profile=profile, check=check, lanes=lanes)

    def run(
        self,
        what: str | os.PathLike[str] | Workload,
        *,
        size: str = "small",
        seed: int = 1,
        engine: str = "timing",
        threads: int = 1,
        profile: bool = True,
    ) -> Run:
        """Runs a workload, by name, or a launch file, and compares the results with the right ones."""
        from raddle.run import Run
        from raddle.workloads import Workload

        name = what.name if isinstance(what, Workload) else os.fspath(what)
        if name.endswith(".toml"):
            return Run(_raddle.run_launch_file(self._native, name, engine, threads, profile))
        return Run(_raddle.run_workload(self._native, name, size, seed, engine, threads, profile))

    def __repr__(self) -> str:
        mechanisms = self._config.get("mechanism", {})
        issue, divergence = mechanisms.get("issue"), mechanisms.get("divergence")
        return f"<raddle.Machine {self._base}: {self['gpu.sms']} SMs, issue {issue}, divergence {divergence}>"
