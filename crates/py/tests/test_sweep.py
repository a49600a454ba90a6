"""Sweeps and stores."""

import pytest

import raddle


class Fullest:
    """The scheduler of the book's chapter "Your scheduler against all others"."""

    def pick(self, view, among):
        return min(among, key=lambda warp: (-view.lanes(warp), view.age(warp)))


def test_a_grid_of_workloads_and_machines(tmp_path):
    axes = {"issue": ["lrr", "gto", Fullest, {"name": "two-level", "active": 4}], "sm.l1d.ways": [2, 4]}
    calls = []
    results = raddle.sweep(
        ["bfs", raddle.workload("spmv")], axes, size="tiny", store=tmp_path, jobs=2, progress=lambda *of: calls.append(of)
    )
    assert len(results) == 16 and all(row["state"] == "done" for row in results)
    assert [row["issue"] for row in results][::4] == ["lrr", "gto", "fullest", "two-level, active 4"]
    assert calls[-1] == (16, 16, 0)
    row = results.rows[0]
    machine = raddle.Machine("gtx480", issue="lrr", set={"sm.l1d.ways": 2})
    assert row["cycles"] == machine.run("bfs", size="tiny").cycles and row["sm.warp_insts"] > 0
    ipc = results.metric("thread-ipc")
    assert len(ipc) == 16 and min(ipc) > 0
    with pytest.raises(raddle.Error, match="metric"):
        results.metric("speed-of-light")
    assert results.figures()["cycles"].svg.startswith("<svg")
    again = raddle.sweep(["bfs"], axes, size="tiny", store=tmp_path, progress=False)
    assert len(again) == 8
    store = raddle.Store(tmp_path)
    assert len(store) == 16 and {record["identity"]["workload"] for record in store} == {"bfs", "spmv"}


def test_frames(tmp_path):
    pandas = pytest.importorskip("pandas")
    results = raddle.sweep(["bfs"], {"issue": ["lrr", "gto"]}, size="tiny", repeats=2, store=tmp_path, progress=False)
    frame = results.to_pandas("thread-ipc", "l1d-hit-rate")
    assert list(frame.columns) == ["workload", "size", "issue", "repeat", "state", "thread-ipc", "l1d-hit-rate"]
    assert len(frame) == 4 and len(results.to_pandas().columns) > 50
    exported = raddle.Store(tmp_path).to_pandas()
    assert isinstance(exported, pandas.DataFrame) and exported["cycles"].sum() == sum(row["cycles"] for row in results)
    run = raddle.Machine().run("bfs", size="tiny")
    polars = pytest.importorskip("polars")
    own, both = results.to_polars("thread-ipc", "l1d-hit-rate"), raddle.Store(tmp_path).to_polars()
    assert isinstance(own, polars.DataFrame) and own.columns == list(frame.columns)
    assert own["thread-ipc"].to_list() == list(frame["thread-ipc"]) and both["cycles"].sum() == exported["cycles"].sum()
    assert run.to_pandas()["cycles"].sum() == run.cycles
    assert run.counters.to_pandas()["cycles"] == run.cycles
    assert run.lines().to_pandas()["slots"].sum() > 0


def test_plots_are_axes_of_matplotlib():
    matplotlib = pytest.importorskip("matplotlib")
    pytest.importorskip("pandas")
    matplotlib.use("agg")
    results = raddle.sweep(["bfs", "spmv"], {"issue": ["lrr", "gto"]}, size="tiny", progress=False)
    ax = results.plot("thread-ipc")
    assert [label.get_text() for label in ax.get_xticklabels()] == ["bfs", "spmv"] and len(ax.patches) == 4


def test_what_cannot_be_run_is_a_row():
    results = raddle.sweep(["spmv"], {"sm.registers": [32768, 64]}, size="tiny", progress=False)
    assert [row["state"] for row in results] == ["done", "refused"] and "registers" in results.rows[1]["error"]


@pytest.mark.parametrize(
    "workloads, axes, error, text",
    [
        (["bfss"], {"issue": ["lrr"]}, raddle.Error, "did you mean `bfs`"),
        (["bfs"], {"issue": ["lrrr"]}, raddle.Error, "did you mean"),
        (["bfs"], {"sm.l1d.way": [3]}, raddle.Error, "way"),
        ([], {"issue": ["lrr"]}, ValueError, "at least one"),
        (["bfs"], {}, ValueError, "at least one"),
        (["bfs"], {"issue": []}, ValueError, "one value"),
        (["there/is/no.toml"], {"issue": ["lrr"]}, raddle.Error, "cannot read"),
    ],
)
def test_mistakes(workloads, axes, error, text):
    with pytest.raises(error, match=text):
        raddle.sweep(workloads, axes, size="tiny", progress=False)


def test_an_exception_in_progress_ends_the_sweep():
    def tell(*_):
        raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        raddle.sweep(["bfs", "spmv"], {"gpu.sms": [1, 2, 3, 4]}, size="tiny", progress=tell)


def test_a_folder_that_is_no_store(tmp_path):
    with pytest.raises(raddle.Error):
        raddle.Store(tmp_path / "nothing")
