# SPDX-License-Identifier: BSD-3-Clause
"""Figures of the overhead experiments, by matplotlib."""
import os

import matplotlib

from overhead_launch import CASES
from overhead_report import Launches, read, reduce_points

matplotlib.use("Agg")
matplotlib.rcParams.update({"svg.hashsalt": "lucid", "svg.fonttype": "none", "font.size": 9})
from matplotlib import pyplot  # noqa: E402  pylint: disable=wrong-import-position


def save(figure, results, name):
    figure.savefig(os.path.join(results, name), metadata={"Date": None})
    pyplot.close(figure)


def draw_self(results):
    """Per case: the median over the rounds of what recording adds, with quartiles."""
    launches = Launches(read(results, "self.csv"))
    cases = [case for case in CASES if launches.has(case.name) and not case.name.startswith("plain")]
    figure, axes = pyplot.subplots(figsize=(7, 0.45 * len(cases) + 1.2), layout="constrained")
    for place, case in enumerate(reversed(cases)):
        base = "plain-multiple" if case.thread == "multiple" else "plain"
        spread = launches.against(case.name, "on_cpu" if case.source else "off_cpu", base, "off_cpu")
        axes.barh(place, spread.middle, xerr=[[spread.middle - spread.low], [spread.high - spread.middle]], height=0.6,
                  color="#3b6ea5" if case.source else "#b0742b", error_kw={"lw": 1, "capsize": 3})
        axes.text(spread.high, place, "  %.1f" % spread.middle, va="center")
    axes.set_yticks(range(len(cases)), [case.what for case in reversed(cases)])
    axes.set_xlabel("ns more per message than without Lucid (median of %d launches, quartiles)" % spread.n)
    axes.spines[["top", "right"]].set_visible(False)
    axes.margins(x=0.12)
    save(figure, results, "overhead-self.svg")


def draw_reduce(results):
    """The axes of the paper's figure 4."""
    points = {setup: sizes for setup, sizes in reduce_points(results).items() if "row" not in setup}
    figure, all_axes = pyplot.subplots(1, len(points), figsize=(2.7 * len(points), 3), squeeze=False, layout="constrained")
    for axes, (setup, sizes) in zip(all_axes[0], points.items()):
        ints = sorted(sizes)
        welch = [sizes[n][0] for n in ints]
        axes.axhline(0, color="0.6", lw=0.8)
        axes.errorbar(ints, [w.difference for w in welch], yerr=[w.half for w in welch], fmt="o", ms=3, capsize=3, lw=1,
                      color="#3b6ea5")
        axes.set_xscale("log")
        axes.set_title(setup)
        axes.set_xlabel("integers")
        axes.spines[["top", "right"]].set_visible(False)
    all_axes[0][0].set_ylabel("time difference (µs)")
    save(figure, results, "overhead-reduce.svg")


def draw(results):
    if read(results, "self.csv"):
        draw_self(results)
    if read(results, "reduce.csv"):
        draw_reduce(results)
