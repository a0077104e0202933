"""The aims of "Must be shown" and whether the stored results meet them. Reads files, runs nothing."""
import re
import statistics
from dataclasses import dataclass

from .arithmetic import NAMES, figure, read_rows, read_runs, same_mpi, size_text, summary_of
from .runs import SKIPPED

RANKS = (2, 4)
KERNEL_AIMS = {"encode": 1.0, "decode+sum": 1.5, "encode+residual": 0.7}
WITHIN_LIMIT = 1.10


@dataclass(frozen=True)
class Verdict:
    """met: None if it was not measured."""

    what: str
    aim: str
    measured: str
    met: bool | None


def reason(folder):
    path = folder / SKIPPED
    return f"not measured: {' '.join(path.read_text(encoding='utf-8').split())}" if path.exists() else "not measured"


def host_verdict(runs, family, mean_aim):
    what = f"exact, one host, 2 and 4 ranks, 4 B - 64 MiB, float, against {NAMES[family]}"
    aim = f"geometric mean >= {mean_aim:.1f}, no size under 0.95"
    points = {ranks: same_mpi(runs, family, ranks) for ranks in RANKS}
    if not all(points.values()):
        return Verdict(what, aim, "not measured", None)
    parts = []
    for ranks in RANKS:
        one = summary_of(points[ranks])
        parts.append(f"{ranks} ranks: mean {one.geometric_mean:.2f}, worst {one.worst.ratio:.2f} at {size_text(one.worst.size)}, "
                     f"{len(one.losses)} of {len(points[ranks])} under 0.95")
    both = summary_of([point for ranks in RANKS for point in points[ranks]])
    return Verdict(what, aim, f"mean {both.geometric_mean:.2f} ({'; '.join(parts)})", both.geometric_mean >= mean_aim and not both.losses)


def lab_rows(folder, codec):
    return [row for row in read_rows(folder / "lab.csv") if row["codec"] == codec and row["path"] != "mpi"]


def worst(rows, column, pick=min):
    """The value that decides, and where it was; None if no row has it (0 stands for not measured)."""
    rows = [row for row in rows if figure(row, column) > 0]
    if not rows:
        return None
    row = pick(rows, key=lambda one: figure(one, column))
    return figure(row, column), f"{figure(row, column):.2f} ({row['preset']}, {row['mpi']}, {size_text(int(row['size_bytes']))})"


def lab_exact_verdicts(folder):
    what = "exact, lab, 2 hosts x 1 rank and 2+3 hosts lopsided, 1-64 MiB"
    rows = lab_rows(folder, "exact")
    aims = [("against Open MPI", "to_openmpi", ">= 1.5", min, lambda value: value >= 1.5, "openmpi"),
            ("against MPICH", "to_mpich", ">= 1.0", min, lambda value: value >= 1.0, "mpich"),
            ("against the wire's limit", "over_limit", f"time <= {WITHIN_LIMIT:.2f} x", max, lambda value: value <= WITHIN_LIMIT, None)]
    for name, column, aim, pick, good, family in aims:
        found = worst([row for row in rows if family in (None, row["mpi"])], column, pick)
        yield Verdict(f"{what}: {name}", aim, f"worst {found[1]}" if found else reason(folder), good(found[0]) if found else None)


def lab_codec_verdict(folder, codec, what, aim):
    rows = lab_rows(folder, codec)
    found = worst(rows, "to_exact")
    measured = reason(folder)
    if found:
        middle = statistics.median(figure(row, "to_exact") for row in rows if figure(row, "to_exact") > 0)
        measured = f"worst {found[1]}, median {middle:.2f}"
    return Verdict(what, f">= {aim:.2f}x", measured, found[0] >= aim if found else None)


def kernel_rows(folder):
    """[{codec, isa, column: ratio to memcpy}] of the table that gc_bench kernels printed, with the widest instruction set of each codec."""
    path = folder / "kernels.md"
    lines = [line for line in path.read_text(encoding="utf-8").splitlines() if line.startswith("|")] if path.exists() else []
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    best = {}
    for values in cells[2:]:
        row = dict(zip(cells[0], values))
        ratios = {name: float(found[1]) for name in row if (found := re.search(r"\(([\d.]+)x\)", row[name]))}
        best[row["codec"]] = {"codec": row["codec"], "isa": row["isa"], **ratios}  # later lines are wider
    return list(best.values())


def kernel_verdicts(folder):
    rows = [row for row in kernel_rows(folder) if row["codec"] != "exact"]
    for column, aim in KERNEL_AIMS.items():
        what = f"codec kernels against memcpy, 64 MiB, fp32, one core: {column}"
        there = [row for row in rows if column in row]
        if not there:
            yield Verdict(what, f">= {aim:.1f}x", reason(folder), None)
            continue
        least = min(there, key=lambda row: row[column])
        good = sum(row[column] >= aim for row in there)
        yield Verdict(what, f">= {aim:.1f}x", f"worst {least[column]:.2f} ({least['codec']}), {good} of {len(there)} codecs", good == len(there))


def warm_verdict(folder):
    """From what GoogleTest said on every rank."""
    what, aim = "warm call", "0 allocations, 0 locks, system calls only where it sleeps or sends"
    texts = [path.read_text(encoding="utf-8") for path in sorted(folder.glob("api.*.txt"))]
    passed, failed = (sum(int(number) for text in texts for number in re.findall(rf"\[  {word}  \] (\d+) test", text))
                      for word in ("PASSED", "FAILED"))
    if passed + failed == 0:
        return Verdict(what, aim, reason(folder), None)
    return Verdict(what, aim, f"{passed} of {passed + failed} tests that count pass, over all ranks", failed == 0)


def model_verdict(folder):
    """scripts/measure model-error says 'within 20 %: 18 of 44 (41 %)'."""
    path = folder / "model.txt"
    said = re.search(r"within 20 %: (\d+ of \d+) \((\d+) %\)", path.read_text(encoding="utf-8")) if path.exists() else None
    return Verdict("predicted against measured time", "within 20 % for 90 % of the sweep", f"{said[2]} % ({said[1]})" if said else reason(folder),
                   int(said[2]) >= 90 if said else None)


def verdicts(folder):
    """folder: a pathlib.Path with a folder of results a part."""
    runs = read_runs(folder / "host")
    return [host_verdict(runs, "openmpi", 2.0), host_verdict(runs, "mpich", 1.5), *lab_exact_verdicts(folder / "lab"),
            lab_codec_verdict(folder / "lab", "2:4", "2:4 fp32 against our exact, same lab", 1.75),
            lab_codec_verdict(folder / "lab", "bf16", "bf16 cast against our exact, same lab", 1.9),
            *kernel_verdicts(folder / "kernels"), warm_verdict(folder / "warm"), model_verdict(folder / "model")]
