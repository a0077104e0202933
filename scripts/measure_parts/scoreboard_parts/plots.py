"""PNG plots of the stored results. Needs matplotlib."""
from shared_parts import figures
from shared_parts.figures import plt
from matplotlib.ticker import NullFormatter

from .arithmetic import FAMILIES, NAMES, across, by_size, figure, read_runs, same_mpi
from .verdict import RANKS

PANEL_INCHES = (5.6, 4.0)
RATIO_TICKS = (0.25, 0.5, 0.75, 1, 1.5, 2, 3, 4, 6, 8, 12, 16)


def panels(count, title):
    figure_, axes = plt.subplots(1, count, figsize=(PANEL_INCHES[0] * count, PANEL_INCHES[1] + 0.4), squeeze=False, sharey=True)
    figure_.suptitle(title)
    return figure_, axes[0]


def dress(axes, ranks):
    axes.set_title(f"{ranks} ranks")
    figures.dress_sizes(axes)


def draw_band(axes, points, color, label, style="o-"):
    figures.median_and_spread(axes, [(point.size, point.ratio, point.low, point.high) for point in points], style, color=color, label=label)


def ratio_plot(runs, path):
    figure_, axes = panels(len(RANKS), "Exact allreduce on one host, the peer's time / ours: medians, band: extremes of rounds; above 1 ours is faster")
    for panel, ranks in zip(axes, RANKS):
        for color, family in zip(("C0", "C1"), FAMILIES):
            draw_band(panel, same_mpi(runs, family, ranks), color, f"{NAMES[family]} / ours over it")
        for color, (ours, theirs) in zip(("C2", "C3"), (FAMILIES, FAMILIES[::-1])):
            draw_band(panel, across(runs, ours, theirs, ranks), color, f"{NAMES[theirs]} / ours over {NAMES[ours]}", ".--")
        figures.even(panel)
        panel.set_yscale("log")
        panel.set_yticks(RATIO_TICKS, [f"{tick:g}" for tick in RATIO_TICKS])
        panel.yaxis.set_minor_formatter(NullFormatter())
        dress(panel, ranks)
        panel.legend()
    axes[0].set_ylabel("time of the peer / ours")
    return figures.save(figure_, path)


def bandwidth_curve(runs, family, ranks, column):
    """nccl-tests' bus bandwidth in GB/s from times in us, over the rounds: size, median, least, most."""
    found = {}
    for run in runs:
        if (run.family, run.ranks) == (family, ranks):
            for size, row in by_size(run, "exact").items():
                found.setdefault(size, []).append(size / figure(row, column) / 1e3 * 2 * (ranks - 1) / ranks)
    return [(size, sorted(values)[len(values) // 2], min(values), max(values)) for size, values in sorted(found.items())]


def busbw_plot(runs, path):
    figure_, axes = panels(len(RANKS), "Exact allreduce on one host, bus bandwidth: medians, band: extremes of rounds")
    for panel, ranks in zip(axes, RANKS):
        for color, family in zip(("C0", "C1"), FAMILIES):
            for column, style, label in (("avg_us", "o-", f"ours over {NAMES[family]}"), ("peer_avg_us", "--", NAMES[family])):
                figures.median_and_spread(panel, bandwidth_curve(runs, family, ranks, column), style, color=color, label=label)
        panel.set_yscale("log")
        dress(panel, ranks)
        panel.legend()
    axes[0].set_ylabel("GB/s")
    return figures.save(figure_, path)


def wire_plot(runs, path):
    """Bytes that all ranks send a call, by byte of the vector, at the largest size."""
    figure_, axes = panels(len(RANKS), "Allreduce on one host, bytes sent by all ranks / bytes of the vector (0: through shared memory or passed on)")
    for panel, ranks in zip(axes, RANKS):
        bars = {}
        for run in runs:
            if run.ranks == ranks:
                largest = max(int(row["size_bytes"]) for row in run.rows)
                for row in run.rows:
                    if int(row["size_bytes"]) == largest:
                        bars[f"{row['codec']}\n{NAMES[run.family]}"] = figure(row, "wire_sum_bytes") / largest
        figures.bars(panel, bars)
        panel.set_title(f"{ranks} ranks")
    axes[0].set_ylabel("bytes sent / bytes of the vector")
    return figures.save(figure_, path)


def draw_all(folder, out):
    """The paths of what was drawn; parts without results are left out."""
    out.mkdir(parents=True, exist_ok=True)
    drawn = []
    host, codecs = read_runs(folder / "host"), read_runs(folder / "codecs")
    if host:
        drawn += [ratio_plot(host, out / "scoreboard-ratio.png"), busbw_plot(host, out / "scoreboard-busbw.png")]
    if codecs:
        drawn.append(wire_plot(codecs, out / "scoreboard-wire.png"))
    return drawn
