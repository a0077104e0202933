"""The rows behind the generated part of docs/benchmarks.md: CSV files in docs/benchmarks. Reads files, runs nothing."""
import csv

from .arithmetic import FAMILIES, across, against_exact, figure, read_rows, read_runs, same_mpi
from .verdict import RANKS

CODECS = ("bf16", "2:4")
# The column of the CSV file and that of the part's own rows.
LAB = {"lab": "preset", "mpi": "mpi", "codec": "codec", "bytes": "size_bytes", "way": "path", "ours_ms": "ours_ms", "ours_over_limit": "over_limit",
       "openmpi_over_ours": "to_openmpi", "mpich_over_ours": "to_mpich", "exact_over_ours": "to_exact"}
LEARNING = {"lab": "preset", "ranks_a_host": "ppn", "mpi": "mpi", "bytes": "size_bytes", "calls_2_to_50_ms": "auto_ms", "told_over_ours": "told_to_auto",
            "mpi_over_ours": "mpi_to_auto", "gloo_over_ours": "gloo_to_auto", "later_calls_ms": "then_auto_ms", "later_ours_over_told": "then_auto_to_told"}
PEERS = {"peer": "peer", "ranks": "ranks", "bytes": "size_bytes", "peer_over_ours": "ratio", "q1": "ratio_q1", "q3": "ratio_q3",
         "our_error": "rel_l2_err", "its_error": "peer_rel_l2_err"}
WORDS = ("preset", "ppn", "mpi", "codec", "size_bytes", "path", "peer", "ranks", "rel_l2_err", "peer_rel_l2_err")


def spread(*keys, points):
    return [[*keys, point.size, *(f"{value:.2f}" for value in (point.ratio, point.low, point.high))] for point in points]


def same_mpi_rows(folder):
    runs = read_runs(folder / "host")
    return [row for family in FAMILIES for ranks in RANKS for row in spread(family, ranks, points=same_mpi(runs, family, ranks))]


def other_mpi_rows(folder):
    runs = read_runs(folder / "host")
    return [row for ours, theirs in (FAMILIES, FAMILIES[::-1]) for ranks in RANKS
            for row in spread(ours, theirs, ranks, points=across(runs, ours, theirs, ranks))]


def codec_rows(folder):
    runs = read_runs(folder / "codecs")
    rows = []
    for codec, family, ranks in ((codec, family, ranks) for codec in CODECS for family in FAMILIES for ranks in RANKS):
        to_exact = {point.size: f"{point.ratio:.2f}" for point in against_exact(runs, family, ranks, codec)}
        rows += [[*row, to_exact.get(row[3], "")] for row in spread(codec, family, ranks, points=same_mpi(runs, family, ranks, codec))]
    return rows


def chosen(paths, columns):
    return [[row[name] if name in WORDS else f"{figure(row, name):.2f}" if figure(row, name) else "" for name in columns.values()]
            for path in paths for row in read_rows(path)]


FILES = {
    "scoreboard-same-mpi": (("mpi", "ranks", "bytes", "mpi_over_ours", "low", "high"), same_mpi_rows),
    "scoreboard-other-mpi": (("ours_under", "other", "ranks", "bytes", "other_over_ours", "low", "high"), other_mpi_rows),
    "scoreboard-codecs": (("codec", "mpi", "ranks", "bytes", "mpi_over_ours", "low", "high", "exact_over_ours"), codec_rows),
    "scoreboard-peers": (tuple(PEERS), lambda folder: chosen(sorted((folder / "peers").glob("*.csv")), PEERS)),
    "scoreboard-lab": (tuple(LAB), lambda folder: chosen([folder / "lab" / "lab.csv"], LAB)),
    "scoreboard-learning": (tuple(LEARNING), lambda folder: chosen([folder / "learning" / "learning.csv"], LEARNING)),
}


def write_all(folder, out):
    """All files, so that they are of one run: what it did not measure has a head and no rows."""
    out.mkdir(parents=True, exist_ok=True)
    for name, (head, rows_of) in FILES.items():
        with (out / f"{name}.csv").open("w", newline="", encoding="utf-8") as file:
            csv.writer(file, lineterminator="\n").writerows([head, *rows_of(folder)])
