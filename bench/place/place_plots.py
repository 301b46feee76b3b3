# SPDX-License-Identifier: BSD-3-Clause
"""The figures of bench/place, in the axes of the paper's."""
import os
import sys

import place_results as results


def draw(folder, data):
    """Writes the figures there is data for; their names."""
    try:
        import matplotlib
    except ImportError:
        print("place: no figures: matplotlib is not installed", file=sys.stderr)
        return []
    matplotlib.use("Agg")
    matplotlib.rcParams["svg.hashsalt"] = "lucid"
    from matplotlib import pyplot
    drawn = []
    for name, one in (("collectives", collectives), ("groups", groups), ("cg", conjugate_gradient)):
        if data[name]:
            figure = one(pyplot, data)
            figure.tight_layout()
            figure.savefig(os.path.join(folder, "place-%s.svg" % name), metadata={"Date": None})
            pyplot.close(figure)
            drawn.append("place-%s.svg" % name)
    return drawn


def collectives(pyplot, data):
    """Figure 5: time by size, at the slowest links."""
    rows = data["collectives"]
    nodes, rate = [key for key in results.group_by(rows, "nodes", "rate") if key[1] == "200mbit" or len(key) < 2][0]
    rows = [row for row in rows if (row["nodes"], row["rate"]) == (nodes, rate)]
    figure, axes = pyplot.subplots(2, 4, figsize=(13, 6), sharex=True, sharey=True)
    for line, op in enumerate(("reduce", "bcast")):
        for column, (tree, layout) in enumerate((tree, layout) for tree in ("binary", "binomial") for layout in ("slot", "node")):
            axis = axes[line][column]
            for algorithm, variant, label, style in ((tree, "before", "before", "o-"), (tree, "lucid", "reordered by Lucid", "s-"),
                                                     (tree, "distgraph", "MPI_Dist_graph_create", "x:"),
                                                     ("han", "before", "coll/han", "^--")):
                part = [r for r in rows if (r["op"], r["layout"], r["algorithm"], r["variant"]) == (op, layout, algorithm, variant)]
                sizes = results.group_by(part, "bytes")
                points = sorted((int(size[0]), results.median(group, "seconds")) for size, group in sizes.items())
                if points:
                    axis.plot(*zip(*points), style, label=label, markersize=4)
            axis.set_title("%s, %s, ranks by %s" % (op, tree, layout), fontsize=9)
            axis.set_xscale("log", base=2)
            axis.set_yscale("log")
            if line == 1:
                axis.set_xlabel("bytes")
        axes[line][0].set_ylabel("seconds")
    axes[0][0].legend(fontsize=7)
    figure.suptitle("%s nodes x 4, %s" % (nodes, rate), fontsize=10)
    return figure


def groups(pyplot, data):
    """Figure 6: gain by size and iterations; a cross where the decision was wrong, a dot where the gain is within the noise."""
    labs = results.cells(data["groups"])
    figure, axes = pyplot.subplots(1, len(labs), figsize=(3.6 * len(labs) + 1, 4), squeeze=False)
    for axis, ((nodes, rate), found) in zip(axes[0], labs.items()):
        sizes, iterations = (sorted({key[i] for key in found}) for i in (0, 1))
        grid = [[max(-200, found[s, n].percent) if (s, n) in found else float("nan") for s in sizes] for n in iterations]
        image = axis.imshow(grid, origin="lower", aspect="auto", cmap="RdYlGn", vmin=-100, vmax=100)
        for (s, n), cell in found.items():
            mark = ("" if cell.right else "x") + ("" if cell.sure else "·")
            text = ("%.0f" % cell.percent if cell.percent > -1000 else "<-999") + mark
            axis.text(sizes.index(s), iterations.index(n), text, ha="center", va="center", fontsize=6.5)
        axis.set_xticks(range(len(sizes)), ["%g" % s for s in sizes], fontsize=7)
        axis.set_yticks(range(len(iterations)), iterations, fontsize=7)
        axis.set_xlabel("MPI_INT per process")
        axis.set_title("%s x 4, %s" % (nodes, rate), fontsize=9)
    axes[0][0].set_ylabel("iterations")
    figure.colorbar(image, ax=axes[0][-1], label="gain, %")
    return figure


def conjugate_gradient(pyplot, data):
    """Figure 7: ratios by class and placement; bars reach from the lower to the upper quartile."""
    found = results.solved(data["cg"], data["decisions"])
    labs = list(dict.fromkeys(key[:2] for key in found))
    figure, axes = pyplot.subplots(2, len(labs), figsize=(3.4 * len(labs) + 1, 6), sharey="row", squeeze=False)
    for column, (nodes, rate) in enumerate(labs):
        for line, (what, title) in enumerate((("total", "total"), ("messages", "messages alone"))):
            axis = axes[line][column]
            for i, (where, name) in enumerate(results.PLACEMENTS.items()):
                part = [(key[4], one) for key, one in found.items() if key[:2] == (nodes, rate) and key[2:4] == where]
                kinds = [kind for kind, _ in part]
                values = [getattr(one, what) for _, one in part]
                places = [x + 0.27 * (i - 1) for x in range(len(kinds))]
                spread = [[max(0, v[0] - v[1]) for v in values], [max(0, v[2] - v[0]) for v in values]]
                axis.bar(places, [v[0] for v in values], 0.25, yerr=spread, label=name, error_kw={"linewidth": 0.7})
                axis.set_xticks(range(len(kinds)), kinds)
            axis.axhline(1, color="black", linewidth=0.6)
            axis.set_title("%s x 4, %s: %s" % (nodes, rate, title), fontsize=9)
    axes[0][0].set_ylabel("before / after")
    axes[1][0].set_ylabel("before / after")
    axes[0][0].legend(fontsize=7)
    return figure
