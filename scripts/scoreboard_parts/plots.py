"""PNG plots of the stored results. Needs matplotlib."""
import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402  (needs the backend to be chosen first)
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter, NullLocator  # noqa: E402

from .arithmetic import FAMILIES, NAMES, across, by_size, figure, read_runs, same_mpi, size_text  # noqa: E402
from .verdict import RANKS  # noqa: E402

PANEL_INCHES = (5.6, 4.0)
DPI = 110
RATIO_TICKS = (0.25, 0.5, 0.75, 1, 1.5, 2, 3, 4, 6, 8, 12, 16)


def panels(count, title):
    figure_, axes = plt.subplots(1, count, figsize=(PANEL_INCHES[0] * count, PANEL_INCHES[1] + 0.4), squeeze=False, sharey=True,
                                 layout="constrained")
    figure_.suptitle(title)
    return figure_, axes[0]


def dress(axes, ranks):
    axes.set_title(f"{ranks} ranks", fontsize=10)
    axes.set_xscale("log", base=2)
    axes.xaxis.set_major_locator(LogLocator(base=16, numticks=12))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_major_formatter(FuncFormatter(lambda size, _: size_text(size)))
    axes.set_xlabel("vector of a rank")
    axes.grid(alpha=0.3)


def save(figure_, path):
    figure_.savefig(path, dpi=DPI)
    plt.close(figure_)
    return path


def draw_band(axes, points, color, label, style="o-"):
    sizes = [point.size for point in points]
    axes.plot(sizes, [point.ratio for point in points], style, ms=3.5, lw=1.5, color=color, label=label)
    axes.fill_between(sizes, [point.low for point in points], [point.high for point in points], color=color, alpha=0.18, lw=0)


def ratio_plot(runs, path):
    figure_, axes = panels(len(RANKS), "Exact allreduce on one host: the peer's time / ours, above 1 ours is faster")
    for panel, ranks in zip(axes, RANKS):
        for color, family in zip(("C0", "C1"), FAMILIES):
            draw_band(panel, same_mpi(runs, family, ranks), color, f"{NAMES[family]} / ours over it")
        for color, (ours, theirs) in zip(("C2", "C3"), (FAMILIES, FAMILIES[::-1])):
            draw_band(panel, across(runs, ours, theirs, ranks), color, f"{NAMES[theirs]} / ours over {NAMES[ours]}", ".--")
        panel.axhline(1.0, color="black", lw=1.2)
        panel.set_yscale("log")
        panel.set_yticks(RATIO_TICKS, [f"{tick:g}" for tick in RATIO_TICKS])
        panel.yaxis.set_minor_formatter(NullFormatter())
        dress(panel, ranks)
        panel.legend(fontsize=8)
    axes[0].set_ylabel("ratio; band: spread")
    return save(figure_, path)


def bandwidth_curve(runs, family, ranks, column):
    """nccl-tests' bus bandwidth in GB/s from times in us: the median round's."""
    found = {}
    for run in runs:
        if (run.family, run.ranks) == (family, ranks):
            for size, row in by_size(run, "exact").items():
                found.setdefault(size, []).append(size / figure(row, column) / 1e3 * 2 * (ranks - 1) / ranks)
    return [(size, sorted(values)[len(values) // 2]) for size, values in sorted(found.items())]


def busbw_plot(runs, path):
    figure_, axes = panels(len(RANKS), "Bus bandwidth of the exact allreduce on one host")
    for panel, ranks in zip(axes, RANKS):
        for color, family in zip(("C0", "C1"), FAMILIES):
            for column, style, label in (("avg_us", "o-", f"ours over {NAMES[family]}"), ("peer_avg_us", "--", NAMES[family])):
                curve = bandwidth_curve(runs, family, ranks, column)
                if curve:
                    panel.plot(*zip(*curve), style, ms=3.5, lw=1.5, color=color, label=label)
        panel.set_yscale("log")
        dress(panel, ranks)
        panel.legend(fontsize=8)
    axes[0].set_ylabel("GB/s")
    return save(figure_, path)


def wire_plot(runs, path):
    """Bytes that all ranks send a call, by byte of the vector, at the largest size."""
    figure_, axes = panels(len(RANKS), "Bytes sent by all ranks, by byte of the vector (0: through shared memory or passed on)")
    for panel, ranks in zip(axes, RANKS):
        bars = {}
        for run in runs:
            if run.ranks == ranks:
                largest = max(int(row["size_bytes"]) for row in run.rows)
                for row in run.rows:
                    if int(row["size_bytes"]) == largest:
                        bars[f"{row['codec']}\n{NAMES[run.family]}"] = figure(row, "wire_sum_bytes") / largest
        drawn = panel.bar(list(bars), list(bars.values()), width=0.6)
        panel.bar_label(drawn, fmt="%.2f", padding=2)
        panel.margins(y=0.15)
        panel.set_title(f"{ranks} ranks", fontsize=10)
        panel.tick_params(axis="x", labelsize=8)
        panel.set_axisbelow(True)
        panel.grid(axis="y", alpha=0.3)
    axes[0].set_ylabel("bytes sent / bytes of the vector")
    return save(figure_, path)


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
