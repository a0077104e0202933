"""Ratios out of rows: rounds of one MPI, one MPI against another, and what a line of sizes says as a whole. Runs nothing."""
import csv
import math
import statistics
from dataclasses import dataclass
from pathlib import Path

LOSS_BELOW = 0.95
FAMILIES = ("openmpi", "mpich")
NAMES = {"openmpi": "Open MPI", "mpich": "MPICH"}


@dataclass(frozen=True)
class Point:
    """A ratio at one size, above 1 ours is faster; low and high bound what was seen."""

    size: int
    ratio: float
    low: float
    high: float


@dataclass(frozen=True)
class Summary:
    geometric_mean: float
    worst: Point
    losses: tuple


@dataclass(frozen=True)
class Run:
    """What one mpirun measured: a file FAMILY-RANKS-ROUND.csv."""

    family: str
    ranks: int
    round: int
    rows: tuple


def read_rows(path):
    """Rows of a CSV file; a last one that an interruption cut off is left out."""
    if not path.exists():
        return []
    text = path.read_text(encoding="utf-8")
    return list(csv.DictReader(text[: text.rfind("\n") + 1].splitlines()))


def read_runs(folder):
    """All runs of a part, in order of family, ranks and round; files of other names do not belong to it."""
    runs = []
    for path in sorted(Path(folder).glob("*.csv")):
        family, _, rest = path.stem.partition("-")
        ranks, _, number = rest.partition("-")
        rows = read_rows(path)
        if family in FAMILIES and ranks.isdigit() and number.isdigit() and rows:
            runs.append(Run(family, int(ranks), int(number), tuple(rows)))
    return runs


def figure(row, column):
    return float(row[column])


def by_size(run, codec):
    return {int(row["size_bytes"]): row for row in run.rows if row["codec"] == codec}


def same_mpi(runs, family, ranks, codec="exact"):
    """Ours against the allreduce of its own MPI: the median over the rounds, with the widest quartiles of any round."""
    rounds = [by_size(run, codec) for run in runs if (run.family, run.ranks) == (family, ranks)]
    points = []
    for size in sorted({size for rows in rounds for size in rows}):
        rows = [one[size] for one in rounds if size in one]
        points.append(Point(size, statistics.median(figure(row, "ratio") for row in rows),
                            min(figure(row, "ratio_q1") for row in rows), max(figure(row, "ratio_q3") for row in rows)))
    return points


def across(runs, ours, theirs, ranks, time_of_theirs="peer_avg_us", codec="exact"):
    """Ours over `ours` against the allreduce of the MPI `theirs`, from runs of the same round."""
    found = {(run.family, run.round): by_size(run, codec) for run in runs if run.ranks == ranks}
    ratios = {}
    for (family, number), rows in found.items():
        other = found.get((theirs, number), {})
        if family == ours:
            for size in rows.keys() & other.keys():
                ratios.setdefault(size, []).append(figure(other[size], time_of_theirs) / figure(rows[size], "avg_us"))
    return [Point(size, statistics.median(values), min(values), max(values)) for size, values in sorted(ratios.items())]


def against_exact(runs, family, ranks, codec):
    """The time of our exact sum over that with a codec, in the same mpirun."""
    ratios = {}
    for run in runs:
        if (run.family, run.ranks) == (family, ranks):
            exact, coded = by_size(run, "exact"), by_size(run, codec)
            for size in exact.keys() & coded.keys():
                ratios.setdefault(size, []).append(figure(exact[size], "avg_us") / figure(coded[size], "avg_us"))
    return [Point(size, statistics.median(values), min(values), max(values)) for size, values in sorted(ratios.items())]


def summary_of(points):
    """points: at least one."""
    mean = math.exp(sum(math.log(point.ratio) for point in points) / len(points))
    return Summary(mean, min(points, key=lambda point: point.ratio), tuple(point for point in points if point.ratio < LOSS_BELOW))


def size_text(size):
    for suffix, unit in ((" GiB", 1 << 30), (" MiB", 1 << 20), (" KiB", 1 << 10)):
        if size >= unit:
            return f"{size / unit:g}{suffix}"
    return f"{size:g} B"
