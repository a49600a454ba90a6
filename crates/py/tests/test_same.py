"""Twenty workloads from Python and from the command line: the same cycles and counters."""

import json
import os
import shutil
import subprocess

import pytest

import raddle

#: The program to compare with.
PROGRAM = os.environ.get("RADDLE") or shutil.which("raddle")

#: One workload in three, by name, and those that launch most often or have barriers, atomics and textures.
NAMES = sorted({*raddle.workloads()[::4], "bfs", "kmeans", "matmul", "reduction"})[:20]


def test_twenty_are_compared():
    assert len(NAMES) == 20


@pytest.mark.skipif(not PROGRAM, reason="there is no command raddle")
@pytest.mark.parametrize("name", NAMES)
def test_the_same_as_the_command_line(name):
    words = [PROGRAM, "run", name, "--size", "tiny", "--issue", "gto", "--json", "--threads", "1"]
    launches = json.loads(subprocess.run(words, check=True, capture_output=True, text=True).stdout)["launches"]
    run = raddle.Machine("gtx480", issue="gto").run(name, size="tiny")
    assert run.launches == len(launches)
    own = run.json()
    for ours, theirs in zip(own, launches):
        for launch in (ours, theirs):
            del launch["seconds"]
        assert ours == theirs
    assert run.cycles == sum(launch["timing"]["cycles"] for launch in launches)
