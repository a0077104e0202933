"""How many cores are at work, seen from the kernel's counters."""
import os
import time
from pathlib import Path

IDLE, IOWAIT, STEAL = 3, 4, 7  # columns of a line of /proc/stat


def counters(text, cores):
    """(at work, all) ticks of each of the cores, from the text of /proc/stat. What a host takes away from a guest is work of others."""
    found = {}
    for line in text.splitlines():
        name, *ticks = line.split()
        if name.startswith("cpu") and name[3:].isdigit() and int(name[3:]) in cores:
            ticks = [int(tick) for tick in ticks[:STEAL + 1]]
            found[name] = (sum(ticks) - ticks[IDLE] - ticks[IOWAIT], sum(ticks))
    return found


def busy_between(before, after):
    """Cores' worth of work between two readings."""
    busy = 0.0
    for name, (work, total) in after.items():
        first_work, first_total = before.get(name, (0, 0))
        if total > first_total:
            busy += (work - first_work) / (total - first_total)
    return busy


def busy_cores(seconds=1.0, sleep=time.sleep):
    """Cores' worth of work of all programs on the cores of this process, over so many seconds."""
    cores, stat = os.sched_getaffinity(0), Path("/proc/stat")
    before = counters(stat.read_text(encoding="ascii"), cores)
    sleep(seconds)
    return busy_between(before, counters(stat.read_text(encoding="ascii"), cores))
