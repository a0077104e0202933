"""Axes, sizes and spreads as all pictures of docs/figures have them."""
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402  (needs the backend to be chosen first)
from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator  # noqa: E402

plt.style.use(Path(__file__).with_name("gradcoll.mplstyle"))

SPREAD_ALPHA = 0.18


def size_text(size, _position=None):
    for unit, factor in (("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)):
        if size >= factor:
            return f"{size / factor:g} {unit}"
    return f"{size:g} B"


def dress_sizes(axes, base=16):
    """Bytes of a rank's vector, by powers."""
    axes.set_xscale("log", base=2)
    axes.xaxis.set_major_locator(LogLocator(base=base, numticks=12))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_major_formatter(FuncFormatter(size_text))
    axes.set_xlabel("vector of a rank")


def median_and_spread(axes, points, style="o-", **look):
    """`points`: (x, median, low, high). A line through the medians, and a band around it."""
    if not points:
        return
    xs, medians, lows, highs = zip(*sorted(points))
    line, = axes.plot(xs, medians, style, **look)
    axes.fill_between(xs, lows, highs, color=line.get_color(), alpha=SPREAD_ALPHA, lw=0)


def even(axes):
    """Where both are as fast."""
    axes.axhline(1.0, color="black", lw=1)


def bars(axes, by_name, colors=None):
    drawn = axes.bar(list(by_name), list(by_name.values()), color=colors, width=0.6)
    axes.bar_label(drawn, fmt="%.2f", padding=2, fontsize=8)
    axes.margins(y=0.15)
    axes.grid(axis="x", visible=False)


def save(figure, path):
    figure.savefig(path)
    plt.close(figure)
    return path
