"""Sweeps: grids of workloads and machines."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from raddle import _raddle
from raddle.machine import SEAMS, Class, choices, value_text
from raddle.run import Picture
from raddle.workloads import Workload

if TYPE_CHECKING:
    import matplotlib.axes
    import pandas
    import polars

#: Axes that are not parameters of a machine.
_OTHER_AXES = ("preset", "machine", "size", "virtualize")

#: What repetitions change.
_VARY = ("seed", "dispatch", "heap")


def _text(value: str) -> str:
    """A text in TOML; JSON writes those alike."""
    return json.dumps(value)


def _label(value: Any) -> str:
    if isinstance(value, Mapping):
        rest = ", ".join(f"{name} {value_text(of)}" for name, of in value.items() if name != "name")
        return f"{value.get('name')}, {rest}" if rest else str(value.get("name"))
    if isinstance(value, type):
        return getattr(value, "name", None) or value.__name__.lower()
    return value_text(value)


def _axis(name: str, values: Sequence[Any]) -> tuple[str, list[Class]]:
    """An axis in TOML, and the classes among its values."""
    lines = ["[[axis]]", f"name = {_text(name)}"]
    classes: list[Class] = []
    for value in values:
        lines += ["[[axis.variant]]", f"label = {_text(_label(value))}"]
        if name in _OTHER_AXES:
            lines.append(f"{name} = {_text(_label(value))}")
            continue
        seam = name.removeprefix("mechanism.")
        if seam in SEAMS:
            changes, own = choices(seam, value)
            classes += own
        else:
            changes = [f"{name}={value_text(value)}"]
        lines.append(f"set = [{', '.join(map(_text, changes))}]")
    return "\n".join(lines), classes


def _workload(value: Any) -> str:
    return value.name if isinstance(value, Workload) else os.fspath(value)


def _figure(metric: str, bars: str) -> str:
    against = "speedup" if metric == "cycles" else "ratio"
    return f'[[figure]]\nname = {_text(metric)}\ntitle = {_text(metric)}\nmetric = {_text(metric)}\nagainst = "{against}"\nbars = {_text(bars)}'


def sweep(
    workloads: Sequence[Any],
    axes: Mapping[str, Sequence[Any]],
    *,
    machine: str = "gtx480",
    size: str = "small",
    set: Mapping[str, Any] | None = None,
    repeats: int = 1,
    figures: Sequence[str] = ("cycles",),
    store: str | os.PathLike[str] | None = None,
    jobs: int | None = None,
    progress: bool | Callable[[int, int, int], None] | None = None,
) -> Results:
    """Runs every workload on every combination of one value from each axis.

    A key of `axes` is the name of a seam (`issue`, `divergence`, ...), the path of a parameter (`sm.l1d.ways`), or
    `preset`, `size` or `virtualize`. Values of seams may be classes. `machine` is a preset or a machine file. With
    `store`, results are kept there, and what has a result is not run again. `jobs` is the number of threads, by
    default one for each core. `progress` is a function of points, ended and failed ones; True shows a bar.

    >>> results = sweep(["bfs", "spmv"], {"issue": ["lrr", "gto"]}, size="tiny", progress=False)
    >>> len(results)
    4
    """
    if not workloads or not axes or not all(axes.values()):
        raise ValueError("a sweep needs at least one workload, one axis, and one value for each axis")
    parts, classes = [], []
    for name, values in axes.items():
        text, own = _axis(name, values)
        parts.append(text)
        classes += own
    first = next(iter(axes))
    baseline = ", ".join(f"{_text(name)} = {_text(_label(values[0]))}" for name, values in axes.items())
    is_file = os.path.splitext(machine)[1] or os.path.dirname(machine)
    head = [
        'title = "sweep"',
        f"workloads = [{', '.join(_text(_workload(one)) for one in workloads)}]",
        f"size = {_text(size)}",
        f"{'machine' if is_file else 'preset'} = {_text(machine)}",
        f"set = [{', '.join(_text(f'{key}={value_text(value)}') for key, value in (set or {}).items())}]",
        f"baseline = {{ {baseline} }}",
    ]
    if repeats > 1:
        parts.insert(0, f"[repeats]\ncount = {repeats}\nvary = [{', '.join(map(_text, _VARY))}]")
    parts += [_figure(metric, first) for metric in figures]
    unique = list({(seam, name): (seam, name, cls, origin) for seam, name, cls, origin in classes}.values())
    native = _raddle.Sweep("\n".join([*head, *parts]) + "\n", os.curdir, unique, store)
    results = Results(native, first)
    tell, close = _teller(progress)
    try:
        native.run(jobs or os.cpu_count() or 1, tell)
    finally:
        close()
    return results


def _teller(progress: bool | Callable[[int, int, int], None] | None) -> tuple[Any, Callable[[], None]]:
    """Who is told of progress, and what to do in the end."""
    if callable(progress):
        return progress, lambda: None
    if progress is None:
        progress = sys.stderr.isatty() or "ipykernel" in sys.modules
    if not progress:
        return None, lambda: None
    try:
        from tqdm.auto import tqdm
    except ImportError:
        return None, lambda: None
    bar = tqdm(unit="point")

    def tell(every: int, ended: int, failed: int) -> None:
        bar.total = every
        if failed:
            bar.set_postfix(failed=failed)
        bar.update(ended - bar.n)

    return tell, bar.close


class Results:
    """The results of a sweep: a row for each point."""

    def __init__(self, native: _raddle.Sweep, first: str) -> None:
        self._native = native
        self._first = first
        self._rows: list[dict[str, Any]] | None = None

    @property
    def rows(self) -> list[dict[str, Any]]:
        """Workload, size, values of the axes, repetition, state and the counters of all kernels together."""
        if self._rows is None:
            names, self._rows = self._native.axes, []
            for workload, size, labels, repeat, key, failure, counters in self._native.rows():
                state = "done" if counters else "missing"
                if failure:
                    state = "refused" if failure[0] else "failed"
                row = {"workload": workload, "size": size, **dict(zip(names, labels)), "repeat": repeat}
                row.update(state=state, error=failure[1] if failure else None, key=key, **counters)
                self._rows.append(row)
        return self._rows

    @property
    def left_out(self) -> list[str]:
        """Combinations that make no sense, with the reason."""
        return self._native.left_out

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return iter(self.rows)

    def metric(self, name: str) -> list[float | None]:
        """A metric of each point, such as `thread-ipc`, `l1d-hit-rate` or `stall-share.barrier`."""
        return self._native.metric(name)

    def to_pandas(self, *metrics: str) -> pandas.DataFrame:
        """A row for each point. Metrics are columns; without any, all counters are."""
        import pandas

        return pandas.DataFrame(self._table(metrics))

    def to_polars(self, *metrics: str) -> polars.DataFrame:
        """The same as a frame of polars."""
        import polars

        return polars.DataFrame(self._table(metrics), infer_schema_length=None)

    def _table(self, metrics: Sequence[str]) -> list[dict[str, Any]]:
        """A row for each point, with columns for these metrics or for all counters."""
        if not metrics:
            return self.rows
        names = ["workload", "size", *self._native.axes, "repeat", "state"]
        columns = {name: self.metric(name) for name in metrics}
        return [
            {name: row[name] for name in names} | {name: of[n] for name, of in columns.items()}
            for n, row in enumerate(self.rows)
        ]

    def figures(self) -> dict[str, Picture]:
        """The figures, drawn as reports have them."""
        return {name: Picture(svg) for name, svg in self._native.figures()}

    def plot(self, metric: str = "thread-ipc", ax: matplotlib.axes.Axes | None = None) -> matplotlib.axes.Axes:
        """A metric as bars with matplotlib: a group for each workload, a bar for each value of the first axis.

        Where there are more axes or repetitions, a bar is their mean.
        """
        frame = self.to_pandas(metric)
        order = list(dict.fromkeys(frame["workload"]))
        table = frame.pivot_table(index="workload", columns=self._first, values=metric, sort=False).reindex(order)
        ax = table.plot.bar(ax=ax)
        ax.set_ylabel(metric)
        ax.set_xlabel("")
        return ax

    def __repr__(self) -> str:
        states: dict[str, int] = {}
        for row in self.rows:
            states[row["state"]] = states.get(row["state"], 0) + 1
        return f"<raddle.Results: {', '.join(f'{count} {state}' for state, count in states.items())}>"
