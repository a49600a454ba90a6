"""Compares a timeline with the counters of its run.

python check.py TRACE STATS.csv SM,SM... [COPIES]: the slices of these SMs, and the numbers of the whole machine, are what
the table of counters says; as many copies were made.
"""

import csv
import sys

import timeline


def same(what, found, wanted):
    assert found == wanted, f"{what}: the timeline has {found}, the run counted {wanted}"


def area(values):
    """Each value holds up to the next."""
    return sum(value * (after - at) for (at, value), (after, _) in zip(values, values[1:]))


def main(path, stats, sms, copies="0"):
    seen = timeline.read(path)
    sms = [int(sm) for sm in sms.split(",")]
    with open(stats, newline="") as file:
        rows = list(csv.DictReader(file))

    def total(kind, counter, number=None):
        own = (row for row in rows if row["kind"] == kind and row["counter"] == counter)
        return sum(int(row["value"]) for row in own if number is None or int(row["number"]) == number)

    counters = sorted({row["counter"] for row in rows if row["kind"] == "sm"})
    for sm in sms:
        own = [part for part in seen.slices if part.track.startswith(f"SM {sm}/")]

        def cycles(name):
            return sum(part.end - part.start for part in own if part.kind == "slots" and part.name == name)

        issued = [counter for counter in counters if counter.startswith("issued_")]
        same(f"SM {sm}: issued", cycles("issued"), sum(total("sm", counter, sm) for counter in issued))
        for counter in counters:
            if counter.startswith("stall_"):
                same(f"SM {sm}: {counter}", cycles(counter.removeprefix("stall_")), total("sm", counter, sm))
        issues = sum(part.kind == "issues" for part in own)
        same(f"SM {sm}: instructions", issues, total("sm", "warp_insts", sm))
        blocks = sum(part.kind == "blocks" for part in own)
        same(f"SM {sm}: blocks", blocks, total("sm", "ctas", sm))
    launches = [part for part in seen.slices if part.kind == "launches"]
    same("cycles", sum(part.end - part.start for part in launches), total("launch", "cycles"))
    same("instructions", sum(part.notes["warp_insts"] for part in launches), total("sm", "warp_insts"))
    counted = area(seen.counters["all SMs and memory/warp IPC"])
    same("instructions by counter", round(counted), total("sm", "warp_insts"))
    partitions = [values for track, values in seen.counters.items() if track.endswith("/L2 accesses")]
    same("L2 accesses", round(sum(map(area, partitions))), total("l2", "accesses"))
    same("copies", sum(part.kind == "copies" for part in seen.instants), int(copies))
    print(f"{path}: {len(seen.slices)} slices on {len(seen.tracks)} tracks are what the run counted")


if __name__ == "__main__":
    main(*sys.argv[1:])
