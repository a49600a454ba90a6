"""What launches and sweeps cost from Python: the figures of the chapter. The argument is the command `raddle`."""

import statistics
import subprocess
import sys
import tempfile
import time

import numpy as np
from conftest import TWICE

import raddle


def launches() -> None:
    gpu = raddle.Machine("gtx480").device(engine="fast")
    kernel = gpu.compile(TWICE).twice[1, 32]
    for name, array in [("in host memory", np.zeros(32, np.uint32)), ("on the device", gpu.zeros(32, np.uint32))]:
        times = []
        for _ in range(5000):
            start = time.perf_counter()
            kernel(array, 32)
            times.append(time.perf_counter() - start)
        print(f"launch of 32 threads under `fast`, array {name}: {1e6 * statistics.median(times):.1f} us")


def mechanism() -> None:
    class Oldest:
        name = "my-oldest"

        def pick(self, view, among):
            return min(among, key=view.age)

    for name, issue in [("oldest, in Rust", "oldest"), ("oldest, in Python", Oldest)]:
        run = raddle.Machine("gtx480", issue=issue).run("bfs", size="tiny", profile=False)
        print(f"{name}: {run.cycles / run.seconds / 1000:.0f} thousand cycles per second")


def profiles() -> None:
    for name, options in [("plain", {"profile": False}), ("with a profile", {"profile": True})]:
        best = min(raddle.Machine("gtx480").run("matmul", size="small", **options).seconds for _ in range(3))
        print(f"matmul small, {name}: {best:.2f} s")


def sweep(program: str) -> None:
    registers = list(range(32768, 33018))
    axes = {"issue": ["lrr", "gto"], "sm.l1d.ways": [2, 4], "sm.registers": registers}
    text = "\n".join(
        ['title = "sweep"', 'workloads = ["reduction"]', 'size = "tiny"', 'preset = "gtx480"']
        + [f'[[axis]]\nname = "{name}"\nkey = "{KEYS.get(name, name)}"\nvalues = {list(of)}' for name, of in axes.items()]
    )
    with tempfile.TemporaryDirectory() as folder:
        with open(f"{folder}/sweep.toml", "w", encoding="utf-8") as file:
            file.write(text.replace("'", '"') + "\n")
        for n in range(3):
            start = time.perf_counter()
            words = [program, "lab", "run", f"{folder}/sweep.toml", "--store", f"{folder}/command-{n}"]
            subprocess.run(words, check=True, capture_output=True)
            command = time.perf_counter() - start
            start = time.perf_counter()
            results = raddle.sweep(["reduction"], axes, size="tiny", store=f"{folder}/python-{n}", progress=False)
            python = time.perf_counter() - start
            print(f"{len(results)} points: {command:.1f} s by the command line, {python:.1f} s from Python")


KEYS = {"issue": "mechanism.issue"}

if __name__ == "__main__":
    launches()
    mechanism()
    profiles()
    sweep(sys.argv[1])
