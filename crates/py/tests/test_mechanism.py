"""Mechanisms that are classes of Python."""

import gc
import re
import threading
import weakref
from pathlib import Path

import numpy as np
import pytest
from conftest import LOOP, TWICE

import raddle


class Gto:
    """Greedy then oldest, as `raddle_mech` has it."""

    name = "my-gto"

    def __init__(self):
        self.last = None

    def pick(self, view, among):
        return self.last if self.last in among else min(among, key=view.age)

    def issued(self, view, warp):
        self.last = warp


class Oldest:
    name = "my-oldest"

    def pick(self, view, among):
        return min(among, key=view.age)


class InTurn:
    """A dispatcher that gives blocks to the SM with the most room."""

    def dispatch(self, view):
        sm = max(range(len(view.room)), key=lambda n: (view.room[n], -n))
        return [sm] if view.room[sm] and view.next < view.total else []


class First:
    """A fetch scheduler: the lowest warp."""

    def pick(self, view, wanting):
        assert all(view.entries(warp) >= 0 for warp in wanting) and view.slots >= len(wanting)
        return wanting[0]


@pytest.mark.parametrize("workload", ["bfs", "reduction"])
@pytest.mark.parametrize("own, shipped", [(Gto, "gto"), (Oldest, "oldest")])
def test_the_same_scheduler_gives_the_same_cycles(workload, own, shipped):
    runs = [raddle.Machine("gtx480", issue=issue).run(workload, size="tiny") for issue in (own, shipped)]
    assert dict(runs[0].counters) == dict(runs[1].counters) and runs[0].checked > 0


def test_the_scheduler_of_the_guide_gives_the_cycles_that_it_has_in_rust():
    class Fullest:
        def pick(self, view, among):
            return min(among, key=lambda warp: (-view.lanes(warp), view.age(warp)))

    page = Path(__file__).parents[3] / "docs/src/guide/your-scheduler.md"
    shown = page.read_text(encoding="utf-8").split("$ raddle run scalar-prod --size tiny --issue fullest\n")[1]
    cycles = int(re.search(r"cycles +([\d,]+)", shown)[1].replace(",", ""))
    assert raddle.Machine("gtx480", issue=Fullest).run("scalar-prod", size="tiny").cycles == cycles


def test_threads_change_nothing():
    runs = [raddle.Machine("gtx480", issue=Gto).run("bfs", size="tiny", threads=n) for n in (1, 2)]
    assert dict(runs[0].counters) == dict(runs[1].counters)


@pytest.mark.parametrize("seam, cls", [("dispatch", InTurn), ("fetch", First)])
def test_other_seams(seam, cls):
    machine = raddle.Machine("gtx480", **{seam: cls})
    first, second = (machine.run("bfs", size="tiny") for _ in range(2))
    assert dict(first.counters) == dict(second.counters) and first.checked > 0


class Wrong:
    def pick(self, view, among):
        return max(among) + 1


class Raises:
    def pick(self, view, among):
        raise RuntimeError("not today")


class NoAnswer:
    def pick(self, view, among):
        return None


class NoPick:
    pass


class NotMade:
    def __init__(self):
        raise OSError("no room")


class AsksForWarps:
    def pick(self, view, among):
        return view.age(4000)


class Launches:
    device = None

    def pick(self, view, among):
        Launches.device.zeros(3)


class Quits:
    def pick(self, view, among):
        raise SystemExit(3)


@pytest.mark.parametrize(
    "cls, error, text",
    [
        (Wrong, ValueError, "which is not one of"),
        (Raises, RuntimeError, "not today"),
        (NoAnswer, TypeError, "NoneType"),
        (NoPick, AttributeError, "pick"),
        (AsksForWarps, IndexError, "no warp 4000"),
        (Launches, RuntimeError, "cannot launch or use a device"),
        (Quits, SystemExit, "3"),
    ],
)
@pytest.mark.parametrize("threads", [1, 2])
def test_exceptions_are_raised_by_the_launch(cls, error, text, threads):
    machine = raddle.Machine("gtx480", issue=cls)
    device = machine.device(threads=threads)
    Launches.device = device
    module = device.compile(TWICE)
    with pytest.raises(error, match=text):
        module.twice[30, 128](np.zeros(3840, np.uint32), 3840)
    with pytest.raises(error, match=text):
        machine.run("bfs", size="tiny")


def test_classes_that_cannot_be_used():
    with pytest.raises(OSError, match="no room"):
        raddle.Machine("gtx480", issue=NotMade)
    with pytest.raises(raddle.Error, match="takes no class"):
        raddle.Machine("gtx480", gating=Oldest)
    with pytest.raises(raddle.Error, match="already"):
        raddle.Machine("gtx480", issue=type("Mine", (Oldest,), {"name": "gto"}))
    with pytest.raises(TypeError, match="a name, a dict"):
        raddle.Machine("gtx480", issue=3)
    with pytest.raises(raddle.Error, match="did you mean `gto`"):
        raddle.Machine("gtx480", issue="gtoo")


def test_a_store_keeps_versions_of_a_class_apart(tmp_path):
    def version(order):
        return type("Mine", (), {"name": "mine", "pick": lambda self, view, among: order(among)})

    for order in (min, max):
        raddle.sweep(["bfs"], {"issue": ["lrr", version(order)]}, size="tiny", store=tmp_path, progress=False)
    assert len(raddle.Store(tmp_path)) == 3


def test_an_exception_belongs_to_its_launch():
    good, rounds = 3, 5

    class Some:
        def pick(self, view, among):
            if threading.current_thread().name == "bad":
                # All others are in the midst of theirs, and look at different times whether they should end.
                assert all(event.wait(60) for event in running.values())
                raise ValueError("of one launch")
            running[threading.current_thread().name].set()
            return among[0]

    machine = raddle.Machine("gtx480", issue=Some, set={"gpu.sms": 1})
    modules = [machine.device(threads=1).compile(LOOP) for _ in range(good + 1)]

    def launch(module):
        words, name = np.zeros(1, np.uint32), threading.current_thread().name
        try:
            module.loop[1, 32](words, 20_000)
            ends[name] = int(words[0])
        except Exception as error:
            ends[name] = f"{type(error).__name__}: {error}"

    for _ in range(rounds):
        ends: dict[str, object] = {}
        running = {f"good {n}": threading.Event() for n in range(good)}
        names = [*running, "bad"]
        threads = [threading.Thread(target=launch, args=(module,), name=name) for module, name in zip(modules, names)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(120)
        assert ends == {**{name: 20_000 for name in running}, "bad": "ValueError: of one launch"}
        # A launch that was interrupted breaks its device.
        modules[-1] = machine.device(threads=1).compile(LOOP)


def test_an_exception_is_not_of_the_next_launch():
    class Once:
        bad = True

        def pick(self, view, among):
            if Once.bad:
                Once.bad = False
                raise ValueError("of one launch")
            return among[0]

    machine = raddle.Machine("gtx480", issue=Once, set={"gpu.sms": 1})
    ends = []

    def run(_):
        try:
            ends.append(machine.run("bfs", size="tiny").checked > 0)
        except ValueError as error:
            ends.append(str(error))

    threads = [threading.Thread(target=run, args=(n,)) for n in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
    assert sorted(ends, key=str) == [True, True, "of one launch"]


@pytest.mark.parametrize("kept", ["machine", "device", "module", "sweep"])
def test_a_mechanism_that_refers_to_what_uses_it_is_collected(kept):
    class Cyclic:
        def pick(self, view, among):
            return among[0]

    machine = raddle.Machine("gtx480", issue=Cyclic, set={"gpu.sms": 1})
    if kept == "machine":
        Cyclic.own = machine
    elif kept == "device":
        Cyclic.own = machine.device()
    elif kept == "module":
        Cyclic.own = machine.device().compile(TWICE)
        Cyclic.own.twice[1, 32](np.zeros(32, np.uint32), 32)
    else:
        Cyclic.own = raddle.sweep(["bfs"], {"issue": ["lrr", Cyclic]}, size="tiny", progress=False)
    gone = weakref.ref(Cyclic)
    del machine, Cyclic
    for _ in range(3):
        gc.collect()
    assert gone() is None
