"""What came out of launches."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from functools import cached_property
from typing import TYPE_CHECKING, Any

from raddle import _raddle
from raddle.show import run_as_html

if TYPE_CHECKING:
    import pandas


class Counters(Mapping[str, int]):
    """Counters by name, such as `sm.warp_insts`. What was not counted is 0."""

    def __init__(self, counted: dict[str, int]) -> None:
        self._counted = counted

    def __getitem__(self, name: str) -> int:
        value = self._counted.get(name)
        if value is not None:
            return value
        known = _raddle.counter_names()
        if name in known:
            return 0
        close = get_close_matches(name, known, 1)
        hint = f"; did you mean {close[0]!r}?" if close else ""
        raise KeyError(f"there is no counter {name!r}{hint}")

    def __iter__(self) -> Iterator[str]:
        return iter(self._counted)

    def __len__(self) -> int:
        return len(self._counted)

    def to_pandas(self) -> pandas.Series:
        """The counters as a series."""
        import pandas

        return pandas.Series(self._counted, name="counters", dtype="uint64")

    def __repr__(self) -> str:
        width = max(map(len, self._counted), default=0)
        return "\n".join(f"{name:<{width}}  {value:,}" for name, value in self._counted.items())


class Picture:
    """A picture in SVG, which a notebook shows."""

    def __init__(self, svg: str) -> None:
        self.svg = svg

    def save(self, path: str) -> None:
        """Writes it to a file, whose name ends in .svg."""
        with open(path, "w", encoding="utf-8") as file:
            file.write(self.svg)

    def _repr_svg_(self) -> str:
        return self.svg

    def __repr__(self) -> str:
        return f"<raddle.Picture, {len(self.svg)} bytes of SVG>"


class Lines:
    """A profile: what each source line took of a run, as `raddle profile` shows it."""

    def __init__(self, kernels: list[dict[str, Any]], text: str) -> None:
        self.kernels = kernels
        self._text = text

    def __iter__(self) -> Iterator[dict[str, Any]]:
        for kernel in self.kernels:
            for line in kernel["lines"]:
                yield {"kernel": kernel["name"], **line}

    def __len__(self) -> int:
        return sum(len(kernel["lines"]) for kernel in self.kernels)

    @property
    def advice(self) -> list[dict[str, Any]]:
        """What slows the kernels down, the most expensive first in each."""
        return [{"kernel": kernel["name"], **one} for kernel in self.kernels for one in kernel["advice"]]

    def to_pandas(self) -> pandas.DataFrame:
        """A row for each line, with every counter in a column of its own."""
        import pandas

        keys = ("kernel", "file", "line", "text", "slots", "share", "main_cause")
        return pandas.DataFrame([{**{key: line[key] for key in keys}, **line["counters"]} for line in self])

    def __repr__(self) -> str:
        return self._text


class Run:
    """One launch or several, with everything that was counted."""

    def __init__(self, native: _raddle.Run) -> None:
        self._native = native

    @property
    def cycles(self) -> int:
        """Cycles of all launches; 0 where nothing has a time."""
        return self._native.cycles

    @property
    def time(self) -> float:
        """Seconds that a GPU would take."""
        machine = self._native.machine
        return self.cycles / (machine[1] * 1e6) if machine else 0.0

    @property
    def seconds(self) -> float:
        """Seconds that the simulation took."""
        return self._native.seconds

    @property
    def launches(self) -> int:
        """How many launches it is."""
        return self._native.launches

    @property
    def checked(self) -> int:
        """How many outputs were compared with the right ones."""
        return self._native.checked

    @property
    def warp_insts(self) -> int:
        """Instructions, counted for each warp."""
        return self._native.insts[0]

    @property
    def thread_insts(self) -> int:
        """Instructions, counted for each thread."""
        return self._native.insts[1]

    @property
    def ipc(self) -> float:
        """Thread-instructions per cycle."""
        return self.thread_insts / self.cycles if self.cycles else 0.0

    @property
    def warp_ipc(self) -> float:
        """Warp-instructions per cycle."""
        return self.warp_insts / self.cycles if self.cycles else 0.0

    @property
    def simd_efficiency(self) -> float:
        """Active lanes per warp-instruction, of the lanes that a warp has."""
        machine = self._native.machine
        return self.thread_insts / (self.warp_insts * machine[0]) if machine and self.warp_insts else 0.0

    @cached_property
    def slots(self) -> dict[str, int]:
        """How the issue slots were used: slots with an instruction by lanes, and empty ones by reason."""
        return dict(self._native.slots())

    @property
    def stalls(self) -> dict[str, int]:
        """The empty issue slots, by reason."""
        return {name: slots for name, slots in self.slots.items() if not name.startswith("issued")}

    @cached_property
    def counters(self) -> Counters:
        """Every counter, of all kernels together."""
        return Counters(self._native.counters())

    @cached_property
    def kernels(self) -> dict[str, Counters]:
        """Cycles, launches and counters of each kernel."""
        kernels = self._native.kernels()
        return {
            name: Counters({"launches": launches, "cycles": cycles, **counters})
            for name, launches, cycles, counters in kernels
        }

    @property
    def output(self) -> str:
        """What the kernels printed."""
        return self._native.output

    def to_pandas(self) -> pandas.DataFrame:
        """A row for each kernel, with a column for each counter."""
        import pandas

        return pandas.DataFrame.from_dict({name: dict(of) for name, of in self.kernels.items()}, orient="index").fillna(0)

    def lines(self, top: int = 10) -> Lines:
        """The profile by source lines. Shown as text it has `top` lines of each kernel."""
        profile, text = self._native.profile(), self._native.profile_text(top)
        if profile is None or text is None:
            raise _raddle.Error("the run has no profile; make the device with engine='timing' and profile=True")
        return Lines(json.loads(profile)["kernels"], text)

    def lanes(self) -> Picture:
        """What the lanes of an SM did, the first that got threads: a column for each of its first instructions."""
        svg = self._native.lanes()
        if svg is None:
            raise _raddle.Error("the run has no record of lanes; Machine.device(lanes=60) makes one of each launch")
        return Picture(svg)

    def summary(self) -> str:
        """The summary that `raddle run` prints."""
        return self._native.summary()

    def json(self) -> list[dict[str, Any]]:
        """Everything about every launch, as `raddle run --json` has it."""
        launches: list[dict[str, Any]] = json.loads(self._native.json())
        return launches

    def __repr__(self) -> str:
        return self.summary()

    def _repr_html_(self) -> str:
        return run_as_html(self.summary(), self.slots, self._native.lanes())
